"""Whom a question is about, and how they would have said it."""

from datetime import UTC, datetime

import pytest

from holdfast.domain.memory import Message
from holdfast.language.speaker_forms import meant

TWO = ("Caroline", "Melanie")


def message(role: str = "user", speaker: str | None = None) -> Message:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return Message(id="m", session="s", number=1, role=role, speaker=speaker, content="hello", said_at=at)


@pytest.mark.parametrize(
    ("question", "by_them", "to_them"),
    [
        ("When did Caroline move?", "When did I move?", "When did you move?"),
        ("What is Caroline's dog called?", "What is my dog called?", "What is your dog called?"),
        ("Why did Caroline sell her car?", "Why did I sell my car?", "Why did you sell your car?"),
        (
            "What does Caro say about himself?",
            "What does I say about myself?",
            "What does you say about yourself?",
        ),
        ("when did caroline move?", "when did I move?", "when did you move?"),
    ],
)
def test_a_question_about_somebody_is_put_into_their_mouth(question: str, by_them: str, to_them: str) -> None:
    [saying] = meant(question, TWO).sayings

    assert (saying.person, saying.by_them, saying.to_them) == ("Caroline", by_them, to_them)


def test_the_other_one_is_spoken_to() -> None:
    first, second = meant("What did Caroline give Melanie?", TWO).sayings

    assert first.by_them == "What did I give you?"
    assert second.by_them == "What did you give I?"


def test_what_the_one_asked_about_said_is_likelier_to_answer() -> None:
    who = meant("When did Caroline move?", TWO)

    assert who.said_by(message(speaker="Caroline"))
    assert not who.said_by(message(speaker="Melanie"))
    assert who.names == {"caroline"}


def test_who_names_everybody_means_nobody_in_particular() -> None:
    who = meant("Where did Caroline and Melanie meet?", TWO)

    assert len(who.sayings) == 2
    assert not who.said_by(message(speaker="Caroline"))


def test_i_means_the_user_of_an_assistant() -> None:
    who = meant("Which tyres did I buy?", ())

    assert who.sayings == ()
    assert who.said_by(message("user"))
    assert not who.said_by(message("assistant"))


@pytest.mark.parametrize(
    "question", ["Will it rain?", "will it rain?", "Ask the assistant", "Mellow music", ""]
)
def test_words_are_not_taken_for_names(question: str) -> None:
    who = meant(question, ("Will", "Melanie", "assistant", "user", " "))

    assert [saying.person for saying in who.sayings] == (["Will"] if question.startswith("Will") else [])
