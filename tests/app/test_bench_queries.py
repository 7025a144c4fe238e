# SPDX-License-Identifier: Apache-2.0
"""Query files: what they may hold, and the one line that says what is wrong with one."""

import json
from pathlib import Path
from typing import Any

import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError
from pincite.bench.queries import Label, Query, read_queries, sampled

RECORD = {
    "id": "q1",
    "query": "What?",
    "short": "Wh?",
    "relevant": [{"doc": "a.txt", "start": 3, "end": 9, "pages": [1, 2]}],
}


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_json_lines_file(tmp_path: Path) -> None:
    file = lines(tmp_path / "q.jsonl", RECORD, {"id": "q2", "query": "line\u2028break", "relevant": []})
    first, second = read_queries(file)
    assert first == Query("q1", "What?", (Label("a.txt", 3, 9, (1, 2)),))
    assert (second.text, second.labels) == ("line\u2028break", ())


def test_another_field_and_a_prefix(tmp_path: Path) -> None:
    (query,) = read_queries(
        lines(tmp_path / "q.jsonl", RECORD, {"id": "q2", "query": "?"}), field_name="short", as_name="set"
    )
    assert query.text == "Wh?"
    assert query.documents == ["set/a.txt"]


def test_a_yaml_list_with_quotes(tmp_path: Path) -> None:
    file = tmp_path / "q.yaml"
    file.write_text(
        "- {id: one, query: Ask A, family: alias, source: a.txt, answer: thirty days}\n"
        "- {id: two, query: Ask B, family: two, source: [a.txt, b.txt], answer: [up, down]}\n"
        "- {id: none, query: Ask C, family: absent, source: null, answer: null}\n",
        encoding="utf-8",
    )
    one, two, none = read_queries(file)
    assert one.labels == (Label("a.txt", quote="thirty days"),)
    assert two.documents == ["a.txt", "b.txt"]
    assert (none.labels, none.family) == ((), "absent")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no record has a question in field 'query'"),
        ("{\n", "line 1: no valid JSON"),
        ("[1]\n", "line 1: a list; a line is a JSON mapping"),
        ('{"query": "x"}\n', "id is None; it must be text"),
        ('{"id": "a", "query": 7}\n', "query is 7; it must be text"),
        ('{"id": "a", "query": "x"}\n' * 2, "line 2: id 'a' is there twice"),
        ('{"id": "a", "query": "x", "relevant": {}}\n', "relevant is {}; it must be a list"),
        ('{"id": "a", "query": "x", "relevant": [{"start": 1}]}\n', "it must name its 'doc'"),
        ('{"id": "a", "query": "x", "relevant": [{"doc": "d", "start": 5, "end": 5}]}\n', "must be 0 <= start < end"),
        (
            '{"id": "a", "query": "x", "relevant": [{"doc": "d", "start": true, "end": 5}]}\n',
            "must be 0 <= start < end",
        ),
        ('{"id": "a", "query": "x", "relevant": [{"doc": "d", "start": 1}]}\n', "must be 0 <= start < end"),
        ('{"id": "a", "query": "x", "relevant": [{"doc": "d", "pages": [0, 2]}]}\n', "counted from 1"),
        ('{"id": "a", "query": "x", "relevant": [{"doc": "d", "pages": ["1", "2"]}]}\n', "counted from 1"),
        ('{"id": "a", "query": "x", "source": "d"}\n', "must be texts"),
        ('{"id": "a", "query": "x", "source": ["d"], "answer": "y"}\n', "two lists of equal length"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        read_queries(file)
    assert said in str(error.value)
    assert "q.jsonl" in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        read_queries(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(BadInputError, match="not UTF-8"):
        read_queries(tmp_path / "latin.jsonl")
    (tmp_path / "q.yaml").write_text("a: 1\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="a dict; a query file is a list"):
        read_queries(tmp_path / "q.yaml")


def test_a_sample_hangs_on_the_ids_alone() -> None:
    queries = [Query(f"q{number}", f"text {number}") for number in range(50)]
    others = [Query(query.id, "other text") for query in reversed(queries)]
    chosen = {query.id for query in sampled(queries, 10, 3)}
    assert len(chosen) == 10
    assert chosen == {query.id for query in sampled(others, 10, 3)}
    assert chosen != {query.id for query in sampled(queries, 10, 4)}
    assert [query.id for query in sampled(queries, 10, 3)] == [query.id for query in queries if query.id in chosen]
    assert sampled(queries, None, 3) == sampled(queries, 99, 3) == queries
