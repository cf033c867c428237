"""Two texts with different numbers in one place are never merged, whatever else they share."""

from __future__ import annotations

from itertools import combinations

import pytest

from holdfast.domain.compare import Statement, TextJudge

FIGURES = (
    "7", "22", "25", "50", "50%", "53", "80", "200", "301", "302", "404", "443", "5432", "8080", "v2", "k8s",
)  # fmt: skip


@pytest.mark.parametrize(
    "frame",
    [
        "The API returns {} for unknown users",
        "It listens on port {}",
        "The {} service needs a restart",
        "Redirects with {} to the login page",
        "Keeps {} backups",
        "Error {} means the disk is full",
        "Ticket {} is about the login bug",
        "VLAN {} is for guests",
    ],
)
def test_another_number_is_never_the_same(frame: str) -> None:
    judge = TextJudge()

    merged = [
        pair
        for pair in combinations(FIGURES, 2)
        if judge.compare(*(Statement(text=frame.format(each)) for each in pair)).relation == "same"
    ]

    assert merged == []


def test_another_port_contradicts() -> None:
    known, draft = (Statement(text=f"postgres listens on port {port}") for port in (5432, 8080))

    verdict = TextJudge().compare(known, draft)

    assert (verdict.relation, verdict.reasons) == ("contradicts", ("5432 against 8080",))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Takes 60s to start", "Takes one minute to start"),
        ("The upload limit is 2 GB", "The upload limit is 2048 MB"),
        ("Redirects with 302 to the login page", "A 302 redirect leads to the login page"),
    ],
)
def test_the_same_amount_in_other_digits_still_is(one: str, other: str) -> None:
    assert TextJudge().compare(Statement(text=one), Statement(text=other)).relation == "same"


def test_the_same_sentence_of_another_thing_is_not_the_same() -> None:
    known, draft = (Statement(text=f"Deployed {name} from the new pipeline") for name in ("alpha", "beta"))

    assert TextJudge().compare(known, draft).relation == "distinct"
