"""What a question asks for, before anything is searched."""

from datetime import date

from holdfast.language.question import question

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
