# SPDX-License-Identifier: Apache-2.0
"""
Questions about instruments that are nowhere: invented parties, crossed with types.

Half of the parties share a word with real ones (Services, Inc, Housing), which alone must find nothing (N6).
"""

from itertools import cycle, islice

from pincite.bench.queries import Query

# Coined, so that no corpus holds them; the second words are as common as in any register of companies.
PARTIES = (
    "Acmevoldt",
    "Zephrandel Services",
    "Quorvexa Inc",
    "Umberlisk Housing",
    "Tiskafane Holdings",
    "Brindlowark",
    "Oxthervane Group",
    "Yelmarquist Partners LP",
    "Fennoralt Systems",
    "Gravelkinth",
    "Hosselvick Community Housing Services",
    "Ivorsplint International",
    "Jaddelmoor Technologies Inc",
    "Krellwyn",
    "Lomberquade Estates",
    "Mizzenthrop Capital",
    "Nurdavelle Pharmaceuticals",
    "Ostrevanth",
    "Plimworrick Media Group",
    "Quandelfry Energy",
    "Rostivane Financial Services",
    "Skeltrumby",
    "Thwaxford Properties LLC",
    "Ulverdenck Networks",
    "Vostrimole Foods Inc",
    "Wexhambrel",
    "Xanthoporr Global",
    "Ystrandel Development Corp",
)
TYPES = (
    "bond mortgage",
    "promissory note",
    "operating agreement",
    "loan agreement",
    "license agreement",
    "distribution agreement",
    "non-disclosure agreement",
    "lease",
    "guaranty",
    "services agreement",
    "franchise agreement",
    "environmental indemnity agreement",
    "by-laws",
)
FORMS = (
    "What does the {name} say about limitation on liability?",
    "Under the {name}, who may terminate and on what notice?",
    "In the {name}: which law governs?",
    "Is assignment allowed without consent according to the {name}?",
    "When does the {name} expire?",
    "must confidential information be returned under the {name}",
    "Tell me what the {name} provides on insurance.",
    "{name}: notices",
    "who pays the taxes, per the {name}?",
)
# Types that contracts of commerce do not have: with a real party before them, they name nothing either.
OTHER_TYPES = ("bond mortgage", "deed of trust", "environmental indemnity agreement", "regulatory agreement")
COUNT = 84


def absent_queries(count: int = COUNT) -> list[Query]:
    """
    Questions that name an invented party's instrument, always the same.

    :param count: how many; 84 pass through all parties and types in different company.
    """
    # The lengths of the three lists have no common divisor that would keep a party with one type.
    triples = islice(zip(cycle(PARTIES), cycle(TYPES), cycle(FORMS), strict=False), count)
    return [
        Query(f"absent-{number:02}", form.format(name=f"{party} {kind}"), (), "absent")
        for number, (party, kind, form) in enumerate(triples, start=1)
    ]


def other_type_queries(parties: list[str]) -> list[Query]:
    """Questions that name real parties, each with a type of instrument that it has not made."""
    triples = zip(parties, cycle(OTHER_TYPES), cycle(FORMS), strict=False)
    return [
        Query(f"other-type-{number:02}", form.format(name=f"{party} {kind}"), (), "other_type")
        for number, (party, kind, form) in enumerate(triples, start=1)
    ]
