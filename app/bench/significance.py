# SPDX-License-Identifier: Apache-2.0
"""Whether a difference between two runs over the same questions is more than chance."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from haystack_integrations.document_stores.pincite.errors import ConfigurationError

_ROUNDS = 10_000
_BATCH = 500
_SEED = 20_240_229


class Significance(NamedTuple):
    """Two-sided p values of the paired differences: of their mean (randomisation) and of their ranks (Wilcoxon)."""

    randomisation: float
    wilcoxon: float


def significance(differences: Sequence[float]) -> Significance:
    """
    Test that paired differences have no direction.

    :param differences: after minus before, one for each question.
    :returns: p values; both 1 when nothing differs.
    :raises ConfigurationError: scipy is not installed.
    """
    changed = np.asarray([value for value in differences if value != 0.0], dtype=np.float64)
    if not changed.size:
        return Significance(1.0, 1.0)
    return Significance(randomisation_test(changed), _wilcoxon(changed))


def randomisation_test(changed: np.ndarray) -> float:
    """
    Paired randomisation test of the mean: how often random signs give as large a sum.

    Smucker, Allan and Carterette, "A comparison of statistical significance tests for information retrieval
    evaluation" (CIKM 2007), recommend it. The seed is fixed: the same runs give the same p value.

    :param changed: the differences that are not 0; the others cannot change the sum.
    """
    draw = np.random.default_rng(_SEED)
    # A sum that differs in the last digit only is as large.
    observed = abs(float(changed.sum())) - 1e-9
    as_large = 0
    for _ in range(_ROUNDS // _BATCH):
        signs = draw.integers(0, 2, size=(_BATCH, changed.size), dtype=np.int8) * 2 - 1
        as_large += int((np.abs(signs @ changed) >= observed).sum())
    return (as_large + 1) / (_ROUNDS + 1)


def _wilcoxon(changed: np.ndarray) -> float:
    try:
        from scipy.stats import wilcoxon  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            "comparing with a baseline needs scipy, which is not installed: pip install 'pincite-haystack[bench]'"
        ) from error
    with warnings.catch_warnings():
        # With few differences scipy says that the normal approximation is rough; so does the count beside it.
        warnings.simplefilter("ignore")
        return float(wilcoxon(changed).pvalue)
