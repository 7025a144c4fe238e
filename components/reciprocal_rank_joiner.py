# SPDX-License-Identifier: Apache-2.0
"""Fusion of the legs by reciprocal rank (F1)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from haystack import Document, component
from haystack_integrations.components.pincite.stages.inline_async import inline_async
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.spans import restated, shared

DEFAULT_WEIGHTS = {"dense": 1.0, "lexical": 1.0, "title": 1.0}


def reciprocal_rank_score(ranks: dict[str, int], weights: dict[str, float], k: int, bonus: Sequence[float]) -> float:
    """
    ``sum over legs of weight / (k + rank)``, plus the top-rank bonus (contract, "Fusion").

    The formula is that of Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual
    rank learning methods" (SIGIR 2009), with a weight for each leg.

    :param ranks: rank per leg, from 1.
    :param weights: weight per leg.
    :param k: the constant that flattens the top ranks.
    :param bonus: what rank 1 in any leg earns, and what ranks 2 and 3 earn; a document earns one of them once.
    :returns: the sum; the same whatever the order of the legs.
    """
    best = min(ranks.values())
    extra = bonus[0] if best == 1 else bonus[1] if best <= 3 else 0.0
    # fsum rounds once: legs in another order cannot give another last digit, hence another order of documents.
    return math.fsum([*(weights[leg] / (k + rank) for leg, rank in ranks.items()), extra])


@dataclass(slots=True)
class _Candidate:
    document: Document
    ranks: dict[str, int]
    private: dict[str, Any] = field(default_factory=dict)


@component
@inline_async
class ReciprocalRankJoiner:
    """
    Fuses the ranked lists of the legs into one; each leg has an input socket of its own name.

    The sockets are the keys of ``weights``. A leg that is not connected, or empty, takes nothing from the others. Raw
    scores of the legs are never looked at. Ties: higher score, then better best rank, then id.
    """

    def __init__(
        self,
        weights: dict[str, float] | None = None,
        k: int = 60,
        top_k: int = 60,
        bonus: bool | list[float] | None = None,
        later_weights: dict[str, float] | None = None,
    ) -> None:
        """
        :param weights: weight of each leg; 0 switches a leg off. Default: ``dense``, ``lexical`` and ``title``, 1 each.
        :param k: the constant of the formula.
        :param top_k: the cutoff: so many documents go on.
        :param bonus: top-rank bonus ``[for rank 1, for ranks 2 and 3]``; ``True`` is the contract's
            ``[0.5 / (k + 1), 0.2 / (k + 1)]``, ``None`` or ``False`` is no bonus.
        :param later_weights: weights of ranks that a later stage adds (``recovery``): they count in the largest sum
            possible, so that scores stay within 0..1 and comparable across queries.
        :raises ConfigurationError: a weight, constant, cutoff or bonus that the formula cannot use.
        """
        self.weights = dict(DEFAULT_WEIGHTS if weights is None else weights)
        self.k = k
        self.top_k = top_k
        self.bonus = bonus
        self.later_weights = dict(later_weights or {})
        _check_weights(self.weights, self.later_weights)
        for name, value in (("k", k), ("top_k", top_k)):
            if value < 1:
                raise ConfigurationError(f"ReciprocalRankJoiner: {name} is {value}, expected 1 or more")
        self._bonus = bonus_values(bonus, k)
        self._active = {leg: weight for leg, weight in self.weights.items() if weight > 0}
        everything = {**self._active, **self.later_weights}
        self._largest = reciprocal_rank_score(dict.fromkeys(everything, 1), everything, k, self._bonus)
        for leg in self.weights:
            component.set_input_type(self, leg, list[Document], [])

    @component.output_types(documents=list[Document], overflow=list[Document], scale=float)
    def run(self, **legs: list[Document]) -> dict[str, Any]:
        """
        Fuse the legs.

        :param legs: per leg its documents, best first. A repeated id counts at its first place only.
        :returns: ``documents``, at most ``top_k``, best first; ``overflow``, the rest in the same order. The score is
            the sum divided by the largest possible, so 0..1; ``meta`` gains ``_legs`` (rank per leg) and
            ``_score_kind``. ``scale`` is what later stages multiply a further contribution by.
        """
        fused = [self._fuse(candidate) for candidate in self._collect(legs).values()]
        fused.sort(key=lambda pair: (-(pair[1].score or 0.0), pair[0], pair[1].id))
        documents = [document for _, document in fused]
        return {
            "documents": shared(documents[: self.top_k]),
            "overflow": shared(documents[self.top_k :]),
            "scale": 1 / self._largest,
        }

    def _collect(self, legs: dict[str, list[Document]]) -> dict[str, _Candidate]:
        candidates: dict[str, _Candidate] = {}
        # In the order of `weights`, never of arrival: where legs return the same span, the first one's object is kept.
        for leg in self._active:
            for rank, document in enumerate(legs.get(leg, []), start=1):
                candidate = candidates.get(document.id)
                if candidate is None:
                    candidates[document.id] = _Candidate(document, {leg: rank})
                elif leg not in candidate.ranks:
                    candidate.ranks[leg] = rank
                    for key, value in document.meta.items():
                        if key.startswith("_") and key not in candidate.document.meta:
                            candidate.private.setdefault(key, value)
        return candidates

    def _fuse(self, candidate: _Candidate) -> tuple[int, Document]:
        score = reciprocal_rank_score(candidate.ranks, self._active, self.k, self._bonus) / self._largest
        # Ranks of an earlier fusion (text, before text and image, F2) stay to be explained.
        meta = {**candidate.document.meta, **candidate.private, "_score_kind": "fused"}
        meta["_legs"] = {**meta.get("_legs", {}), **candidate.ranks}
        return min(candidate.ranks.values()), restated(candidate.document, meta, score)


def _check_weights(weights: dict[str, float], later_weights: dict[str, float]) -> None:
    for leg, weight in [*weights.items(), *later_weights.items()]:
        if not (math.isfinite(weight) and weight >= 0):
            raise ConfigurationError(f"ReciprocalRankJoiner: weight of leg '{leg}' is {weight}, expected 0 or more")
    if not any(weights.values()):
        raise ConfigurationError(f"ReciprocalRankJoiner: weights are {weights}, expected one leg above 0 at least")
    if both := sorted(weights.keys() & later_weights.keys()):
        raise ConfigurationError(f"ReciprocalRankJoiner: '{both[0]}' is in weights and in later_weights, expected one")


def bonus_values(bonus: bool | list[float] | None, k: int) -> tuple[float, float]:
    """What rank 1 in any leg earns, and what ranks 2 and 3 earn, from the parameter ``bonus`` of the joiner."""
    if bonus is None or bonus is False:
        return (0.0, 0.0)
    if bonus is True:
        return (0.5 / (k + 1), 0.2 / (k + 1))
    if len(bonus) != 2 or not math.inf > bonus[0] >= bonus[1] >= 0:
        raise ConfigurationError(
            f"ReciprocalRankJoiner: bonus is {bonus}, expected [first, second], first >= second >= 0"
        )
    return (bonus[0], bonus[1])
