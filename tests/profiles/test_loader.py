"""Profiles from TOML: built-in ones load, a user's own works, a bad one is refused with line and reason."""

from __future__ import annotations

import pytest

from holdfast.app import wiring
from holdfast.domain.outcomes import Added
from holdfast.engine.memories import Memories
from holdfast.engine.spaces import create_space
from holdfast.errors import Invalid, TooLong, UnknownCategory
from holdfast.profiles import BUILT_IN, built_in, built_in_text, parse
from holdfast.testing import FixedClock

GARDEN = """\
name = "garden"
says = "What grows where."
default_category = "plant"

[[category]]
name = "plant"
says = "What was planted."
[[category]]
name = "pest"

[limits]
content_max = 40

[policy]
on_same = "reinforce"
on_contradiction = "weaken"
removal = "soft"
floor = 0.3
reinforce_by = 0.2

[block]
layout = "by-category"
title = "Garden"
"""


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_built_in_profile_loads_under_its_name(name: str) -> None:
    profile = built_in(name)

    assert profile.name == name
    assert profile.says
    assert parse(built_in_text(name)) == profile


def test_an_unknown_built_in_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid) as refusal:
        built_in("nonsense")

    assert all(name in str(refusal.value) for name in BUILT_IN)


def test_what_a_profile_leaves_out_has_the_usual_value() -> None:
    garden = parse(GARDEN)

    assert garden.limits.subject_max == 200
    assert garden.policy.importance == 3
    assert garden.block.budget == 2_000


# (what to replace, with what, the line it must name, words of the reason)
BAD: dict[str, tuple[str, str, int | None, str]] = {
    "no TOML": ("[limits]", "[limits", 11, ""),
    "a value twice": ('says = "What grows where."', 'name = "again"', 2, ""),
    "no name": ('name = "garden"\n', "", None, "name is required"),
    "a number for a name": ('name = "garden"', "name = 7", 1, "name is required"),
    "a blank name": ('name = "garden"', 'name = "  "', 1, "name is required"),
    "a name with a space": ('name = "garden"', 'name = "my garden"', 1, "invalid profile name"),
    "an upper-case name": ('name = "garden"', 'name = "Garden"', 1, "invalid profile name"),
    "an unknown name at the top": ("default_category", "favourite", 3, "unknown key"),
    "a default that is none": (
        'default_category = "plant"',
        'default_category = "tree"',
        3,
        "not one of its",
    ),
    "a default that is a number": ('default_category = "plant"', "default_category = 3", 3, "not one of its"),
    "an unknown limit": ("content_max", "content_most", 12, "unknown key"),
    "a limit in words": ("content_max = 40", 'content_max = "40"', 12, "expected int"),
    "a limit that is true": ("content_max = 40", "content_max = true", 12, "expected int"),
    "a limit of 0": ("content_max = 40", "content_max = 0", 12, "expected 1 to"),
    "an enormous limit": ("content_max = 40", "content_max = 9_000_000", 12, "1,000,000"),
    "an unknown policy": ('"reinforce"', '"repeat"', 15, "use one of"),
    "a policy missing": ('removal = "soft"\n', "", 14, "needs removal"),
    "a floor over 1": ("floor = 0.3", "floor = 1.5", 18, "0 to 1"),
    "a floor that is no number": ("floor = 0.3", "floor = nan", 18, "0 to 1"),
    "a negative step": ("reinforce_by = 0.2", "reinforce_by = -0.2", 19, "0 to 1"),
    "an importance of 9": ("floor = 0.3", "importance = 9", 18, "1 to 5"),
    "an unknown layout": ('"by-category"', '"by-colour"', 22, "use one of"),
    "an intro that is one text": ('title = "Garden"', 'title = "Garden"\nintro = "x"', 24, "intro"),
    "an intro of numbers": ('title = "Garden"', 'title = "Garden"\nintro = [1]', 24, "intro"),
    "a negative budget": ('title = "Garden"', 'title = "Garden"\nbudget = -1', 24, "expected 0"),
    "no categories": ("[[category]]\nname", "[[categories]]\nname", None, "unknown key"),
    "a category with a space": ('name = "pest"', 'name = "big pest"', 9, "invalid category name"),
    "an unknown word in a category": ('name = "pest"', 'name = "pest"\ncolour = "red"', 10, "unknown key"),
    "policy that is a text": ("[policy]", "[block2]", 14, "unknown key"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_profile_is_refused_with_the_line_and_the_reason(name: str) -> None:
    old, new, line, reason = BAD[name]
    text = GARDEN.replace(old, new)
    assert text != GARDEN

    with pytest.raises(Invalid) as refusal:
        parse(text, where="garden.toml")

    said = str(refusal.value)
    assert said.startswith("garden.toml")
    assert reason in said
    if line is not None:
        assert f"line {line}" in said
    assert refusal.value.field == "profile"


STRANGER: dict[str, tuple[str, str, int | None]] = {
    "categories that are texts": (GARDEN[GARDEN.index("[[category]]") : GARDEN.index("[limits]")], "", None),
    "a category twice names the second line": ('name = "pest"', 'name = "plant"', 9),
    "a word of a description is not the line": (
        'says = "What was planted."',
        'says = "Its importance grows"\n#',
        None,
    ),
    "a grace that overflows time": ("floor = 0.3", "decay_by = 0.1\ndecay_after_days = 9_999_999_999", 19),
    "a negative grace": ("floor = 0.3", "decay_after_days = -5", 18),
    "a negative number of tags": ("content_max = 40", "tags = -1", 12),
    "a negative subject": ("content_max = 40", "subject_max = -1", 12),
    "importance that falls": ("floor = 0.3", "raise_importance_by = -3", 18),
    "negative lines": ('title = "Garden"', 'title = "Garden"\nlines = -1', 24),
}


@pytest.mark.parametrize("name", STRANGER)
def test_stranger_mistakes_are_refused_with_their_line_too(name: str) -> None:
    old, new, line = STRANGER[name]
    text = GARDEN.replace(old, new)
    if name == "categories that are texts":
        text = text.replace("default_category", 'category = ["plant"]\ndefault_category')
    if name == "a word of a description is not the line":
        text, line = text.replace("floor = 0.3", "importance = 9"), 19

    with pytest.raises(Invalid) as refusal:
        parse(text, where="garden.toml")

    if line is not None:
        assert f"line {line}" in str(refusal.value)


def test_a_user_s_own_profile_rules_its_space(database_url: str, clock: FixedClock) -> None:
    store = wiring.open_store(database_url)
    create_space("beds", store=store, clock=clock, text=GARDEN)
    garden = Memories.of(store, "beds", clock=clock)

    outcome = garden.remember("Beans stand in bed 3")
    again = garden.remember("Beans stand in bed 3")

    assert isinstance(outcome, Added)
    assert outcome.memory.category == "plant"
    assert garden.show(outcome.memory.id).memory.confidence == 0.9
    assert type(again).__name__ == "Reinforced"
    with pytest.raises(UnknownCategory, match="plant, pest"):
        garden.remember("Snails at night", category="timing")
    with pytest.raises(TooLong):
        garden.remember("x" * 41)
    assert "## Garden" in garden.brief().text
    store.close()
    reopened = wiring.open_store(database_url)
    assert Memories.of(reopened, "beds").profile == parse(GARDEN)
    reopened.close()


def test_a_space_with_a_bad_profile_is_not_created(database_url: str, clock: FixedClock) -> None:
    store = wiring.open_store(database_url)

    with pytest.raises(Invalid):
        create_space("beds", store=store, clock=clock, text=GARDEN.replace("0.3", "3"))

    assert store.space("beds") is None
    store.close()
