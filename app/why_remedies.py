# SPDX-License-Identifier: Apache-2.0
"""What stops a document, and which changes bring it in: each remedy is tried before it is told."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from haystack_integrations.components.pincite.search_request import MAX_TOP_K
from haystack_integrations.components.pincite.stages.ordering import source_of
from pincite.why_answer import Change, Remedy
from pincite.why_run import CAP, Run, Target, best, place_in_source

_MOST_STEPS = 8
_MOST_REMEDIES = 4
_LARGEST_EF_SEARCH = 1000  # pgvector's own limit for hnsw.ef_search, and so for a dense leg


class Obstacle(NamedTuple):
    """Where a document is stopped, why, and what would let it pass there (``None``: nothing in the pipeline)."""

    stage: str
    reason: str
    parameter: str | None = None
    value: Any = None

    @property
    def passes_with(self) -> Change | None:
        """The change as one writes it."""
        return None if self.parameter is None else _parameter(self.parameter, self.value)


def obstacle(run: Run, target: Target) -> Obstacle | None:
    """The stage that stops the target in a run; ``None`` if it is among the results."""
    if run.rank(target) is not None:
        return None
    if (place := best(run.candidates(), target)) is not None:
        return _at_the_end(run, target, place)
    if run.matched(target) and (inside := _in_recovery(run, target)):
        return inside
    if (place := best(run.fused(), target)) is not None:
        cutoff = run.component("joiner").top_k
        return Obstacle("joiner", f"cut off at {cutoff} while at rank {place} of the fused list", "joiner.top_k", place)
    return _in_no_leg(run, target)


def _at_the_end(run: Run, target: Target, place: int) -> Obstacle:
    """It is a candidate: the cap or the page stops it."""
    candidates = run.candidates()
    dropped = {span["id"] for span in run.outputs[CAP]["dropped"]}
    kept = [document for document in candidates if document.id not in dropped]
    if (rank := best(kept, target)) is not None:
        top_k = run.outputs["request"]["top_k"]
        reason = f"at rank {rank}, below the {top_k} results wanted"
        sources = {source_of(document) for document in kept[:rank]}
        if rank > MAX_TOP_K >= len(sources) and place_in_source(kept, rank) == 1:
            return Obstacle(CAP, reason, "--max-per-source", 1)  # fewer of each document: more documents on the page
        return Obstacle(CAP, reason, "--top-k" if rank <= MAX_TOP_K else None, rank)
    nth = place_in_source(candidates, place)
    cap: Any = run.component(CAP)
    allowed = run.outputs["request"]["max_per_source"] or cap.max_per_source
    parameter = "--max-per-source"
    if run.matched(target):
        allowed, parameter = max(allowed, cap.max_per_named_source), f"{CAP}.max_per_named_source"
    reason = f"over the cap: the {_ordinal(nth)} passage of its document, of which {allowed} may pass"
    return Obstacle(CAP, reason, parameter, nth)


def _in_recovery(run: Run, target: Target) -> Obstacle | None:
    recovery: Any = run.component("recovery")
    sources = list(dict.fromkeys(match["source_id"] for match in run.outputs["title"]["matches"]))
    number = sources.index(target.source_id) + 1
    if number > recovery.max_sources:
        reason = f"its document is the {_ordinal(number)} named one; {recovery.max_sources} are searched inside"
        return Obstacle("recovery", reason, "recovery.max_sources", number)
    rank = run.inner_rank(target)
    if rank is None or rank <= recovery.spans_per_source:
        return None
    reason = f"at rank {rank} inside its document, of which the best {recovery.spans_per_source} are taken"
    return Obstacle("recovery", reason, "recovery.spans_per_source", rank)


def _in_no_leg(run: Run, target: Target) -> Obstacle:
    """No leg has it: the one whose end is nearest is the one to name."""
    found = [way for way in (_dense(run, target), _lexical(run, target)) if way is not None]
    if not found:
        return Obstacle("dense", "no leg can find it: no vector compares and no word of the query stands in it")
    return min(found, key=lambda way: (way[1].parameter is None, way[0]))[1]


def _dense(run: Run, target: Target) -> tuple[int, Obstacle] | None:
    leg: Any = run.component("dense")
    row = run.dense_rank(target)
    if run.component("joiner").weights.get("dense", 0) <= 0 or row is None:
        return None
    rank = int(row["rank"])
    if rank > leg.top_k:
        reason = f"its best passage is at rank {rank} by meaning, and the leg takes {leg.top_k}"
        return rank, Obstacle("dense", reason, "dense.top_k" if rank <= _LARGEST_EF_SEARCH else None, rank)
    # It belongs among the first, but the index, which is approximate, did not give it.
    wider = min(_LARGEST_EF_SEARCH, 2 * max(leg.ef_search, leg.top_k))
    reason = f"truly at rank {rank} by meaning, but the approximate index misses it with ef_search {leg.ef_search}"
    return rank, Obstacle("dense", reason, "dense.ef_search" if wider > leg.ef_search else None, wider)


def _lexical(run: Run, target: Target) -> tuple[int, Obstacle] | None:
    leg: Any = run.component("lexical")
    if run.component("joiner").weights.get("lexical", 0) <= 0 or not run.lexical_active() or run.degraded("lexical"):
        return None
    rank, _ = run.lexical_rank(target)
    if rank is not None and rank > leg.top_k:
        reason = f"its best passage is at rank {rank} by words, and the leg takes {leg.top_k}"
        return rank, Obstacle("lexical", reason, "lexical.top_k", rank)
    held = next((word for word in run.words(target) if word["held"] and word["place"] <= leg.max_words), None)
    if held is None or held["cumulated"] <= leg.rows:
        return None
    reason = (
        f"the rarest word of the query that it has, '{held['lexeme']}', is reached after {held['cumulated']} rows, "
        f"and the leg looks at {leg.rows}"
    )
    return int(held["cumulated"]), Obstacle("lexical", reason, "lexical.rows", int(held["cumulated"]))


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


# -- remedies ----------------------------------------------------------------------------------------------------


def remedies(run: Run, target: Target) -> tuple[list[Remedy], str | None]:
    """
    Changes that bring the target in, each tried: as asked with other parameters, and as asked otherwise.

    :param run: the run that left it out.
    :returns: the remedies; and why parameters alone do not help, where they do not.
    """
    found: list[Remedy] = []
    dead_end: str | None = None
    for start, changes in _beginnings(run, target):
        remedy = _chain(start, target, changes)
        if isinstance(remedy, Obstacle):
            dead_end = dead_end or (None if changes else _dead_end(remedy))
        elif all(remedy["changes"] != other["changes"] for other in found):
            found.append(remedy)
        if len(found) == _MOST_REMEDIES:
            break
    return found, dead_end


def _dead_end(last: Obstacle) -> str:
    if last.stage == CAP and last.parameter is None:
        return f"other parameters alone bring it to rank {last.value}: one search gives {MAX_TOP_K} results at most"
    return f"no parameter alone brings it in: {last.reason}"


def _beginnings(run: Run, target: Target) -> Iterator[tuple[Run, list[Change]]]:
    """The question as it was asked, and other ways to ask it."""
    yield run, []
    request = run.request
    if not request.get("names", True):
        yield run.changed(request={"names": True}), [_change("names", True, "leave out --no-names")]
    elif not run.matched(target):
        if run.outputs["title"]["matches"]:
            yield run.changed(request={"names": False}), [_change("--no-names", True, "--no-names")]
        yield from _title_parameters(run, target)
    if request.get("matter"):
        yield run.changed(request={"matter": None}), [_change("matter", None, "leave out --matter")]
    if not run.matched(target):
        yield from _named(run, target)


def _named(run: Run, target: Target) -> Iterator[tuple[Run, list[Change]]]:
    """The question with the document's name in it, in the first form that the title leg understands."""
    query = str(run.outputs["request"]["query"])
    first: Run | None = None
    for form in (f"{target.title}: {query}", f"According to the {target.title}, {query}", f"{query} ({target.title})"):
        named = run.changed(request={"query": form, "names": True})
        first = first or named
        if named.matched(target):
            yield named, [_change("query", form, f"name it: {form!r}")]
            return
    # Others carry the same name, or a better one: the leg would have to take this one as well.
    if first is not None:
        form = first.request["query"]
        for allowed, changes in _title_parameters(first, target):
            yield allowed, [_change("query", form, f"name it: {form!r}"), *changes]


def _title_parameters(run: Run, target: Target) -> Iterator[tuple[Run, list[Change]]]:
    """Where the query names something that the source carries in part: what the title leg would have to allow."""
    leg: Any = run.component("title")
    for standing in title_standings(run, target):
        wanted: dict[str, Any] = {}
        if standing.score is None or not standing.coverage or not standing.typed:
            continue
        if standing.coverage < leg.min_coverage:
            wanted["min_coverage"] = _down(standing.coverage)
        if standing.best and standing.score < standing.best * (1 - leg.margin):
            wanted["margin"] = _up(1 - standing.score / standing.best)
        if standing.rank is not None and standing.rank > leg.top_k:
            wanted["top_k"] = standing.rank
        if wanted:
            changed = run.changed(changes={("title", name): value for name, value in wanted.items()})
            if changed.matched(target):
                yield changed, [_parameter(f"title.{name}", value) for name, value in wanted.items()]


class Standing(NamedTuple):
    """
    A source in the title leg for one named instrument.

    ``typed``: its title or opening speaks of such an instrument; ``rank`` among the forty that the leg compares.
    """

    intent: int
    score: float | None
    coverage: float | None
    typed: bool
    rank: int | None
    best: float | None


def title_standings(run: Run, target: Target) -> Iterator[Standing]:
    """How the target's source stands for each instrument that the query names."""
    leg: Any = run.component("title")
    topic = run.outputs["recognizer"]["topic_query"]
    only = {"field": "source_id", "operator": "==", "value": target.source_id}
    filters = {"operator": "AND", "conditions": [run.filters, only]} if run.filters else only
    for number, intent in enumerate(run.outputs["recognizer"]["intents"]):
        own = run.store.fetch(leg.name_statement(intent, topic, filters), groups=run.groups)
        statement = leg.name_statement(intent, topic, run.filters)
        rows = run.store.fetch(statement._replace(params={**statement.params, "limit": 1000}), groups=run.groups)
        carrying = [row for row in rows if row["typed"] and (row["coverage"] or 0.0) >= leg.min_coverage]
        rank = next((place for place, row in enumerate(rows, 1) if row["source"] == target.source_id), None)
        yield Standing(
            number,
            own[0]["score"] if own else None,
            own[0]["coverage"] if own else None,
            bool(own and own[0]["typed"]),
            rank,
            carrying[0]["score"] if carrying else None,
        )


def _down(value: float) -> float:
    return int(value * 1000) / 1000


def _up(value: float) -> float:
    return min(1.0, int(value * 1000 + 1) / 1000)


def _chain(start: Run, target: Target, changes: list[Change]) -> Remedy | Obstacle:
    """From obstacle to obstacle, until the target is among the results, or one that nothing removes."""
    applied: dict[str, Any] = {}
    stopped = obstacle(start, target)
    for _ in range(_MOST_STEPS):
        if stopped is None or stopped.parameter is None or applied.get(stopped.parameter) == stopped.value:
            break
        applied[stopped.parameter] = stopped.value
        stopped = obstacle(_applied(start, applied), target)
    return stopped or _without_needless(start, target, changes, applied)


def _applied(start: Run, applied: dict[str, Any]) -> Run:
    request = {name[2:].replace("-", "_"): value for name, value in applied.items() if name.startswith("--")}
    parameters = {}
    for name, value in applied.items():
        if not name.startswith("--"):
            component, _, key = name.partition(".")
            parameters[component, key] = value
    return start.changed(request=request, changes=parameters)


def _without_needless(start: Run, target: Target, changes: list[Change], applied: dict[str, Any]) -> Remedy:
    """The remedy without the changes that it works without."""
    rank = _applied(start, applied).rank(target)
    for name in list(applied):
        fewer = {other: value for other, value in applied.items() if other != name}
        without = _applied(start, fewer).rank(target)
        if without is not None:
            applied, rank = fewer, without
    return {"changes": [*changes, *(_parameter(name, value) for name, value in applied.items())], "rank": rank}


def _parameter(name: str, value: Any) -> Change:
    if name.startswith("--"):
        return _change(name, value, f"{name} {value}")
    sign = "<=" if name == "title.min_coverage" else ">="
    return _change(name, value, f"{name} {sign} {value}")


def _change(parameter: str, value: Any, text: str) -> Change:
    return {"parameter": parameter, "value": value, "text": text}
