"""What speaks for a memory, and from where on it counts as an answer."""

from collections import Counter

import pytest

from holdfast.domain.ranking import (
    FLOOR,
    SHARE,
    Telling,
    covers,
    evidence,
    floor,
    rarity,
    share,
    shared_ideas,
)
from holdfast.domain.terms import asked, held

TEXTS = ("Alec is the user's boss", "The invoice is due on Friday", "Backups run nightly", "Tea at four")


def telling(question: str) -> Telling:
    holds = [held(text) for text in TEXTS]
    counts = Counter(base for each in holds for base in each.stems)
    return Telling.of(asked(question), counts, len(TEXTS), holds)


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


def test_an_idea_counts_where_the_word_itself_is_missing() -> None:
    wanted = telling("the bill")

    assert shared_ideas(wanted, held("The invoice comes on Friday")) > 0
    assert shared_ideas(wanted, held("The bill comes on Friday")) == 0


def test_a_text_that_holds_every_term_is_not_about_the_world() -> None:
    assert covers(telling("who is the boss?"), held("Alec is the user's boss"))
    assert covers(telling("is the bill due?"), held("The invoice is due on Friday"))
    assert not covers(telling("who was the boss of Rome?"), held("Alec is the user's boss"))


def test_a_question_about_the_world_has_to_be_answered_better() -> None:
    assert floor(by_meaning=True, general=True) > floor(by_meaning=True, general=False) == FLOOR
    assert floor(by_meaning=False, general=True) == SHARE


def test_in_a_long_question_each_word_counts_less() -> None:
    short = telling("nightly backups")
    long = telling("nightly backups " + " ".join(f"word{number}" for number in range(60)))

    assert long.words["nightly"] < short.words["nightly"] / 4


def test_without_meaning_it_is_the_share_of_the_questions_words() -> None:
    assert share(telling("nightly backups"), held("Backups run nightly")) == pytest.approx(1.0)
    assert 0 < share(telling("nightly tea"), held("Backups run nightly")) < 1
    assert share(telling("something else"), held("Backups run nightly")) == 0
