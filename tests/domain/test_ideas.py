"""What calls what to mind: the lists are well formed and found as texts are cut; more in common is closer."""

from pathlib import Path

import pytest

import holdfast.domain.ideas as module
from holdfast.domain.compare.words import stem
from holdfast.domain.ideas import ideas
from holdfast.domain.ranking import Telling, shared_ideas
from holdfast.domain.terms import asked, held, terms
from holdfast.domain.words import words

DATA = Path(module.__file__).parent / "data"
LISTS = ("topics.txt", "themes.txt")


def groups(name: str) -> list[list[str]]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split(", ") for line in lines if line and not line.startswith("#")]


def common(left: str, right: str) -> int:
    """How many ideas two texts have in common."""
    return len(held(left).ideas & held(right).ideas)


def closeness(question: str, text: str) -> float:
    """What the ideas of `text` say to `question` in a space that holds little else."""
    wanted, holds = asked(question), held(text)
    counts = dict.fromkeys((base for term in wanted for base in term.stems), 0)
    return shared_ideas(Telling.of(wanted, counts, 100, [holds]), holds)


@pytest.mark.parametrize("name", LISTS)
def test_every_group_names_at_least_two_things_in_plain_form_and_none_twice(name: str) -> None:
    for group in groups(name):
        assert len(group) > 1, group
        assert len(set(group)) == len(group), group
        assert all(entry == entry.strip().lower() and entry for entry in group), group


@pytest.mark.parametrize("name", LISTS)
def test_every_entry_is_found_in_a_text_that_is_just_this_entry(name: str) -> None:
    known = ideas().of
    missing = [
        entry for group in groups(name) for entry in group if tuple(map(stem, words(entry))) not in known
    ]

    assert not missing


@pytest.mark.parametrize("written", ["Mother's Day", "draw.io", "a/b", "next.js", "on-call"])
def test_an_entry_with_signs_in_it_is_found_in_a_sentence(written: str) -> None:
    [known] = [term for term in terms(f"zzyzx {written} zzyzx") if term.ideas]

    assert known.ideas == ideas().of[tuple(map(stem, words(written)))]


def test_words_around_one_thing_share_an_idea_and_unrelated_ones_share_none() -> None:
    assert common("toothache", "dentist")
    assert common("grafana", "alert")
    assert not common("toothache", "grafana")
    assert not common("zzyzx", "dentist")


def test_a_phrase_is_not_the_sum_of_its_words() -> None:
    assert common("smoke detector", "fire alarm")
    assert not common("smoke detector", "cigarette")


def test_words_that_share_more_groups_are_closer() -> None:
    assert common("dentist", "tooth") > common("dentist", "appointment") > 0
    assert closeness("dentist", "tooth") > closeness("dentist", "appointment") > 0


def test_ideas_shared_without_end_count_less_than_double() -> None:
    rarest = 1.0
    for left in ("train", "account", "schedule", "plan"):
        for right in ("ticket", "calendar", "contract", "deadline"):
            assert closeness(left, right) < 2 * rarest


def test_a_word_that_the_text_holds_itself_counts_as_a_word_and_not_as_an_idea() -> None:
    assert closeness("dentist", "the dentist pulled a tooth") == 0
