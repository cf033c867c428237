"""What the evidence says of denials that agree, and of how generally two texts speak."""

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
        ("Can only be reached through the VPN", "Cannot be reached except through the VPN"),
        (
            "Never rebuild the index while an import is running",
            "Rebuilding the index has to wait until no import is running",
        ),
        (
            "Never restart the broker during a rebalance",
            "Restart the broker only when no rebalance is going on",
        ),
        ("Nothing goes out without a signature", "Everything that goes out needs a signature"),
        ("No calls before 10:15", "The first call must not begin earlier than quarter past ten"),
        ("Use neither tabs nor trailing commas", "Don't use tabs or trailing commas"),
        ("None of the scripts are tested", "There are no tests for any of the scripts"),
        ("The contract covers only hardware", "The contract covers hardware and nothing else"),
        ("Drinks tea without sugar", "Takes no sugar in tea"),
        ("All servers are backed up nightly", "Every server is backed up each night"),
    ],
)
def test_two_denials_of_one_thing_agree(one: str, other: str) -> None:
    assert evidence(one, other).clash < CLEAR


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Nothing goes out without a signature", "It may go out without a signature"),
        ("The bid from Falk was accepted", "The bid from Falk was not accepted"),
        (
            "The console can only be opened through the bastion",
            "The console can also be opened without the bastion",
        ),
        (
            "Never rebuild the index while an import is running",
            "The index may be rebuilt while an import is running",
        ),
        ("All servers are backed up", "Most servers are backed up"),
        ("All tables have a primary key", "Not all tables have a primary key"),
        ("All public methods have type hints", "Hardly any public method has type hints"),
        ("Only managers can approve leave", "Anyone can approve leave"),
        ("Eats everything", "Eats everything except mushrooms"),
        ("The hotline speaks only Dutch", "The hotline speaks Dutch and English"),
        ("The exporter has to run on the same host", "The exporter can run on any host"),
        ("It listens on 9443 instead of the usual 443", "It listens on the usual 443"),
        ("The alarm is sent to Ines, not to Karl", "The alarm is sent to Karl"),
    ],
)
def test_a_denial_or_a_narrower_claim_clashes(one: str, other: str) -> None:
    assert evidence(one, other).clash >= CLEAR


def test_a_rule_on_the_opposite_case_is_another_rule() -> None:
    found = evidence(
        "Restart winbind if domain users cannot log in", "Never restart winbind while users are logged in"
    )

    assert found.apart
    assert found.clash < CLEAR


def test_what_is_said_of_one_and_denied_of_another_may_both_hold() -> None:
    found = evidence("We will not renew the contract with Acme", "We will renew the contract with Globex")

    assert found.other_thing == 1.0


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Nothing is logged", {"logged"}),
        ("Use neither tabs nor spaces", {"use", "tabs", "spaces"}),
        ("Nothing leaves without a stamp", set()),
        ("Does not answer except over IPv6", set()),
    ],
)
def test_a_negation_bears_on_what_it_denies(text: str, denied: set[str]) -> None:
    assert {token.surface for token in read(text).content if token.negated} == denied


def test_what_is_only_set_aside_is_no_part_of_what_is_said() -> None:
    found = evidence("The broker listens on 1884, not on the default 1883", "The broker listens on port 1884")

    assert found.left_over == 0.0
    assert found.low_cover > 0.7
