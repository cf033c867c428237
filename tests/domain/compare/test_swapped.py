"""What the evidence says where two things stand in each other's place: roles, orders, degrees."""

from __future__ import annotations

import pytest

from holdfast.domain.compare.evidence import Evidence, gather
from holdfast.domain.compare.statement import Statement

CLEAR = 0.4  # a clash from which on nothing is merged


def evidence(one: str, other: str) -> Evidence:
    return gather(Statement(text=one), Statement(text=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Logs of host birch are shipped to host aspen", "Logs of host aspen are shipped to host birch"),
        (
            "Traffic from the lab to the office is encrypted",
            "Traffic from the office to the lab is encrypted",
        ),
        ("Host oak sends its logs to host elm", "Host elm sends its logs to host pine"),
        ("Site A fails over to site B", "Site B fails over to site A"),
        (
            "Press releases are written in English first and translated to French",
            "Press releases are drafted in French; the English version is a translation",
        ),
    ],
)
def test_two_things_that_have_changed_places_are_never_the_same(one: str, other: str) -> None:
    found = evidence(one, other)

    assert found.apart
    assert found.other_figures  # the judge asks for this one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Vera mentors Paul", "Paul mentors Vera"),
        ("The parser package imports the lexer package", "The lexer package imports the parser package"),
        ("Clara is taller than Ines", "Ines is taller than Clara"),
        ("Nora is older than Finn", "Nora is younger than Finn"),
        ("The api pods use more memory than the worker pods", "Workers need the most memory"),
        ("The mail server needs the most disk space", "The web server needs the most disk space"),
        ("Start the database first, then the cache", "Start the cache first, then the database"),
        ("Close the valve and then stop the pump", "Stop the pump and then close the valve"),
        ("Format the code first and lint it afterwards", "Lint the code first and format it afterwards"),
    ],
)
def test_who_and_whom_more_and_less_first_and_then_contradict(one: str, other: str) -> None:
    found = evidence(one, other)

    assert found.clash >= CLEAR
    assert found.other_thing < 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The hosts birch and aspen replicate nightly", "The hosts aspen and birch replicate nightly"),
        ("Tom is married to Greta", "Greta is married to Tom"),
        ("Vera mentors Paul", "Paul is mentored by Vera"),
        ("Host oak sends its logs to host elm", "Host elm receives the logs of host oak"),
        ("Clara is taller than Ines", "Ines is shorter than Clara"),
        ("Nora is older than Finn", "Finn is younger than Nora"),
        (
            "The Linux build takes longer than the Windows build",
            "The Windows build takes less time than the Linux build",
        ),
        ("The parser module is written in Rust", "Rust is the language of the parser module"),
    ],
)
def test_what_is_told_from_its_other_end_has_not_changed(one: str, other: str) -> None:
    found = evidence(one, other)

    assert not found.apart
    assert found.clash < CLEAR


def test_a_word_that_ends_like_a_superlative_is_none() -> None:
    found = evidence("The guest network is slow", "The forest network is slow")

    assert "the opposite comparison" not in found.reasons
