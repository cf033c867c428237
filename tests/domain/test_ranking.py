"""What speaks for a memory, and from where on it counts as an answer."""

from collections import Counter

import pytest

from holdfast.domain.ranking import (
    FLOOR,
    SHARE,
    Telling,
    bounded,
    evidence,
    floor,
    floor_of,
    odds,
    rarity,
    share,
)
from holdfast.domain.terms import asked, held

TEXTS = ("Alec is the user's boss", "The invoice is due on Friday", "Backups run nightly", "Tea at four")


def telling(question: str) -> Telling:
    holds = [held(text) for text in TEXTS]
    counts = Counter(base for each in holds for base in each.stems)
    return Telling.of(asked(question), counts, len(TEXTS))


def test_rarity_goes_from_one_to_nearly_nothing_in_every_space() -> None:
    for texts in (50, 1_000, 1_000_000):
        assert rarity(0, texts) == pytest.approx(1.0)
        assert rarity(1, texts) > rarity(10, texts) > rarity(texts, texts)
        assert rarity(texts, texts) < 0.2


def test_a_shared_word_speaks_more_in_a_shorter_text() -> None:
    wanted = telling("the nightly backups")

    short = evidence(held("Backups run nightly"), wanted, 0.5)
    long = evidence(held("Backups run nightly " + "and much else is said of this " * 9), wanted, 0.5)

    assert short["words"] > long["words"] > 0
    assert short["meaning"] == long["meaning"]


def test_what_was_not_read_is_held_against_one_floor() -> None:
    assert floor(by_meaning=True) == FLOOR
    assert floor(by_meaning=False) == SHARE


def test_one_that_surely_helps_is_enough_and_so_are_several_that_may() -> None:
    silent = floor_of([(0.3, odds(0.02))] * 8)

    assert floor_of([(0.5, odds(0.9))]) < silent
    assert floor_of([(0.4, odds(0.3))] * 8) < silent == floor_of([(0.4, odds(0.1))]) == floor_of([])
    assert floor_of([(0.1, odds(0.02))], words=0.8) < silent


def test_among_more_memories_more_has_to_speak_for_an_answer() -> None:
    read = [(0.38, odds(0.2))] * 8

    assert floor_of(read, among=3) == floor_of(read, among=60) < floor_of(read, among=50_000)
    assert floor_of([(0.4, odds(0.25))], among=3) < floor_of([(0.4, odds(0.25))], among=60)
    assert floor_of([(0.5, odds(0.97))] * 2, among=50_000) < floor_of(read, among=50_000)


def test_relevance_lies_between_0_and_1_and_grows_with_the_evidence() -> None:
    found = [bounded(step / 10, by_meaning=True) for step in range(-20, 30)]

    assert found == sorted(set(found))
    assert found[0] > 0
    assert found[-1] < 1


@pytest.mark.parametrize("probability", [0.0, 1e-12, 0.5, 1.0])
def test_odds_are_bounded(probability: float) -> None:
    assert abs(odds(probability)) < 6


def test_in_a_long_question_each_word_counts_less() -> None:
    short = telling("nightly backups")
    long = telling("nightly backups " + " ".join(f"word{number}" for number in range(60)))

    assert long.words["nightly"] < short.words["nightly"] / 4


def test_without_meaning_it_is_the_share_of_the_questions_words() -> None:
    assert share(telling("nightly backups"), held("Backups run nightly")) == pytest.approx(1.0)
    assert 0 < share(telling("nightly tea"), held("Backups run nightly")) < 1
    assert share(telling("something else"), held("Backups run nightly")) == 0
