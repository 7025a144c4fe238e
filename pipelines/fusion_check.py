# SPDX-License-Identifier: Apache-2.0
"""Checks that the stages which give scores agree on the formula: one ``k``, and weights that the joiner knows (F1)."""

from typing import TypeVar

from haystack import Pipeline
from haystack_integrations.components.pincite.best_extent_recovery import BestExtentRecovery
from haystack_integrations.components.pincite.reciprocal_rank_joiner import ReciprocalRankJoiner
from pincite.pipelines.strict_yaml import YamlText

RECOVERY_LEG = "recovery"
Stage = TypeVar("Stage")


def check_fusion(source: YamlText, pipeline: Pipeline) -> None:
    """
    Compare the recovery with the joiner, which divides by the largest sum that the configured weights allow.

    :raises ConfigurationError: the recovery adds more, or by another ``k``, than the joiner reckons with, so that a
        fused score could exceed 1.
    """
    for joiner in _of_type(pipeline, ReciprocalRankJoiner).values():
        for name, recovery in _of_type(pipeline, BestExtentRecovery).items():
            reckoned = joiner.later_weights.get(RECOVERY_LEG, 0.0)
            for key, value, wanted in (("weight", recovery.weight, reckoned), ("k", recovery.k, joiner.k)):
                if value != wanted:
                    raise source.error(
                        ("components", name, "init_parameters", key),
                        f"component '{name}': {key} is {value}; the joiner reckons with {wanted} for it",
                    )


def _of_type(pipeline: Pipeline, kind: type[Stage]) -> dict[str, Stage]:
    return {name: stage for name, stage in pipeline.graph.nodes(data="instance") if isinstance(stage, kind)}
