"""What the evidence says where two texts speak of two things: another time, person, kind or property."""

from __future__ import annotations

import pytest

from holdfast.domain.compare.evidence import Evidence, gather
from holdfast.domain.compare.reading import read
from holdfast.domain.compare.statement import Statement

CLEAR = 0.4  # a clash from which on nothing is merged


def evidence(one: str, other: str) -> Evidence:
    return gather(Statement(text=one), Statement(text=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Last year's budget was 40,000 euros", "This year's budget is 55,000 euros"),
        ("In the summer of 2021 the family went to Crete", "In the summer of 2022 the family went to Norway"),
        ("The 2023 audit was done by Deloitte", "The 2024 audit was done by KPMG"),
        ("Debug builds log everything", "Release builds log warnings only"),
        ("Nightly builds are kept for a week", "Tagged builds are kept for a year"),
        ("Ludo manages the Dutch team", "Ludo's brother manages the Belgian team"),
        ("Rosa has a cat called Miso", "Rosa's neighbour has a dog called Brutus"),
        ("Milo's birthday is on 4 March", "Milo's name day is on 9 October"),
        ("Jan's wedding anniversary is on 3 May", "Jan's birthday is on 21 August"),
        ("The Atlas launch is on 14 March", "The Atlas press briefing is on 12 March"),
    ],
)
def test_another_time_person_or_kind_is_another_thing(one: str, other: str) -> None:
    found = evidence(one, other)

    assert found.other_thing == 1.0
    assert found.clash < CLEAR


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("This year's budget is 40,000 euros", "This year's budget is 55,000 euros"),
        ("The 2024 audit was done by Deloitte", "The 2024 audit was done by KPMG"),
        ("Nightly builds are kept for a week", "Nightly builds are kept for a year"),
        ("Milo's birthday is on 4 March", "Milo's birthday is on 14 March"),
        ("Snapshots older than 30 days are pruned", "Snapshots older than 90 days are pruned"),
        ("The printer is on the second floor", "The printer was moved to the third floor"),
    ],
)
def test_another_value_of_one_thing_clashes(one: str, other: str) -> None:
    found = evidence(one, other)

    assert found.clash >= CLEAR
    assert found.other_thing < 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The legal team needs two days for an NDA", "The legal team no longer sits on the fourth floor"),
        ("The finance team answers within a day", "The finance team no longer uses fax"),
        ("The printer is on the second floor", "The printer no longer prints in colour"),
        ("The build server has 64 GB of memory", "The build server has moved to the new rack"),
    ],
)
def test_a_change_of_another_property_replaces_nothing(one: str, other: str) -> None:
    assert evidence(one, other).replaced == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The finance team uses fax", "The finance team no longer uses fax"),
        ("The offsite will be held in Ghent", "The offsite has been relocated to Antwerp"),
        ("Emma sings in a choir", "Emma has left the choir"),
    ],
)
def test_a_change_of_the_same_property_replaces_it(one: str, other: str) -> None:
    found = evidence(one, other)

    assert found.replaced > 0.0
    assert found.clash >= CLEAR


def test_a_figure_that_the_other_text_lacks_keeps_two_facts_apart() -> None:
    found = evidence(
        "User speaks Portuguese with the São Paulo team",
        "The São Paulo team works four hours behind the user",
    )

    assert found.apart


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("Release builds log warnings", "log"),
        ("Pool mode is transaction", "is"),
        ("Host oak sends its logs", "sends"),
        ("The Atlas press briefing is late", "is"),
        ("Milo's name day is near", "is"),
        ("Restart the broker", "restart"),
        ("Run unit tests in parallel", "run"),
        ("Check links before a release", "check"),
    ],
)
def test_the_main_verb_is_no_noun_that_could_be_one(text: str, verb: str) -> None:
    reading = read(text)

    assert reading.tokens[reading.verb].surface == verb
