"""What a question asks for, before anything is searched."""

from datetime import date

import pytest

from holdfast.language.question import asks_what_was_said, question, refers_back

TODAY = date(2026, 3, 11)


def test_names_find_memories_but_not_messages() -> None:
    asked = question("When did Caroline buy the bicycle last week?", ["Caroline", "Melanie"], TODAY)

    assert "carolin" in {base[:7] for base in set(asked.terms)}
    assert not any(base.startswith("carolin") for base in set(asked.spoken_terms))
    assert asked.forms == (
        "When did Caroline buy the bicycle last week?",
        "When did I buy the bicycle last week?",
        "When did you buy the bicycle last week?",
    )
    assert asked.asks_when
    assert len(asked.days) == 1


def test_a_question_that_only_names_somebody_keeps_the_name() -> None:
    asked = question("Caroline?", ["Caroline", "Melanie"], TODAY)

    assert set(asked.spoken_terms) == set(asked.terms) != set()


@pytest.mark.parametrize(
    ("text", "about_talk"),
    [
        ("What did I say about the rack?", True),
        ("did we ever discuss the budget", True),
        ("Do you remember what I told you about peanuts?", True),
        ("Remind me when she mentioned him", True),
        ("What should I tell the customer?", False),
        ("I did the dishes and told her", False),
        ("Where is the rack?", False),
    ],
)
def test_a_question_about_a_conversation_is_known_by_its_form(text: str, about_talk: bool) -> None:
    assert asks_what_was_said(text) == about_talk


def test_a_question_refers_back_by_a_word_that_stands_for_something() -> None:
    assert refers_back("And how long does it take?")
    assert refers_back("Why that?")
    assert not refers_back("It works now.")
    assert not refers_back("Does that server restart?")
