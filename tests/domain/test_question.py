"""What a question asks for, before anything is searched."""

from datetime import date

import pytest

from holdfast.domain.question import is_general, question

TODAY = date(2026, 3, 11)


def stems(terms: object) -> set[str]:
    return {base for term in terms for base in term.stems}  # type: ignore[attr-defined]


def test_names_find_memories_but_not_messages() -> None:
    asked = question("When did Caroline buy the bicycle last week?", ["Caroline", "Melanie"], TODAY)

    assert "carolin" in {base[:7] for base in stems(asked.terms)}
    assert not any(base.startswith("carolin") for base in stems(asked.spoken_terms))
    assert asked.forms == (
        "When did Caroline buy the bicycle last week?",
        "When did I buy the bicycle last week?",
        "When did you buy the bicycle last week?",
    )
    assert asked.asks_when
    assert len(asked.days) == 1


def test_a_question_that_only_names_somebody_keeps_the_name() -> None:
    asked = question("Caroline?", ["Caroline", "Melanie"], TODAY)

    assert stems(asked.spoken_terms) == stems(asked.terms) != set()


@pytest.mark.parametrize("text", ["how do vaccines work", "who composed The Magic Flute?", "sort: b, a, c"])
def test_a_question_about_the_world_is_general(text: str) -> None:
    assert is_general(text)


@pytest.mark.parametrize("text", ["who is my manager", "WiFi problem", "what did we decide", "", "?!"])
def test_what_points_at_the_asker_is_not_general(text: str) -> None:
    assert not is_general(text)


def test_who_asks_about_a_known_speaker_does_not_ask_about_the_world() -> None:
    assert not question("What does Caroline paint?", ["Caroline", "Melanie"], TODAY).general
    assert question("What does Caroline paint?", [], TODAY).general
