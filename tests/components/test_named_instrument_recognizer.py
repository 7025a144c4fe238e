# SPDX-License-Identifier: Apache-2.0
"""Names of instruments in questions, and what is asked about them (N1, N2, N12)."""

import asyncio
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack_integrations.components.pincite.named_instrument_recognizer import NamedInstrumentRecognizer
from haystack_integrations.components.pincite.naming.vocabulary import Vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st

_DATA = Path(__file__).parent / "data"
_NAMED = yaml.safe_load((_DATA / "named_questions.yaml").read_text(encoding="utf-8"))
_UNNAMED = (_DATA / "unnamed_questions.txt").read_text(encoding="utf-8").splitlines()

recognizer = NamedInstrumentRecognizer()
vocabulary = Vocabulary.load()


def words(text: str) -> list[str]:
    return vocabulary.normalise(text).split()


def unchanged(query: str) -> dict[str, Any]:
    return {"intents": [], "topic_query": query, "title_query": query}


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(word in rest for word in part)


# -- sentences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "title_query", "topic_query"),
    [
        (
            "What does the HFA bond mortgage say about limitation on liability?",
            "hfa bond mortgage",
            "limitation on liability",
        ),
        (
            "What is the maturity date of the Brooklyn Community Housing Services promissory note?",
            "brooklyn community housing services promissory note",
            "What is the maturity date",
        ),
        (
            "Who are the members under the Kingsbrook Estates operating agreement?",
            "kingsbrook estates operating agreement",
            "Who are the members",
        ),
    ],
)
def test_the_reproduced_questions(query: str, title_query: str, topic_query: str) -> None:
    found = recognizer.run(query)
    assert (found["title_query"], found["topic_query"]) == (title_query, topic_query)
    assert [intent["title_query"] for intent in found["intents"]] == [title_query]


def test_an_intent_has_the_shape_of_the_contract() -> None:
    found = recognizer.run("What does the HFA bond mortgage say about limitation on liability?")
    assert found["intents"] == [
        {
            "phrase": "bond mortgage",
            "type": "bond mortgage",
            "qualifiers": ["hfa"],
            "title_query": "hfa bond mortgage",
        }
    ]


def test_the_table_is_large_enough_to_mean_something() -> None:
    hebrew = [case for case in _NAMED if any("\u05d0" <= letter <= "\u05ea" for letter in case["question"])]
    assert len(_NAMED) >= 160
    assert len(hebrew) >= 15
    assert len(_UNNAMED) >= 60


@pytest.mark.parametrize("case", _NAMED, ids=lambda case: case["question"])
def test_a_question_that_names_an_instrument(case: dict[str, Any]) -> None:
    found = recognizer.run(case["question"])
    assert [[intent["type"], " ".join(intent["qualifiers"])] for intent in found["intents"]] == case["instruments"]
    assert found["topic_query"] == case["topic"]


@pytest.mark.parametrize("query", _UNNAMED)
def test_a_question_that_only_talks_about_a_type(query: str) -> None:
    assert recognizer.run(query) == unchanged(query)


@pytest.mark.parametrize(
    "query", ["Rivertown Bond Mortgage", "the Acme lease", "Acme lease?", "Show me the Acme lease"]
)
def test_a_name_alone_is_its_own_topic(query: str) -> None:
    found = recognizer.run(query)
    assert len(found["intents"]) == 1
    assert found["topic_query"] == query


def test_at_most_so_many_instruments() -> None:
    query = "Compare the Acme lease, the Beta guaranty and the Gamma mortgage"
    counts = [len(NamedInstrumentRecognizer(max_intents=most).run(query)["intents"]) for most in (0, 1, 2, 5)]
    assert counts == [0, 1, 2, 3]


def test_async_gives_the_same() -> None:
    query = "governing law of the Acme and Beta joint venture agreement"
    assert asyncio.run(recognizer.run_async(query)) == recognizer.run(query)


# -- the fallback ----------------------------------------------------------------------------------------------------

_TAKEN_OUT = ["endorsement agreement", "sponsorship agreement", "hosting agreement", "supply agreement", "lease"]


@pytest.fixture(scope="module")
def shorter(tmp_path_factory: pytest.TempPathFactory) -> NamedInstrumentRecognizer:
    content = yaml.safe_load(resources.files("pincite.configs").joinpath("instruments.yaml").read_text("utf-8"))
    for name in _TAKEN_OUT:
        del content["types"][name]
    path = tmp_path_factory.mktemp("vocabulary") / "instruments.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return NamedInstrumentRecognizer(str(path))


@pytest.mark.parametrize("type_name", [name for name in _TAKEN_OUT if name.endswith("agreement")])
@pytest.mark.parametrize(
    "form", ["In the Acme Widgets {}, who pays?", "Who pays under the {} between Acme Widgets and Zeta?"]
)
def test_a_type_that_the_vocabulary_lacks(shorter: NamedInstrumentRecognizer, type_name: str, form: str) -> None:
    query = form.format(type_name.title())
    (intent,) = shorter.run(query)["intents"]
    (known,) = recognizer.run(query)["intents"]
    assert (known["type"], intent["type"]) == (type_name, "agreement")
    assert set(known["qualifiers"]) | {type_name.split(maxsplit=1)[0]} == set(intent["qualifiers"])
    assert words(intent["title_query"]) == words(known["title_query"])
    assert shorter.run(query)["topic_query"] == recognizer.run(query)["topic_query"]


# -- properties ------------------------------------------------------------------------------------------------------

_NAMES = st.lists(
    st.sampled_from("Norvik Petrolane Halden Tidewater Corvane Zellwood Arkwright Lakeview 3K Playwell.com".split()),
    min_size=1,
    max_size=3,
    unique=True,
)
_TYPES = st.sampled_from(
    "lease|loan agreement|bond mortgage|Supply Agreement|NDA|promissory note|by-laws|Tooling Recapture Agreement|"
    "Co-Branding Agreement|term sheet|operating agreement|services contract|guaranty|deed of trust".split("|")
)
_TOPICS = st.sampled_from(
    ["who pays the fees", "what is the default rate", "when does it expire", "is notice required"]
)
_FORMS = st.sampled_from(
    [
        "In the {name} {type}, {topic}?",
        "Under the {name} {type}: {topic}?",
        "According to the {name} {type}, {topic}?",
        "As per {name}'s {type}, {topic}?",
        "{name} {type}: {topic}?",
        "{name} {type} - {topic}",
        "{topic} in the {name} {type}?",
        "{topic} per {name} {type}",
        "{topic} ({name} {type})",
        '{topic} under "{name} {type}"?',
        "{topic}, {name} {type}",
    ]
)
_MARKS = " '\"’“”()[]:;,.-–—/&?!\0\ud800\u05be\u05f4\u200f😀אבהסכםABCabcthelease0129\n"
_ANY = st.text(st.one_of(st.characters(), st.sampled_from(_MARKS)), max_size=80)
_PIECES = st.lists(
    st.one_of(
        _ANY,
        st.sampled_from(
            "the of and between , : agreement lease bond mortgage NDA Acme inc say about to amendment 3 הסכם של".split()
        ),
    ),
    max_size=14,
).map(" ".join)


@given(_NAMES, _TYPES, _TOPICS, _FORMS, st.sampled_from([str, str.lower, str.upper]))
def test_every_form_finds_the_whole_name_and_the_topic(
    name: list[str], type_name: str, topic: str, form: str, case: Any
) -> None:
    query = case(form.format(name=" ".join(name), type=type_name, topic=topic))
    found = recognizer.run(query)
    (intent,) = found["intents"]
    assert intent["title_query"] == vocabulary.normalise(" ".join([*name, type_name]))
    assert words(found["topic_query"]) == words(topic)


@given(_PIECES)
def test_nothing_in_a_query_makes_it_fail(query: str) -> None:
    found = recognizer.run(query)
    assert found == recognizer.run(query)
    assert len(found["intents"]) <= recognizer.max_intents
    assert is_subsequence(words(found["topic_query"]), words(query))
    assert found["topic_query"] or not query
    if not found["intents"]:
        assert found == unchanged(query)
    asked = words(query)
    for intent in found["intents"]:
        # A Hebrew prefix is cut off a word: "לביתא" names "ביתא".
        assert all(word in asked or any(other.endswith(word) for other in asked) for word in intent["qualifiers"])
        assert all(word in intent["title_query"].split() for word in intent["qualifiers"])


@given(_PIECES)
def test_with_names_off_the_query_stays_as_it_is(query: str) -> None:
    assert recognizer.run(query, names=False) == unchanged(query)


@given(
    _NAMES, st.sampled_from(["bond mortgage", "loan agreement", "environmental indemnity agreement", "mortgage note"])
)
def test_the_longest_phrase_wins(name: list[str], type_name: str) -> None:
    (intent,) = recognizer.run(f"What does the {' '.join(name)} {type_name} say about rent?")["intents"]
    assert intent["phrase"] == type_name
    assert not set(type_name.split()) & set(intent["qualifiers"])


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(["the Acme lease ", "agreement between A and ", "of the ", "(", "'", "A-", "הסכם של ", "a.b."]))
def test_a_very_long_query_is_a_query(piece: str) -> None:
    query = (piece * 50_000)[:50_000]
    found = recognizer.run(query)
    assert len(found["intents"]) <= recognizer.max_intents
