# SPDX-License-Identifier: Apache-2.0
"""Any Haystack text embedder, with the identity of its vectors (S3)."""

from typing import Any

from haystack import component, default_from_dict, default_to_dict
from haystack.core.component import Component
from haystack_integrations.components.pincite.embedding.embedder_identity import (
    checked_fingerprint,
    restored,
    serialised,
)
from haystack_integrations.components.pincite.embedding.time_limit import OverdueError, within
from haystack_integrations.components.pincite.intents import Degradation
from haystack_integrations.components.pincite.ranking.circuit_breaker import CircuitBreaker
from haystack_integrations.document_stores.pincite.errors import PinciteError
from haystack_integrations.document_stores.pincite.spans import shared

_FAILURES_TO_OPEN = 3
_REOPEN_AFTER_SECONDS = 30.0


@component
class FingerprintedTextEmbedder:
    """
    Embeds a query with any text embedder and says which stored vectors the result may be compared with.

    An embedder that fails or is late, as a service outside may, costs a search what is found by meaning and nothing
    else: there is no vector, a note says why, and the other legs go on. One that keeps failing is not asked for a
    while.

    :param embedder: a Haystack text embedder: ``run(text)`` gives ``embedding``.
    :param fingerprint: the same text as that of the document embedder whose vectors are searched: model, revision,
        dimension, template, normalisation.
    :param timeout: seconds after which the search goes on without a vector.
    """

    def __init__(self, embedder: Component, fingerprint: str, timeout: float = 5.0) -> None:
        """:raises ConfigurationError: the fingerprint lacks the embedder's model or dimension."""
        self.embedder = embedder
        self.fingerprint = checked_fingerprint(fingerprint, embedder, "FingerprintedTextEmbedder")
        self.timeout = timeout
        self._breaker = CircuitBreaker(_FAILURES_TO_OPEN, _REOPEN_AFTER_SECONDS)

    def to_dict(self) -> dict[str, Any]:
        """Constructor arguments for YAML."""
        return default_to_dict(
            self, embedder=serialised(self.embedder), fingerprint=self.fingerprint, timeout=self.timeout
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "FingerprintedTextEmbedder":
        """Rebuild from :meth:`to_dict`."""
        parameters = data["init_parameters"]
        return default_from_dict(
            cls, {**data, "init_parameters": {**parameters, "embedder": restored(parameters.get("embedder"))}}
        )

    def warm_up(self) -> None:
        """Warm the embedder up."""
        if hasattr(self.embedder, "warm_up"):
            self.embedder.warm_up()

    @component.output_types(embedding=list[float], fingerprint=str, degraded=list[Degradation])
    def run(self, text: str) -> dict[str, Any]:
        """
        :param text: any text.
        :returns: ``embedding``: its vector, empty if there is none; ``fingerprint``: which stored vectors it may be
            compared with; ``degraded``: why there is none.
        """
        vector, reason = self._embedded(text)
        degraded: list[Degradation] = [{"stage": "text_embedder", "reason": reason}] if reason else []
        return {"embedding": shared(vector), "fingerprint": self.fingerprint, "degraded": degraded}

    def _embedded(self, text: str) -> tuple[list[float], str | None]:
        if not self._breaker.admit():
            return [], f"it failed {_FAILURES_TO_OPEN} times in a row and is asked again later"
        try:
            vector = within(self.timeout, lambda: self.embedder.run(text=text)["embedding"])
        except PinciteError:  # a user can mend it, and should
            self._breaker.release()
            raise
        except OverdueError:
            self._breaker.record(False)
            return [], f"took longer than {self.timeout:g} s"
        except Exception as error:
            self._breaker.record(False)
            return [], f"{type(error).__name__}: {' '.join(str(error).split()):.300}"
        self._breaker.record(bool(vector))
        return (list(vector), None) if vector else ([], "it gave no vector")
