"""What a profile makes of a draft: cleaned, filled in, or refused with the field named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.memory import Draft
from holdfast.domain.profile import Profile
from holdfast.errors import Invalid, TooLong, TooShort, UnknownCategory
from holdfast.profiles import BUILT_IN, built_in
from tests.requirements_ledger import requirement

ANY_TEXT = st.text(alphabet=st.characters(), max_size=40)
DEFAULT = built_in("default")


def draft(**changes: object) -> Draft:
    return replace(Draft(content="Takes 60s to start"), **changes)  # type: ignore[arg-type]


@given(
    st.sampled_from(BUILT_IN),
    st.builds(
        Draft,
        content=ANY_TEXT,
        subject=st.none() | ANY_TEXT,
        summary=st.none() | ANY_TEXT,
        project=st.none() | ANY_TEXT,
        confidence=st.none() | st.floats(),
        importance=st.none() | st.integers(-1, 7),
        tags=st.lists(ANY_TEXT, max_size=4).map(tuple),
    ),
)
def test_a_checked_draft_passes_again_unchanged(name: str, given_one: Draft) -> None:
    profile = built_in(name)
    given_one = replace(given_one, category=profile.category_names[0])

    try:
        checked = profile.checked(given_one)
    except Invalid:
        return

    assert profile.checked(checked) == checked
    assert checked.confidence is not None
    assert 0.0 <= checked.confidence <= 1.0
    assert checked.content == checked.content.strip() != ""


@requirement("asst.categories", "ops.category.accepted")
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_category_of_a_profile_is_accepted_and_no_other(name: str) -> None:
    profile = built_in(name)

    for category in profile.category_names:
        assert profile.checked_category(category) == category
    for wrong in ("", "nonsense", profile.category_names[0].upper(), f" {profile.category_names[0]}"):
        with pytest.raises(UnknownCategory) as refusal:
            profile.checked_category(wrong)
        assert all(category in str(refusal.value) for category in profile.category_names)


@pytest.mark.parametrize(
    ("name", "needed"), [("ops", True), ("assistant", True), ("files", True), ("default", False)]
)
def test_a_category_is_needed_unless_the_profile_has_a_default(name: str, needed: bool) -> None:
    profile = built_in(name)

    if needed:
        with pytest.raises(Invalid, match="category"):
            profile.checked(draft())
    else:
        assert profile.checked(draft()).category == profile.default_category


@pytest.mark.parametrize(
    ("profile", "length", "error"),
    [
        (DEFAULT, 0, TooShort),
        (DEFAULT, 1, None),
        (DEFAULT, 16_384, None),
        (DEFAULT, 16_385, TooLong),
        (built_in("assistant"), 4, TooShort),
        (built_in("assistant"), 5, None),
        (built_in("assistant"), 500, None),
        (built_in("assistant"), 501, TooLong),
        (built_in("files"), 65_536, None),
        (built_in("files"), 65_537, TooLong),
    ],
    ids=lambda value: getattr(value, "name", None) or str(value),
)
def test_a_text_is_taken_within_the_profile_s_limits(
    profile: Profile, length: int, error: type[Exception] | None
) -> None:
    if error is None:
        assert profile.checked_content("é" * length) == "é" * length
    else:
        with pytest.raises(error):
            profile.checked_content("é" * length)


def test_limits_count_what_is_left_after_cleaning() -> None:
    padded = "  \x00" + "x" * 16_384 + "\u200b\n"

    assert DEFAULT.checked_content(padded) == "x" * 16_384


def test_the_ops_profile_makes_one_line_of_many() -> None:
    assert built_in("ops").checked_content("first\nsecond\u2028third") == "first second third"


def test_the_heading_over_general_memories_is_no_subject() -> None:
    for subject in ("general", "General", " GENERAL ", "", "  "):
        assert built_in("ops").checked(draft(category="timing", subject=subject)).subject is None


def test_tags_are_sorted_unique_and_not_blank() -> None:
    checked = DEFAULT.checked(draft(tags=("b", "a", " b ", "", "\u200b", "a\nc")))

    assert checked.tags == ("a", "a c", "b")


@pytest.mark.parametrize("importance", [0, 6, -1, 100])
def test_importance_is_1_to_5(importance: int) -> None:
    with pytest.raises(Invalid, match="1 to 5"):
        DEFAULT.checked(draft(importance=importance))
