# SPDX-License-Identifier: Apache-2.0
"""Reranking that may be off, missing, slow or broken without harm (F3)."""

import asyncio
import threading

import pytest
from haystack import Document, Pipeline, component
from haystack.components.rankers.meta_field import MetaFieldRanker
from haystack_integrations.components.pincite.optional_reranker import OptionalReranker
from haystack_integrations.components.pincite.ranking.circuit_breaker import CircuitBreaker
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from haystack_integrations.document_stores.pincite.spans import SpanDocument
from hypothesis import given
from hypothesis import strategies as st

SWITCHES = ("PINCITE_RERANK_ENABLED", "KB_RERANK_ENABLED", "PINCITE_RERANK_CANDIDATES", "KB_RERANK_CANDIDATES")
MODELS = ("PINCITE_RERANKER_MODEL", "KB_RERANKER_MODEL")


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in (*SWITCHES, *MODELS):
        monkeypatch.delenv(name, raising=False)


def pool(size=6):
    return [
        SpanDocument(id=f"s{n}", content=f"text {n}", score=1 / (n + 1), meta={"title": "T", "_legs": {"dense": n + 1}})
        for n in range(size)
    ]


def answers(documents, scores):
    """The documents with these scores, best first, as a ranker gives them back."""
    scored = [Document(id=d.id, content=d.content, score=s) for d, s in zip(documents, scores, strict=False)]
    return {"documents": sorted(scored, key=lambda document: -document.score)}


@component
class Reversing:
    """Scores the last document highest; ``keep`` cuts the tail as a ranker's own limit does."""

    def __init__(self, keep: int = 1000):
        self.keep = keep

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]):
        return {"documents": answers(documents, range(len(documents)))["documents"][: self.keep]}


@component
class Answering:
    """Answers whatever it is told to."""

    def __init__(self, answer):
        self.answer = answer
        self.calls = 0

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]):
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(documents) if callable(self.answer) else self.answer


@component
class Hanging:
    """Does not answer before it is let go."""

    def __init__(self):
        self.let_go = threading.Event()

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]):
        self.let_go.wait()
        return {"documents": documents}


def run_both(make, documents, **request):
    """The result of ``run``, after checking that ``run_async`` gives the same."""
    in_turn = make().run("q", documents, **request)
    at_once = asyncio.run(make().run_async("q", documents, **request))
    assert in_turn == at_once
    return in_turn


def ids(result):
    return [document.id for document in result["documents"]]


def assert_fused(result, documents, reason):
    assert result == {"documents": documents, "reranked": False, "rerank_reason": reason}
    assert all(kept is given for kept, given in zip(result["documents"], documents, strict=True))


def test_the_window_is_reranked_and_the_rest_follows():
    result = run_both(lambda: OptionalReranker(Reversing(), enabled=True, candidates=4), pool())
    assert ids(result) == ["s3", "s2", "s1", "s0", "s4", "s5"]
    assert (result["reranked"], result["rerank_reason"]) == (True, None)
    head, tail = result["documents"][0], result["documents"][4]
    assert (head.score, head.meta["_score_kind"], head.meta["_fused_score"]) == (3.0, "rerank", 1 / 4)
    assert tail == pool()[4]
    assert isinstance(head, SpanDocument)
    assert head.meta["_legs"] == {"dense": 4}


def test_what_the_ranker_cut_follows_the_reranked_in_fused_order():
    settings = {"enabled": True, "candidates": 5, "accept_fewer": True}
    result = run_both(lambda: OptionalReranker(Reversing(keep=2), **settings), pool())
    assert ids(result) == ["s4", "s3", "s0", "s1", "s2", "s5"]
    assert result["reranked"] is True
    assert [d.meta.get("_score_kind") for d in result["documents"]] == ["rerank"] * 2 + [None] * 4


def test_a_ranker_with_its_own_limit_is_asked_for_the_whole_window():
    ranker = MetaFieldRanker(meta_field="weight", top_k=2)
    documents = [SpanDocument(id=str(n), content="x", score=0.5, meta={"weight": n}) for n in range(5)]
    result = OptionalReranker(ranker, enabled=True).run("q", documents)
    assert result["reranked"] is True
    assert all("_fused_score" in document.meta for document in result["documents"])


def test_equal_scores_keep_the_fused_order():
    def shuffled(documents):
        scored = answers(documents, [2, 1, 1, 1, 2, 0])["documents"]
        return {"documents": [scored[n] for n in (1, 0, 4, 2, 3, 5)]}

    result = run_both(lambda: OptionalReranker(Answering(shuffled), enabled=True), pool())
    assert ids(result) == ["s0", "s4", "s1", "s2", "s3", "s5"]


@given(st.permutations(range(8)), st.integers(0, 8), st.integers(1, 10))
def test_no_candidate_is_lost_or_doubled(places, kept, window):
    def ranker(documents):
        order = [documents[n] for n in places if n < len(documents)][: max(kept, 1)]
        return answers(order or documents, range(20, 0, -1))

    documents = pool(8)
    reranker = OptionalReranker(Answering(ranker), enabled=True, candidates=window, accept_fewer=True)
    result = reranker.run("q", documents)
    assert sorted(ids(result)) == sorted(d.id for d in documents)
    assert result["reranked"]
    assert ids(result)[window:] == [d.id for d in documents[window:]]


@pytest.mark.parametrize(
    ("settings", "request_", "reason"),
    [
        ({"enabled": True, "ranker": Reversing()}, {"rerank": False}, "switched off for this request"),
        ({"enabled": False, "ranker": Reversing()}, {}, "reranking is off"),
        ({"ranker": Reversing()}, {}, "reranking is off"),
        ({"enabled": True}, {}, "no ranker is configured"),
    ],
)
def test_reranking_that_is_off_leaves_the_fused_order(settings, request_, reason):
    documents = pool()
    assert_fused(run_both(lambda: OptionalReranker(**settings), documents, **request_), documents, reason)


def test_nothing_to_rerank():
    assert_fused(run_both(lambda: OptionalReranker(Reversing(), enabled=True), []), [], "no candidates")


def unusable(fault):
    return f"ranker's answer is no ranking: {fault}"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RuntimeError("key sk-123 refused"), "ranker failed: RuntimeError"),
        (TimeoutError(), "ranker failed: TimeoutError"),
        (None, unusable("no documents")),
        ({"documents": []}, unusable("no documents")),
        ({"replies": ["a"]}, unusable("no documents")),
        (lambda docs: answers(docs[:5], range(5)), unusable("5 scores for 6 documents")),
        (
            lambda docs: answers([Document(id="stranger", content="x")], [1]),
            unusable("a document that it was not given"),
        ),
        (lambda docs: answers([docs[0], docs[0]], [2, 1]), unusable("a document twice")),
        (lambda docs: answers(docs, [float("nan")] * 6), unusable("a score that is no number")),
        (lambda docs: answers(docs, [float("inf")] * 6), unusable("a score that is no number")),
        (lambda docs: {"documents": [Document(id=docs[0].id, content="x")]}, unusable("a score that is no number")),
        ({"documents": ["s0"]}, "ranker failed: AttributeError"),
    ],
)
def test_a_ranker_that_fails_leaves_the_fused_order(answer, reason):
    documents = pool()
    assert_fused(run_both(lambda: OptionalReranker(Answering(answer), enabled=True), documents), documents, reason)


def test_a_ranker_that_is_too_slow_leaves_the_fused_order():
    ranker = Hanging()
    documents = pool()
    try:
        result = run_both(lambda: OptionalReranker(ranker, enabled=True, timeout=0.01), documents)
    finally:
        ranker.let_go.set()
    assert_fused(result, documents, "ranker took longer than 0.01 s")


@component
class AsyncRanker:
    """A ranker with ``run_async``: it answers, hangs, or hangs and does not heed its cancellation."""

    def __init__(self, behaviour):
        self.behaviour = behaviour

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]):
        raise AssertionError("the async path has to be taken")

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, documents: list[Document]):
        while self.behaviour != "answers":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if self.behaviour == "hangs":
                    raise
                self.behaviour = "answers"
        return answers(documents, range(len(documents)))


def test_run_async_uses_the_rankers_own():
    result = asyncio.run(OptionalReranker(AsyncRanker("answers"), enabled=True).run_async("q", pool(3)))
    assert ids(result) == ["s2", "s1", "s0"]


@pytest.mark.parametrize("behaviour", ["hangs", "does not heed"])
def test_an_async_ranker_that_is_too_slow(behaviour):
    documents = pool()
    reranker = OptionalReranker(AsyncRanker(behaviour), enabled=True, timeout=0.01)
    result = asyncio.run(reranker.run_async("q", documents))
    assert_fused(result, documents, "ranker took longer than 0.01 s")


def test_a_search_that_is_cancelled_is_no_failure_of_the_ranker():
    reranker = OptionalReranker(AsyncRanker("hangs"), enabled=True, failures_to_open=1, timeout=60.0)

    async def cancelled():
        task = asyncio.create_task(reranker.run_async("q", pool()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        reranker.ranker.behaviour = "answers"
        return await reranker.run_async("q", pool())

    assert asyncio.run(cancelled())["reranked"] is True


def test_a_ranker_that_keeps_failing_is_left_alone_and_tried_again():
    now = [0.0]
    ranker = Answering(RuntimeError())
    reranker = OptionalReranker(ranker, enabled=True, failures_to_open=2, reopen_after=30.0)
    reranker._breaker = CircuitBreaker(2, 30.0, lambda: now[0])
    reasons = [reranker.run("q", pool())["rerank_reason"] for _ in range(4)]
    paused = "ranker paused after 2 failures, the last: ranker failed: RuntimeError"
    assert reasons == ["ranker failed: RuntimeError"] * 2 + [paused] * 2
    assert ranker.calls == 2
    now[0] = 30.0
    ranker.answer = lambda documents: answers(documents, range(6))
    assert [reranker.run("q", pool())["reranked"] for _ in range(2)] == [True, True]


@component
class Loading:
    """A ranker that has to be loaded, and may not be loadable."""

    def __init__(self, fault=None):
        self.fault = fault
        self.loads = 0

    def warm_up(self):
        self.loads += 1
        if self.fault:
            raise self.fault

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]):
        return answers(documents, range(len(documents)))


def test_the_ranker_is_loaded_once_and_not_by_the_constructor():
    ranker = Loading()
    reranker = OptionalReranker(ranker, enabled=True)
    assert ranker.loads == 0
    reranker.warm_up()
    reranker.run("q", pool())
    asyncio.run(reranker.run_async("q", pool()))
    assert ranker.loads == 1


def test_a_ranker_that_is_off_is_never_loaded():
    ranker = Loading()
    OptionalReranker(ranker, enabled=False).run("q", pool())
    assert ranker.loads == 0


def test_a_ranker_that_cannot_be_loaded_leaves_the_fused_order():
    documents = pool()
    result = run_both(lambda: OptionalReranker(Loading(ImportError("no torch")), enabled=True), documents)
    assert_fused(result, documents, "ranker could not be loaded: ImportError")


@component
class AsyncLoading(Loading):
    """A ranker with an async way of loading."""

    async def warm_up_async(self):
        self.warm_up()

    async def close_async(self):
        self.loads = -2

    def close(self):
        self.loads = -1


def test_the_async_ways_of_loading_and_closing_are_used():
    ranker = AsyncLoading()
    reranker = OptionalReranker(ranker, enabled=True)
    asyncio.run(reranker.run_async("q", pool()))
    assert ranker.loads == 1
    reranker.close()
    assert ranker.loads == -1
    asyncio.run(reranker.close_async())
    assert ranker.loads == -2
    failing = OptionalReranker(AsyncLoading(OSError()), enabled=True)
    reason = asyncio.run(failing.run_async("q", pool()))["rerank_reason"]
    assert reason == "ranker could not be loaded: OSError"


def test_a_ranker_that_writes_into_its_input_does_not_reach_ours():
    def scribbling(documents):
        for number, document in enumerate(documents):
            document.meta["parent"]["start"] = number
            document.meta.clear()
        return answers(documents, range(len(documents)))

    documents = [SpanDocument(id="a", content="x", score=0.5, meta={"parent": {"start": 7}, "_legs": {}})]
    OptionalReranker(Answering(scribbling), enabled=True).run("q", documents)
    assert documents == [SpanDocument(id="a", content="x", score=0.5, meta={"parent": {"start": 7}, "_legs": {}})]


@pytest.mark.parametrize("name", SWITCHES[:2])
def test_the_environment_switches_it_on(monkeypatch, name):
    monkeypatch.setenv(name, "on")
    assert OptionalReranker(Reversing()).run("q", pool())["reranked"] is True
    assert OptionalReranker(Reversing(), enabled=False).run("q", pool())["reranked"] is False


def test_the_environment_sets_the_window(monkeypatch):
    monkeypatch.setenv("KB_RERANK_CANDIDATES", "2")
    assert ids(OptionalReranker(Reversing(), enabled=True).run("q", pool(3))) == ["s1", "s0", "s2"]
    assert ids(OptionalReranker(Reversing(), enabled=True, candidates=3).run("q", pool(3))) == ["s2", "s1", "s0"]


def test_settings_that_make_no_sense(monkeypatch):
    for name in ("candidates", "timeout", "failures_to_open"):
        with pytest.raises(ConfigurationError, match=f"{name} is 0, expected more than 0"):
            OptionalReranker(**{name: 0})
    monkeypatch.setenv("PINCITE_RERANK_ENABLED", "perhaps")
    with pytest.raises(ConfigurationError, match="PINCITE_RERANK_ENABLED is 'perhaps'"):
        OptionalReranker()


def test_the_defaults_in_their_units():
    reranker = OptionalReranker()
    assert (reranker.timeout, reranker.failures_to_open, reranker.reopen_after) == (5.0, 3, 30.0)
    assert reranker._window == 50


def test_a_pipeline_with_a_nested_ranker_survives_yaml():
    pipeline = Pipeline()
    pipeline.add_component(
        "reranker", OptionalReranker(MetaFieldRanker(meta_field="weight"), enabled=True, timeout=2.5)
    )
    loaded = Pipeline.loads(pipeline.dumps())
    assert loaded == pipeline
    reranker = loaded.get_component("reranker")
    assert isinstance(reranker.ranker, MetaFieldRanker)
    assert (reranker.ranker.meta_field, reranker.enabled, reranker.timeout) == ("weight", True, 2.5)
    assert reranker.candidates is None


def test_a_ranker_without_a_to_dict_of_its_own_is_serialised():
    data = OptionalReranker(Reversing(keep=3)).to_dict()
    assert data["init_parameters"]["ranker"]["init_parameters"] == {"keep": 3}
