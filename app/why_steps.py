# SPDX-License-Identifier: Apache-2.0
"""The way of one document through a run, stage by stage, in words."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from haystack_integrations.document_stores.pincite import why_statements
from pincite.pipeline_trace import JOINER
from pincite.why_answer import Step
from pincite.why_remedies import Standing, title_standings
from pincite.why_run import CAP, Run, Target, best

_TRIGRAM_THRESHOLD = 0.3  # PostgreSQL's own pg_trgm.similarity_threshold, which the title leg leaves as it is
_WORDS_SHOWN = 8


def steps(run: Run, target: Target, facts: Mapping[str, Any]) -> Iterator[Step]:
    """
    What each stage did with the target.

    :param facts: its source, as ``presence`` gives it.
    """
    yield _recognised(run)
    yield _title(run, target, facts)
    yield _dense(run, target)
    yield _lexical(run, target)
    yield from _line(run, target)


def _step(
    stage: str, outcome: Literal["in", "out", "none"], text: str, rank: int | None = None, of: int | None = None
) -> Step:
    return {"stage": stage, "outcome": outcome, "rank": rank, "of": of, "text": text}


def _recognised(run: Run) -> Step:
    intents = run.outputs["recognizer"]["intents"]
    if not run.outputs["request"]["names"]:
        return _step("recognizer", "none", "names are switched off for this search")
    if not intents:
        return _step("recognizer", "none", "the query names no instrument")
    names = ", ".join(f"“{intent['title_query']}”" for intent in intents)
    return _step("recognizer", "none", f"the query names {names}")


# -- title -------------------------------------------------------------------------------------------------------


def _title(run: Run, target: Target, facts: Mapping[str, Any]) -> Step:
    documents = run.outputs["title"]["documents"]
    sources = [document.meta.get("source_id") for document in documents]
    rank = sources.index(target.source_id) + 1 if target.source_id in sources else None
    if reason := run.degraded("title"):
        return _step("title", "out", f"the leg failed: {reason}")
    if run.matched(target):
        span = "" if best(documents, target) is not None else ", with another passage of it"
        return _step("title", "in", f"its source is taken for the one named{span}", rank, len(documents))
    if not run.outputs["recognizer"]["intents"]:
        return _by_likeness(run, target, rank, float(facts["likeness"]))
    if rank is not None:
        return _step("title", "in", "its title resembles the query; nothing is named", rank, len(documents))
    text = "; ".join(_standing(run, target, standing) for standing in title_standings(run, target))
    return _step("title", "out", text)


def _by_likeness(run: Run, target: Target, rank: int | None, likeness: float) -> Step:
    documents = run.outputs["title"]["documents"]
    if rank is not None:
        return _step("title", "in", f"its title resembles the query ({likeness:.2f})", rank, len(documents))
    if likeness < _TRIGRAM_THRESHOLD:
        text = f"its title is no match for the whole query: likeness {likeness:.2f}, threshold {_TRIGRAM_THRESHOLD}"
        return _step("title", "out", text)
    top_k = run.component("title").top_k
    return _step("title", "out", f"its title resembles the query ({likeness:.2f}), but {top_k} others do more")


def _standing(run: Run, target: Target, standing: Standing) -> str:
    leg = run.component("title")
    intent = run.outputs["recognizer"]["intents"][standing.intent]
    params = leg.name_statement(intent, "", None).params
    words = run.store.fetch(
        why_statements.name_words(target.source_id, params["words"], params["naming"]),
        groups=run.groups,
    )
    lacking = [word["word"] for word in words if word["naming"] and not word["in_opening"]]
    name = f"“{intent['title_query']}”"
    lacks = f", lacks {', '.join(repr(word) for word in lacking)}" if lacking else ""
    if standing.score is None:
        return f"it has no identifying word of {name}{lacks}"
    if not standing.typed:
        return f"neither its title nor its opening speaks of such an instrument ({intent['type']}){lacks}"
    coverage = standing.coverage or 0.0
    if coverage < leg.min_coverage:
        return f"it holds {coverage:.2f} of {name}, and {leg.min_coverage:g} is needed{lacks}"
    if standing.rank is None or standing.rank > leg.top_k:
        place = "beyond the forty compared" if standing.rank is None else f"at rank {standing.rank}"
        return f"it carries {name}, but is {place}, and the leg takes {leg.top_k}{lacks}"
    share = standing.score / standing.best if standing.best else 0.0
    return f"it carries {name} at {share:.2f} of the best score, and {1 - leg.margin:g} is needed{lacks}"


# -- the legs over passages --------------------------------------------------------------------------------------


def _dense(run: Run, target: Target) -> Step:
    documents = run.outputs["dense"]["documents"]
    if reason := run.degraded("dense"):
        return _step("dense", "out", f"the leg failed: {reason}")
    if (rank := best(documents, target)) is not None:
        return _step("dense", "in", "near in meaning", rank, len(documents))
    row = run.dense_rank(target)
    if row is None:
        return _step("dense", "out", "no vector of it compares: filtered out, stale, or embedded by another model")
    leg = run.component("dense")
    if row["rank"] <= leg.top_k:
        text = f"truly at rank {row['rank']}, but the approximate index missed it (ef_search {leg.ef_search})"
        return _step("dense", "out", text, row["rank"], None)
    text = f"its best passage is at rank {row['rank']} (similarity {row['score']:.3f}); the leg takes {leg.top_k}"
    return _step("dense", "out", text, row["rank"], None)


def _lexical(run: Run, target: Target) -> Step:
    documents = run.outputs["lexical"]["documents"]
    leg = run.component("lexical")
    if reason := run.degraded("lexical"):
        return _step("lexical", "out", f"the leg failed: {reason}")
    if (rank := best(documents, target)) is not None:
        return _step("lexical", "in", "holds words of the query", rank, len(documents))
    if not run.lexical_active():
        return _step("lexical", "out", "the leg is switched off (PINCITE_LEXICAL_ENABLED)")
    rank, of = run.lexical_rank(target)
    if rank is not None:
        text = f"its best passage is at rank {rank} of the {of} looked at; the leg takes {leg.top_k}"
        return _step("lexical", "out", text, rank, of)
    return _step("lexical", "out", _wordless(run, target, leg))


def _wordless(run: Run, target: Target, leg: Any) -> str:
    """Why the leg does not even look at it."""
    words = run.words(target)
    held = next((word for word in words if word["held"]), None)
    if held is None:
        lacking = ", ".join(repr(word["lexeme"]) for word in words[:_WORDS_SHOWN])
        return f"no word in common: it has none of {lacking}" if lacking else "the query has no words to look up"
    if held["place"] > leg.max_words:
        return f"its rarest word of the query is number {held['place']}; the leg takes {leg.max_words} words"
    if held["cumulated"] > leg.rows:
        return (
            f"the rarest word of the query that it has, {held['lexeme']!r}, is reached after {held['cumulated']} rows;"
            f" the leg looks at {leg.rows}"
        )
    return "the filters leave it out"


# -- the fused list ----------------------------------------------------------------------------------------------


def _line(run: Run, target: Target) -> Iterator[Step]:
    before: int | None = None
    for stage, documents in run.trace.line.items():
        rank = best(documents, target)
        special = _SPECIAL.get(stage)
        step = special(run, target, before, rank) if special else None
        if step is None:
            step = _passed(stage, before, rank, len(documents))
        yield step
        if rank is None and stage not in (JOINER, "reservation"):
            return  # nothing after these brings a passage in
        before = rank


def _passed(stage: str, before: int | None, rank: int | None, of: int) -> Step:
    if rank is None:
        return _step(stage, "none", "it does not come this far")
    moved = "stays" if rank == before else "comes in" if before is None else f"moves from {before}"
    return _step(stage, "in", moved, rank, of)


def _joiner(run: Run, target: Target, before: int | None, rank: int | None) -> Step | None:
    fused = run.fused()
    place = best(fused, target)
    if rank is not None:
        return _step(JOINER, "in", "fused", rank, len(fused))
    if place is None:
        return _step(JOINER, "out", "no leg has it", None, len(fused))
    cutoff = run.component(JOINER).top_k
    return _step(JOINER, "out", f"cut off: at rank {place} of {len(fused)} fused, cutoff {cutoff}", place, len(fused))


def _reservation(run: Run, target: Target, before: int | None, rank: int | None) -> Step | None:
    if rank is not None:
        text = "a reserved place" if before is None else "stays"
        return _step("reservation", "in", text, rank, len(run.trace.line["reservation"]))
    text = "no reserved place for this passage of the named source" if run.matched(target) else "not the named source"
    return _step("reservation", "none", text)


def _recovery(run: Run, target: Target, before: int | None, rank: int | None) -> Step | None:
    if not run.matched(target):
        return _passed("recovery", before, rank, len(run.trace.line["recovery"]))
    inside = run.inner_rank(target)
    if inside is None:
        return _step("recovery", "none", "nothing in it speaks for the topic")
    taken = run.component("recovery").spans_per_source
    text = f"rank {inside} inside its document, of which the best {taken} are taken"
    return _step("recovery", "in" if rank is not None else "out", text, rank, len(run.trace.line["recovery"]))


def _reranker(run: Run, target: Target, before: int | None, rank: int | None) -> Step | None:
    reason = run.outputs["reranker"]["rerank_reason"]
    if rank is None or not reason:
        return None
    return _step("reranker", "in", f"not reranked: {reason}", rank, len(run.trace.line["reranker"]))


def _cap(run: Run, target: Target, before: int | None, rank: int | None) -> Step | None:
    if rank is not None or before is None:
        return None
    dropped = {span["id"] for span in run.outputs[CAP]["dropped"]}
    kept = [document for document in run.candidates() if document.id not in dropped]
    top_k = run.outputs["request"]["top_k"]
    if (place := best(kept, target)) is not None:
        return _step(CAP, "out", f"at rank {place} after the cap; {top_k} results were wanted", place, len(kept))
    return _step(CAP, "out", "over the cap: its document has its share already")


_SPECIAL: dict[str, Callable[[Run, Target, int | None, int | None], Step | None]] = {
    JOINER: _joiner,
    "reservation": _reservation,
    "recovery": _recovery,
    "reranker": _reranker,
    CAP: _cap,
}
