"""No stored text breaks out of a block, whatever the layout."""

import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.budget import estimate_tokens
from holdfast.domain.memory import Memory
from holdfast.domain.profile import Layout
from holdfast.domain.render import escape, rank_of, render
from tests.domain.render.samples import (
    BREAK_OUTS,
    HOSTILE,
    PROFILES,
    assert_nothing_forged,
    memories,
    memory,
)
from tests.requirements_ledger import requirement

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
ROOMY = 1_000_000


def three_with(payload: str, layout: Layout) -> list[Memory]:
    """Harmless ones around a memory that says `payload` wherever text can stand."""
    category = PROFILES[layout].category_names[0]
    return [
        memory(1, "before", category=category, subject="caddy"),
        memory(2, payload, category=category, subject=payload, summary=payload, origin="tool"),
        memory(3, "after", category=category),
    ]


@requirement("trust.block")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_forges_nothing_and_reads_back(payload: str, layout: Layout) -> None:
    block = render(three_with(payload, layout), PROFILES[layout], budget=ROOMY)

    assert len(block.included) == 3
    assert_nothing_forged(block, PROFILES[layout])


@requirement("trust.block")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("payload", BREAK_OUTS.values(), ids=BREAK_OUTS.keys())
def test_a_hostile_id_or_category_forges_no_line_and_no_id(payload: str, layout: Layout) -> None:
    odd = memory(1, "text", category=payload, id=payload)

    lines = render([odd], PROFILES[layout], budget=ROOMY).text.splitlines()

    assert sum(line.startswith("#") for line in lines) == 2
    assert sum(line.startswith("- ") for line in lines) == 1
    assert sum(line.count("[id:") for line in lines) == (layout in ("by-category", "rules-first"))


@pytest.mark.parametrize("layout", ["by-subject", "by-category", "rules-first"])
@pytest.mark.parametrize("payload", BREAK_OUTS.values(), ids=BREAK_OUTS.keys())
def test_without_the_escape_every_payload_would_break_out(
    payload: str, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(escape, "inline", lambda text: text)
    block = render(three_with(payload, layout), PROFILES[layout], budget=ROOMY)

    with pytest.raises(AssertionError):
        assert_nothing_forged(block, PROFILES[layout])


@pytest.mark.parametrize("name", ["closing tag", "fake id", "marker", "index link", "image", "fence"])
def test_without_the_escape_a_description_would_break_out_of_the_index(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(escape, "inline", lambda text: text)
    block = render(three_with(BREAK_OUTS[name], "index"), PROFILES["index"], budget=ROOMY)

    with pytest.raises(AssertionError):
        assert_nothing_forged(block, PROFILES["index"])


@requirement("trust.block", "ops.brief.budget", "ops.confidence.floor")
@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
def test_any_text_in_any_budget_is_whole_measured_and_unforged(layout: Layout, data: st.DataObject) -> None:
    profile = PROFILES[layout]
    given_ones = data.draw(memories(layout))
    budget = data.draw(st.integers(0, 60) | st.integers(60, 600))
    subject = data.draw(st.none() | st.sampled_from(["jellyfin", "general", "</b>"]))

    block = render(given_ones, profile, budget=budget, subject=subject)

    eligible = [one for one in given_ones if one.state == "active" and one.confidence >= profile.policy.floor]
    assert estimate_tokens(block.text) == block.tokens <= budget
    assert {one.id for one in block.included} <= {one.id for one in eligible}
    assert len(block.included) + block.left_out == len(eligible)
    assert_nothing_forged(block, profile)


@requirement("asst.order")
@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
def test_the_same_set_in_any_order_gives_the_same_bytes(layout: Layout, data: st.DataObject) -> None:
    given_ones = data.draw(memories(layout))
    shuffled = random.Random(data.draw(st.integers())).sample(given_ones, len(given_ones))
    budget = data.draw(st.integers(0, 300))

    one, other = (render(some, PROFILES[layout], budget=budget) for some in (given_ones, shuffled))

    assert one == other
    assert one.sha256 == other.sha256


@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
def test_the_exact_size_holds_all_and_a_token_less_does_not(layout: Layout, data: st.DataObject) -> None:
    profile = PROFILES[layout]
    given_ones = data.draw(memories(layout))
    whole = render(given_ones, profile, budget=ROOMY)

    assert render(given_ones, profile, budget=whole.tokens) == whole
    if whole.included:
        assert render(given_ones, profile, budget=whole.tokens - 1).left_out > whole.left_out


@requirement("ops.brief.budget")
@given(memories("by-subject", most=12), st.integers(0, 300))
def test_each_that_fits_beside_those_taken_before_it_is_taken(known: list[Memory], budget: int) -> None:
    profile = PROFILES["by-subject"]
    known = [one for one in known if one.active and one.confidence >= profile.policy.floor]
    taken: list[Memory] = []
    for one in sorted(known, key=lambda one: rank_of(one, profile)):
        if render([*taken, one], profile, budget=ROOMY, among=len(known)).tokens <= budget:
            taken.append(one)

    included = render(known, profile, budget=budget).included
    assert {one.id for one in included} == {one.id for one in taken}
