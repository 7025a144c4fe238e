# SPDX-License-Identifier: Apache-2.0
"""``corpora.yaml``: what is shipped, what a user may write, and one line for what he may not."""

from pathlib import Path

import pytest
from haystack_integrations.document_stores.pincite.errors import BadInputError, ConfigurationError
from pincite.pipelines.corpora import Principal, corpus, load_corpora, parse_corpora

ENTRY = """\
    description: Notes
    query_pipeline: notes.yaml
    indexing_pipeline: notes.indexing.yaml
    language: en
    text_search_config: english
    embedding_dimension: 256
"""
TOOL = "tools:\n  find:\n    corpus: notes\n    description: Find\n"
GOOD = f"corpora:\n  notes:\n{ENTRY}principals:\n  me:\n    groups: [a, b]\n"


def test_what_is_shipped() -> None:
    settings = load_corpora()
    assert settings.origin == "pincite.configs/corpora.yaml"
    assert list(settings.corpora) == [
        "knowledge", "case_documents", "precedent_library", "internal_decisions", "attached_citations", "kb",
    ]  # fmt: skip
    assert settings.corpus("knowledge").minimum_characters == 50
    assert {name for name, corpus in settings.corpora.items() if corpus.required_metadata == ("title",)} == {
        "knowledge", "kb",
    }  # fmt: skip
    assert settings.corpus("precedent_library").source_kind == "external_upload"
    assert settings.corpus("internal_decisions").source_kind == "internal_committee"
    assert {name for name, corpus in settings.corpora.items() if "rule" in corpus.spans} == {
        "precedent_library", "internal_decisions",
    }  # fmt: skip
    assert settings.corpus("case_documents").required_scopes == ("practice_area",)
    assert settings.command_line_principal == "local-owner"
    assert settings.principal("local-owner") == Principal(name="local-owner", groups=("*",))


def test_a_user_adds_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpora.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.setenv("PINCITE_CONFIG", str(tmp_path))
    assert corpus("notes").required_scopes == ()
    assert load_corpora().command_line_principal is None
    with pytest.raises(BadInputError, match=r"^unknown corpus 'knowledge'; corpora: notes$"):
        corpus("knowledge")


def test_unknown_names() -> None:
    with pytest.raises(BadInputError, match=r"^unknown corpus 'x'; corpora: knowledge, .*, kb$"):
        corpus("x")
    with pytest.raises(BadInputError, match=r"^unknown tool 'x'; tools: search_knowledge, .*, kb_status$"):
        load_corpora().tool("x")
    with pytest.raises(BadInputError, match=r"^unknown principal 'x'; principals: local-owner$"):
        load_corpora().principal("x")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("description:", "descripton:", "file:3: unknown key 'corpora.notes.descripton'; did you mean 'description'?"),
        ("corpora:", "corporas:", "file:1: unknown key 'corporas'; did you mean 'corpora'?"),
        ("groups: [a, b]", "group: [a]", "file:11: unknown key 'principals.me.group'; did you mean 'groups'?"),
        ("    language: en\n", "", "file:2: 'corpora.notes.language' is missing"),
        (
            "dimension: 256",
            "dimension: '256'",
            "file:8: corpora.notes.embedding_dimension is '256'; input should be a valid integer",
        ),
        (
            "dimension: 256",
            "dimension: 0",
            "file:8: corpora.notes.embedding_dimension is 0; input should be greater than or equal to 1",
        ),
        (
            "language: en",
            "language: en\n    scopes: matter",
            "file:7: corpora.notes.scopes is 'matter'; input should be a valid array",
        ),
        (
            "language: en",
            "language: en\n    scopes: [matter]\n    required_scopes: [mater]",
            "file:8: corpora.notes: required scope 'mater' is not in scopes; did you mean 'matter'?",
        ),
        ("groups: [a, b]", "groups: [1]", "file:11: principals.me.groups.0 is 1; input should be a valid string"),
        ("  notes:", "  Notes:", "file:2: corpus name 'Notes' is not usable: "),
        ("  notes:", "  notes:\n    name: x", "file:3: corpora.notes: 'name' is the key itself; remove it"),
        ("groups: [a, b]", "", "file:10: principals.me is None; it must be a mapping"),
        (
            "principals:",
            "command_line_principal: you\nprincipals:",
            "file:9: command_line_principal is 'you', no principal; known: me",
        ),
        ("principals:\n  me:\n    groups: [a, b]\n", "", "file: 'principals' is None; "),
        ("corpora:", "corpora: {}\nx:", "file:2: unknown key 'x'; "),
        (f"\n  notes:\n{ENTRY}", " {}\n", "file:1: 'corpora' is {}; it must be a mapping with at least one name"),
        ("language: en", "language: en\n    spans: [chunk, rules]", "file:7: corpora.notes.spans.1 is 'rules'; "),
        (
            "language: en",
            "language: en\n    tools: [find]",
            "file:7: corpora.notes: tool 'find' is not in tools for this corpus; none is known here",
        ),
        ("principals:", f"{TOOL}principals:", "file:10: tools.find is not among the tools of corpus 'notes'"),
        ("principals:", f"{TOOL.replace('notes', 'note')}principals:", "file:11: tools.find: corpus is 'note'; "),
        (
            "principals:",
            f"{TOOL.replace('corpus', 'corpora')}principals:",
            "file:11: unknown key 'tools.find.corpora'; did you mean 'corpus'?",
        ),
    ],
)
def test_misuse_is_one_line(right: str, wrong: str, message: str) -> None:
    assert GOOD.count(right) == 1
    with pytest.raises(ConfigurationError) as raised:
        parse_corpora(GOOD.replace(right, wrong), "file")
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_tool_asks_for_scopes_of_its_corpus_only() -> None:
    entry = ENTRY + "    tools: [find]\n    scopes: [matter]\n"
    text = f"corpora:\n  notes:\n{entry}{TOOL}    required_scopes: [mater]\nprincipals:\n  me:\n    groups: [a]\n"
    with pytest.raises(ConfigurationError) as raised:
        parse_corpora(text, "file")
    assert str(raised.value) == "file:15: tools.find: 'mater' is no scope of 'notes'; did you mean 'matter'?"
    assert parse_corpora(text.replace("mater]", "matter]"), "file").tool("find").required_scopes == ("matter",)
