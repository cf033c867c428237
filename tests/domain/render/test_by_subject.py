"""The block of what is known of each service."""

import pytest

from holdfast.domain.memory import Memory
from holdfast.domain.render import render
from holdfast.profiles import built_in
from tests.domain.render.samples import memory
from tests.requirements_ledger import requirement

OPS = built_in("ops")


def known() -> list[Memory]:
    return [
        memory(1, "DNS checks sometimes fail", category="remediation", confidence=0.6),
        memory(2, "First restart always fails", category="behavior", subject="jellyfin", confidence=0.85),
        memory(3, "Takes 60s to start after restart", category="timing", subject="jellyfin", confidence=0.9),
        memory(
            4, "Starts after WireGuard", category="dependency", subject="caddy", confidence=1, origin="import"
        ),
    ]


@requirement("ops.brief.format")
def test_memories_stand_under_their_services_and_the_general_ones_last() -> None:
    block = render(known(), OPS)

    assert block.text == (
        "## Operational Memory (4 memories, ~84 tokens)\n"
        "\n"
        "### caddy\n"
        "- [dependency] Starts after WireGuard (confidence: 1.0) (from import)\n"
        "\n"
        "### jellyfin\n"
        "- [timing] Takes 60s to start after restart (confidence: 0.9)\n"
        "- [behavior] First restart always fails (confidence: 0.85)\n"
        "\n"
        "### general\n"
        "- [remediation] DNS checks sometimes fail (confidence: 0.6)\n"
    )
    assert [one.id for one in block.included] == ["id000004", "id000003", "id000002", "id000001"]
    assert (block.left_out, block.tokens) == (0, 84)


@requirement("ops.brief.format")
def test_equal_confidence_falls_back_on_creation_then_id() -> None:
    twins = [memory(3, "c", hours=1), memory(2, "b", hours=1), memory(1, "a", hours=2)]

    assert [one.content for one in render(twins, OPS).included] == ["b", "c", "a"]


@requirement("ops.brief.format")
@pytest.mark.parametrize(
    ("confidence", "shown"), [(1, "1.0"), (0.9, "0.9"), (0.85, "0.85"), (0.8499, "0.85"), (0.3, "0.3")]
)
def test_confidence_has_at_most_two_decimals(confidence: float, shown: str) -> None:
    assert f"(confidence: {shown})\n" in render([memory(1, "x", confidence=confidence)], OPS).text


@requirement("ops.brief.format")
@pytest.mark.parametrize("origin", ["import", "tool", "file"])
def test_untrusted_origins_are_named_at_the_end(origin: str) -> None:
    text = render([memory(1, "x", origin=origin)], OPS).text  # type: ignore[arg-type]

    assert text.endswith(f"- [timing] x (confidence: 0.7) (from {origin})\n")


@pytest.mark.parametrize("origin", ["operator", "user", "assistant"])
def test_trusted_origins_are_not_named(origin: str) -> None:
    assert "(from" not in render([memory(1, "x", origin=origin)], OPS).text  # type: ignore[arg-type]


@requirement("ops.brief.count")
def test_the_header_counts_in_the_singular_and_in_thousands() -> None:
    one, many = [memory(1, "x")], [memory(number, "word " * 40) for number in range(60)]

    assert render(one, OPS).text.startswith("## Operational Memory (1 memory, ~")
    text = render(many, OPS).text
    assert text.startswith("## Operational Memory (34 of 60 memories, ~1,973 tokens)\n")


@requirement("ops.brief.budget")
@pytest.mark.parametrize("budget", [30, 99, 100, 101, 400, 999, 1_000, 1_001, 2_000, 9_999, 10_000])
def test_the_count_in_the_header_is_the_size_of_the_whole_block(budget: int) -> None:
    many = [memory(number, "x" * (number % 37), subject=f"svc{number % 5}") for number in range(900)]

    block = render(many, OPS, budget=budget)

    assert f"~{block.tokens:,} tokens)" in block.text.split("\n", 1)[0]
    assert -(-len(block.text) // 4) == block.tokens <= budget


@requirement("ops.brief.budget")
def test_the_most_certain_are_taken_and_a_smaller_one_fills_the_gap() -> None:
    sure = memory(1, "sure", confidence=0.9)
    long = memory(2, "long " * 100, confidence=0.8)
    short = memory(3, "short", confidence=0.4)

    block = render([long, short, sure], OPS, budget=60)

    assert block.included == (sure, short)
    assert block.left_out == 1
    assert "(2 of 3 memories," in block.text


@requirement("ops.brief.budget")
def test_the_estimate_can_be_replaced() -> None:
    words = render(known(), OPS, budget=30, estimate=lambda text: len(text.split()))

    assert words.tokens == len(words.text.split()) <= 30
    assert f"~{words.tokens} tokens" in words.text


def test_an_estimate_that_never_settles_still_keeps_the_budget() -> None:
    def fickle(text: str) -> int:
        return len(text) // 4 + text.count("1") * 3

    block = render(known(), OPS, budget=80, estimate=fickle)

    assert fickle(block.text) <= 80


def test_pinned_memories_are_taken_first() -> None:
    pinned = memory(1, "pinned", confidence=0.3, pinned=True)
    others = [memory(number, "other", confidence=0.9) for number in range(2, 9)]

    assert render([*others, pinned], OPS, budget=27).included == (pinned,)


@requirement("ops.brief.service")
def test_the_service_asked_for_comes_first_then_the_general_ones() -> None:
    text = render(known(), OPS, subject="Jellyfin").text

    headings = [line for line in text.splitlines() if line.startswith("### ")]
    assert headings == ["### jellyfin", "### general", "### caddy"]


@requirement("ops.brief.service")
def test_the_service_asked_for_is_taken_before_more_certain_ones() -> None:
    taken = render(known(), OPS, subject="jellyfin", budget=66).included

    assert [one.subject for one in taken] == ["jellyfin", "jellyfin", None]


@requirement("ops.brief.empty")
def test_nothing_to_show_or_no_room_gives_the_empty_string() -> None:
    nothing = render([], OPS)
    no_budget = render(known(), OPS, budget=0)
    no_room = render(known(), OPS, budget=12)

    assert nothing.text == no_budget.text == no_room.text == ""
    assert (no_room.included, no_room.left_out, no_room.tokens) == ((), 4, 0)


@requirement("ops.confidence.floor")
def test_a_memory_below_the_floor_or_not_active_is_never_shown() -> None:
    faint = memory(1, "faint", confidence=0.2999)
    off = [memory(2, state, state=state) for state in ("inactive", "waiting", "forgotten")]
    edge = memory(3, "edge", confidence=0.3)

    block = render([faint, *off, edge], OPS)

    assert block.included == (edge,)
    assert "(1 memory," in block.text


def test_a_subject_that_bears_the_general_heading_joins_it() -> None:
    block = render(
        [memory(1, "a", subject="General"), memory(2, "b"), memory(3, "c", subject=" \u200b")], OPS
    )

    assert block.text.count("### ") == 1
