# SPDX-License-Identifier: Apache-2.0
"""Hebrew: a word is found however it is written, and the functions that see to it take any text."""

import string
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack_integrations.document_stores.pincite.corpus_store import CorpusDocumentStore
from haystack_integrations.document_stores.pincite.database import Database
from haystack_integrations.document_stores.pincite.leg_statements import lexical, title_whole
from haystack_integrations.document_stores.pincite.source_writer import SourceWriter
from haystack_integrations.document_stores.pincite.spans import SourceRecord, SpanRecord
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.sql import SQL, Identifier

_CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "data" / "hebrew_forms.yaml").read_text(encoding="utf-8")
)
_LETTERS = "אבגדהוזחטיכלמנסעפצקרשת"
_ANYTHING = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    | st.sampled_from(_LETTERS + "ךםןףץ" + "ְִֵֶַָֹֻּׁׂ־׳״'\"-/. " + string.ascii_letters + "\u200f\ufb4b\ufb2a"),
    max_size=60,
)
_PREFIXES = ("ה", "ו", "ב", "ל", "מ", "ש", "כ", "וה", "מה", "שב", "שה", "לכש", "וכשה", "ומה", "ושב")
# A word that begins with a vav is doubled behind a prefix, and is another matter.
_WORDS = st.text(st.sampled_from(_LETTERS), min_size=3, max_size=8).filter(lambda word: word[0] != "ו")
_MANY = settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(scope="module")
def hebrew(database: Database) -> Iterator[Callable[[str, str], Any]]:
    """``hebrew("forms", text)``: what a function of the database makes of a text."""
    with database.admin() as connection:

        def call(name: str, text: str) -> Any:
            query = SQL("SELECT {}(%s::text)::text").format(Identifier("pincite", f"hebrew_{name}"))
            row = connection.execute(query, [text]).fetchone()
            return row[0] if row else None

        yield call


@pytest.fixture
def hebrew_store(database: Database, make_corpus: Callable[..., str]) -> Iterator[CorpusDocumentStore]:
    name = make_corpus(text_search="hebrew")
    records = []
    for number, case in enumerate(_CASES):
        text = case["sentence"]
        span = SpanRecord("chunk", 0, 0, len(text), text, embedding=[1.0] * 256)
        records.append(SourceRecord(str(number), f"מסמך {number}", text, "h", "text/plain", spans=[span]))
    writer = SourceWriter(database, name)
    writer.write_sources(records)
    writer.refresh_statistics()
    store = CorpusDocumentStore(name)
    yield store
    store.close()


def _found(store: CorpusDocumentStore, query: str) -> list[str]:
    statement = lexical(query, limit=10, rows=2000, words=32)
    return [row["source_id"] for row in store.fetch(statement, groups=["*"])]


def test_prefixed_abbreviated_and_pointed_forms_find_their_sentence_first(hebrew_store: CorpusDocumentStore) -> None:
    forms = [(str(number), form) for number, case in enumerate(_CASES) for form in case["forms"]]
    assert len(forms) == 60
    missed = [form for number, form in forms if _found(hebrew_store, form)[:1] != [number]]
    assert len(missed) <= 5, " ".join(missed)


def test_each_form_is_written_otherwise_in_its_sentence() -> None:
    for case in _CASES:
        words = case["sentence"].split()
        for form in case["forms"]:
            assert form not in [word.strip(".,") for word in words], form


def test_function_and_question_words_find_nothing(hebrew_store: CorpusDocumentStore) -> None:
    assert _found(hebrew_store, "האם של מי ומתי, ואיך?") == []


def test_parties_do_not_turn_into_each_other(hebrew: Callable[[str, str], Any]) -> None:
    for one, other in [
        ("המלווה", "הלווה"),
        ("המשכיר", "השוכר"),
        ("המוכר", "השוכר"),
        ("המשכיר", "השכיר"),
        ("לבן", "הבן"),
    ]:
        assert hebrew("forms", one) != hebrew("forms", other), (one, other)


@pytest.mark.parametrize("title", ["שִׁיר הַשִּׁירִים", "שיר־השירים", "שיר השירים\u200f", "שׁיר השׁירים"])
def test_titles_are_likened_without_points(database: Database, make_corpus: Callable[..., str], title: str) -> None:
    name = make_corpus(text_search="hebrew")
    text = "שורה ראשונה של דברים שנכתבו רק כדי שיהיה כאן מה לקרוא בבדיקה."
    span = SpanRecord("chunk", 0, 0, len(text), text, embedding=[1.0] * 256)
    SourceWriter(database, name).write_sources([SourceRecord("s", title, text, "h", "text/plain", spans=[span])])
    store = CorpusDocumentStore(name)
    rows = store.fetch(title_whole("שיר השירים", limit=3), groups=["*"])
    assert [(row["source_id"], row["score"]) for row in rows] == [("s", 1.0)]
    store.close()


@given(text=_ANYTHING)
@_MANY
def test_any_text_has_words_a_phrase_and_a_plain_form(hebrew: Callable[[str, str], Any], text: str) -> None:
    for name in ("words", "phrase", "all_words", "forms"):
        assert hebrew(name, text) is not None
    plain = hebrew("plain", text)
    assert not any(0x0591 <= ord(sign) <= 0x05C7 for sign in plain)
    assert not set(plain) & set("ךםןףץ")


@given(text=_ANYTHING)
@_MANY
def test_the_plain_form_of_a_plain_form_is_itself(hebrew: Callable[[str, str], Any], text: str) -> None:
    plain = hebrew("plain", text)
    assert hebrew("plain", plain) == plain


@given(text=_ANYTHING)
@_MANY
def test_composed_and_decomposed_text_have_the_same_words(hebrew: Callable[[str, str], Any], text: str) -> None:
    forms = {hebrew("words", unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(forms) == 1


@given(word=_WORDS, prefix=st.sampled_from(_PREFIXES))
@_MANY
def test_a_word_of_three_letters_is_the_same_behind_any_prefix(
    hebrew: Callable[[str, str], Any], word: str, prefix: str
) -> None:
    assert hebrew("bases", prefix + word) == hebrew("bases", word)
