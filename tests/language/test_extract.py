"""What becomes of a kept sentence: it stands alone, is labelled, and holds nothing that was not said."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from bench.gate import invents
from holdfast.language.extract import MOST_CHARACTERS, Extracted, extract
from holdfast.language.gate import Utterance, gate
from tests.requirements_ledger import requirement

SAID_ON = date(2026, 3, 4)  # a Wednesday


def made(*said: str) -> list[Extracted]:
    spoken = [
        Utterance("assistant" if line.startswith("A:") else "user", line.removeprefix("A:").strip(), SAID_ON)
        for line in said
    ]
    return extract(spoken, gate(spoken))


@requirement("sem.extract")
def test_a_person_is_remembered_under_their_name() -> None:
    (found,) = made("Oh, and Bettina is my boss since January.")

    assert found.kind == "person"
    assert found.subject == "Bettina"
    assert "bettina" in found.tags
    assert found.importance >= 3


@requirement("sem.extract")
def test_what_somebody_says_of_themselves_is_told_of_the_user() -> None:
    (found,) = made("Please remember that I prefer short answers and my desk is in room 12.")

    assert found.content == "The user prefers short answers and their desk is in room 12."
    assert found.kind == "preference"


def test_what_cannot_be_rewritten_safely_is_quoted() -> None:
    (found,) = made("For the record: Ana and I never fly on Mondays.")

    assert found.content == 'The user said: "Ana and I never fly on Mondays."'


def test_other_languages_are_kept_as_they_were_said() -> None:
    said = "Merk dir bitte: Der Serverraum im Keller wird nie vor 7 Uhr geöffnet."

    (found,) = made(said)

    assert found.content == said


def test_a_reason_stays_with_its_decision() -> None:
    (found,) = made("We decided to host in Zurich. The auditors insist on Swiss soil.")

    assert found.kind == "decision"
    assert found.content == "We decided to host in Zurich. The auditors insist on Swiss soil."


def test_an_answer_is_kept_with_its_question() -> None:
    (found,) = made("A: Which registry should I push to?", "harbor.corp, never Docker Hub.")

    assert found.content == 'Asked "Which registry should I push to?": harbor.corp, never Docker Hub.'


def test_she_is_who_was_named_right_before() -> None:
    (found,) = made("Send the draft to Miriam, please. She signs all the contracts.")

    assert found.content == "Miriam signs all the contracts."
    assert found.subject == "Miriam"


@requirement("sem.extract")
def test_relative_days_get_their_dates() -> None:
    (moved,) = made("Actually Tom moved to the Berlin office last week.")
    (due,) = made("The report is due tomorrow, that is the final deadline.")

    assert moved.content == "Tom moved to the Berlin office last week (the week of 2026-02-23)."
    assert "tomorrow (2026-03-05)" in due.content


def test_what_is_asked_to_be_kept_is_what_was_said_before() -> None:
    (found,) = made(
        "where is the runbook for the mail relay?",
        "A: It is in the wiki under Mail/Relay/Runbook.",
        "great, keep that somewhere",
    )

    assert "Mail/Relay/Runbook" in found.content
    assert "runbook for the mail relay" in found.content


def test_a_long_passage_is_cut_and_a_long_message_does_no_harm() -> None:
    (found,) = made("Remember that " + "the list of hosts is very long and " * 40 + "it never ends.")

    assert len(found.content) <= MOST_CHARACTERS
    assert made("x" * 2_000_000) == []


_PIECES = (
    "remember that I prefer we decided Anna Berlin 42 the build server runs on never my boss is because"
    " from now on . , ? ! : \" ' ( ) \n - 3.5 10:15 March the not don't she it"
).split(" ")
_SAID = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]), st.lists(st.sampled_from(_PIECES), max_size=25).map(" ".join)
    ),
    max_size=4,
)


@given(_SAID)
def test_nothing_is_ever_invented(said: list[tuple[str, str]]) -> None:
    spoken = [Utterance(role, text, SAID_ON) for role, text in said]
    whole = "\n".join(text for _, text in said)

    for found in extract(spoken, gate(spoken)):
        assert not invents(found.content, whole)
        assert found.content.strip()
        assert len(found.content) <= MOST_CHARACTERS


@given(st.lists(st.text(max_size=300), max_size=4))
def test_any_text_can_be_read(texts: list[str]) -> None:
    spoken = [Utterance("user", text) for text in texts]

    extract(spoken, gate(spoken))
