# SPDX-License-Identifier: Apache-2.0
"""
Whether ``pincite why`` is right: what it says would have admitted a document is changed, and the question asked again.

Takes questions whose right passage or document is outside the first ten: short forms, questions without the name, and
full ones with ``--no-names``. For each, ``why`` must name a stage; then the YAML of the pipeline is written anew with
the parameters that it names, loaded with all checks, and the question asked with the options that it names: the
document must be among the results. Usage: ``python benchmarks/why_accuracy.py CORPUS QUERIES.jsonl [N]``, with the
corpus ingested. Exit status 1 when one of them is not.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml
from haystack import Pipeline
from haystack_integrations.document_stores.pincite.resources import read_config
from pincite.pipelines.corpora import load_corpora
from pincite.pipelines.loader import check_pipeline_text
from pincite.response import SearchResult
from pincite.service import Service
from pincite.why import why
from pincite.why_answer import Change, Remedy, WhyAnswer

WAYS: tuple[tuple[str, bool], ...] = (("query_short", True), ("query_unnamed", True), ("query", False))


class Case(NamedTuple):
    """A question whose answer is outside the first ten, and the document or passage that is right."""

    query: str
    names: bool
    source: str
    span: str | None


def cases(service: Service, corpus: str, entries: list[dict[str, Any]], who: str | None) -> Iterator[Case]:
    """Questions of all three ways in turn; the passage is asked for when the document is there and it is not."""
    for number, entry in enumerate(entries):
        field, names = WAYS[number % len(WAYS)]
        query, right = entry[field], entry["relevant"][0]
        results = service.search(corpus, query, principal=who, names=names)["results"]
        if not any(result["source_id"] == right["doc"] for result in results):
            yield Case(query, names, right["doc"], None)
        elif not any(shows(result, right) for result in results) and (span := span_at(service, corpus, entry, who)):
            yield Case(query, names, right["doc"], span)


def shows(result: SearchResult, right: dict[str, Any]) -> bool:
    """Whether a result shows a part of the labelled answer."""
    locator = result["locator"]
    overlap = locator["start"] < right["end"] and locator["end"] > right["start"]
    return result["source_id"] == right["doc"] and overlap


def span_at(service: Service, corpus: str, entry: dict[str, Any], who: str | None) -> str | None:
    """Id of the passage that holds the beginning of the labelled answer."""
    right = entry["relevant"][0]
    answer = entry.get("answer")
    asked = answer[0] if isinstance(answer, list) and answer else answer or entry["query"]
    # Searched for in its own words, inside its own document: any way to its id will do.
    for query in (f"{entry['name']}: {asked}", entry["query"]):
        found = service.search(corpus, str(query)[:2000], principal=who, top_k=100, max_per_source=100)["results"]
        for result in found:
            if shows(result, right):
                return result["span_id"]
    return None


def changed_search(corpus: str, case: Case, changes: list[Change]) -> tuple[Pipeline, dict[str, Any]]:
    """The pipeline and the request with some changes; the pipeline is loaded from YAML that was written anew."""
    options: dict[str, Any] = {"names": case.names, "top_k": 10}
    query = case.query
    text, origin = read_config(load_corpora().corpus(corpus).query_pipeline)
    data = yaml.safe_load(text)
    for change in changes:
        parameter, value = change["parameter"], change["value"]
        if parameter == "query":
            query, options["names"] = value, True
        elif parameter in ("names", "--no-names"):
            options["names"] = parameter == "names"
        elif parameter.startswith("--"):
            options[parameter[2:].replace("-", "_")] = value
        else:
            stage, _, name = parameter.partition(".")
            data["components"][stage]["init_parameters"][name] = value
    pipeline = check_pipeline_text(yaml.safe_dump(data, sort_keys=False), origin, "query")
    pipeline.warm_up()
    groups = list(load_corpora().principal(load_corpora().command_line_principal or "").groups)
    return pipeline, {"query": query, "groups": groups, **options}


def asked_again(corpus: str, case: Case, remedy: Remedy) -> bool:
    """Whether the document, or the passage, is among the results with the changes of a remedy."""
    pipeline, request = changed_search(corpus, case, remedy["changes"])
    documents = pipeline.run({"request": request})["attribution"]["documents"]
    return any(
        document.id == case.span if case.span else document.meta["source_id"] == case.source for document in documents
    )


def passes(corpus: str, case: Case, answer: WhyAnswer) -> bool:
    """Whether the document passes the stage that lost it, with the change that is told for that stage."""
    if answer["passes_with"] is None:
        return False
    pipeline, request = changed_search(corpus, case, [answer["passes_with"]])
    again = why(pipeline, request, case.source, case.span)
    parameter = (again["passes_with"] or {}).get("parameter")
    return (again["lost_at"], parameter) != (answer["lost_at"], answer["passes_with"]["parameter"])


def told(answer: WhyAnswer, case: Case) -> str:
    """A line about a case that failed."""
    changes = [[change["text"] for change in remedy["changes"]] for remedy in answer["remedies"]]
    return f"  {answer['lost_at']}: {answer['reason']} {changes} {answer['note'] or ''} | {case}"


def main() -> int:
    """Measure and print."""
    corpus, path = sys.argv[1], Path(sys.argv[2])
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    Random(3).shuffle(entries)  # noqa: S311 (a draw, no secret)
    who = load_corpora().command_line_principal
    stages: Counter[str] = Counter()
    first: Counter[str] = Counter()
    named = admitted = passed = parameters = every = tried = 0
    with Service() as service:
        for number, case in enumerate(cases(service, corpus, entries, who)):
            if number == wanted:
                break
            answer = service.why(
                corpus, case.query, source=case.source, span=case.span, principal=who, names=case.names
            )
            named += answer["lost_at"] is not None
            stages[str(answer["lost_at"])] += 1
            held = [asked_again(corpus, case, remedy) for remedy in answer["remedies"]]
            tried, every = tried + len(held), every + sum(held)
            admitted += any(held)
            passed += passes(corpus, case, answer)
            parameters += bool(held and held[0]) and answer["note"] is None
            if answer["remedies"]:
                first[answer["remedies"][0]["changes"][0]["parameter"]] += 1
            if not all(held) or not held:
                print(told(answer, case))
    total = sum(stages.values())
    lost = ", ".join(f"{stage} {count}" for stage, count in stages.most_common())
    begins = ", ".join(f"{name} {count}" for name, count in first.most_common())
    print(f"answer outside the first ten          {total}")
    print(f"why names a stage                     {named}  ({lost})")
    print(f"with its change it passes that stage  {passed}")
    print(f"what it names brings the answer in    {admitted}")
    print(f"without touching the question         {parameters}")
    print(f"remedies told, and right              {tried}, {every}  (first change: {begins})")
    return 0 if total and named == total == admitted and every == tried else 1


if __name__ == "__main__":
    sys.exit(main())
