"""What speaks for a message: by itself, by those around it, and by who said it when."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

import pytest

from holdfast.domain.memory import Message
from holdfast.domain.ranking import SHARE, Telling
from holdfast.domain.terms import held
from holdfast.language.message_ranking import (
    FLOOR,
    MessageScore,
    Place,
    ScoredMessage,
    heard,
    neighbours,
    promising,
    weighed,
)
from holdfast.language.question import ParsedQuestion, question

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TODAY = date(2026, 3, 11)
SPEAKERS = ("Caroline", "Melanie")
FILLER = "and that was all there was to say about it for quite some time"


def message(
    number: int, content: str, *, speaker: str = "Melanie", session: str = "s1", days: int = 0
) -> Message:
    return Message(
        id=f"{session}-{number}",
        session=session,
        number=number,
        role="user",
        speaker=speaker,
        content=content,
        said_at=START + timedelta(days=days),
    )


def asked(text: str) -> ParsedQuestion:
    return question(text, SPEAKERS, TODAY)


def ranked(
    text: str, messages: list[Message], cosines: Mapping[str, tuple[float, ...]] | None = None
) -> dict[Place, MessageScore]:
    """All messages with what speaks for them; by words alone without cosines."""
    holds = [held(one.content or "") for one in messages]
    counts = Counter(base for each in holds for base in each.stems)
    telling = Telling.of(asked(text).spoken_terms, counts, len(messages))
    told = heard(messages, cosines or {}, asked(text), telling)
    return weighed(told, told, telling, by_meaning=cosines is not None)


def alike(messages: list[Message], cosine: float = 0.3, forms: int = 1) -> dict[str, tuple[float, ...]]:
    return {one.id: (cosine,) * forms for one in messages}


def test_each_person_is_compared_with_the_form_that_they_would_have_used() -> None:
    told = [message(1, FILLER, speaker="Caroline"), message(5, FILLER, speaker="Melanie")]
    by_her, to_her = (0.1, 0.6, 0.0), (0.1, 0.0, 0.6)

    right = ranked("what did Caroline paint", told, {"s1-1": by_her, "s1-5": to_her})
    wrong = ranked("what did Caroline paint", told, {"s1-1": to_her, "s1-5": by_her})

    for place in (("s1", 1), ("s1", 5)):
        assert right[place].evidence["meaning"] > wrong[place].evidence["meaning"]


def test_what_is_said_before_and_after_has_its_share() -> None:
    told = [message(number, FILLER) for number in (1, 2, 3, 8)]
    cosines = {"s1-1": (0.9,), "s1-2": (0.2,), "s1-3": (0.9,), "s1-8": (0.2,)}

    found = ranked("painting", told, cosines)

    assert found["s1", 2].evidence["meaning"] > found["s1", 8].evidence["meaning"]


def test_words_of_a_neighbour_and_of_the_session_speak_for_a_message() -> None:
    told = [message(1, f"Which museum? {FILLER}"), message(2, FILLER), message(1, FILLER, session="s2")]

    found = ranked("the museum", told, alike(told))

    near, far = found["s1", 2].evidence, found["s2", 1].evidence
    assert near["neighbours"] > 0
    assert near["session"] > 0
    assert "neighbours" not in far
    assert "session" not in far


def test_the_one_asked_about_is_heard_first() -> None:
    told = [message(1, FILLER, speaker="Caroline"), message(5, FILLER)]

    found = ranked("what does Caroline paint", told, alike(told, forms=3))

    assert found["s1", 1].evidence["speaker"] > 0
    assert "speaker" not in found["s1", 5].evidence


def test_days_in_the_question_lift_what_was_said_on_them() -> None:
    told = [message(1, FILLER), message(1, FILLER, session="s2", days=-200)]

    found = ranked("what about painting last week", told, alike(told))

    assert found["s1", 1].evidence["date"] == pytest.approx(max(found["s1", 1].evidence.values()))
    assert "date" not in found["s2", 1].evidence


def test_asked_when_a_message_that_names_a_time_is_likelier() -> None:
    told = [message(1, f"We moved yesterday {FILLER}"), message(5, f"We moved {FILLER}")]

    found = ranked("when did they move", told, alike(told))

    assert found["s1", 1].evidence["time"] > 0
    assert "time" not in found["s1", 5].evidence


def test_a_word_of_thanks_answers_less_than_a_sentence() -> None:
    told = [message(1, "Thanks!"), message(5, " ".join([FILLER] * 4))]

    found = ranked("painting", told, alike(told))

    assert found["s1", 1].evidence["brevity"] < 0
    assert "brevity" not in found["s1", 5].evidence


def test_surroundings_alone_never_make_an_answer() -> None:
    told = [message(1, f"museum {FILLER}", speaker="Caroline"), message(2, FILLER, speaker="Caroline")]

    found = ranked("what did Caroline say of the museum last week", told, alike(told, 0.05, forms=3))

    silent = found["s1", 2]
    assert sum(silent.evidence.values()) > silent.own
    assert silent.own < FLOOR


def test_without_meaning_all_of_the_questions_words_are_a_whole_share() -> None:
    told = [message(1, "The museum in Lisbon"), message(9, FILLER)]

    found = ranked("museum Lisbon", told)

    assert found["s1", 1].own == pytest.approx(1.0)
    assert "meaning" not in found["s1", 1].evidence
    assert found["s1", 9].own < SHARE


def test_neighbours_are_sought_for_the_best_only() -> None:
    told = [message(number, FILLER) for number in range(1, 8)]
    cosines = {one.id: (one.number / 10,) for one in told}
    telling = Telling.of(asked("painting").spoken_terms, Counter(), 7)
    by_place: dict[Place, ScoredMessage] = heard(told, cosines, asked("painting"), telling)

    assert promising(by_place, 2) == [("s1", 7), ("s1", 6)]
    assert neighbours([("s1", 7), ("s2", 1)]) == {("s1", 6), ("s1", 8), ("s2", 0), ("s2", 2)}
