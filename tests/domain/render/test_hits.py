"""What recall found, as a block for a prompt: notes and quotes that nobody breaks out of."""

from datetime import UTC, datetime

import pytest

from holdfast.domain.budget import estimate_tokens
from holdfast.domain.memory import Message
from holdfast.domain.ranking import Hit, MemoryHit, MessageHit
from holdfast.domain.render import render_hits
from tests.domain.render.samples import HOSTILE, memory
from tests.requirements_ledger import requirement

ROOMY = 1_000_000


def note(number: int, content: str, **fields: object) -> MemoryHit:
    return MemoryHit(memory(number, content, category="fact", **fields), 1.0, {}, {})  # type: ignore[arg-type]


def quote(content: str, speaker: str | None = None) -> MessageHit:
    said_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    said = Message(
        id="m1", session="s1", number=1, role="user", speaker=speaker, content=content, said_at=said_at
    )
    return MessageHit(said, None, 1.0, {}, {})


def test_memories_are_notes_and_messages_are_quotes() -> None:
    hits: list[Hit] = [
        note(1, "Takes 60s", subject="jellyfin", origin="tool"),
        quote("I moved it", "Caroline"),
        quote("And I"),
    ]

    block = render_hits(hits, wanted=(), budget=500, most=10)

    lines = block.text.splitlines()
    assert lines[0] == "## Relevant memories"
    assert lines[4].endswith("[fact] jellyfin: Takes 60s (from tool)")
    assert lines[5] == '- [said 2026-03-01 by Caroline] "I moved it"'
    assert lines[6] == '- [said 2026-03-01 by user] "And I"'
    assert block.included == tuple(hits)
    assert block.tokens == estimate_tokens(block.text)


def test_at_most_so_many_are_shown_and_memories_that_may_have_aged_with_their_date() -> None:
    hits: list[Hit] = [note(number, f"Fact {number}") for number in (1, 2, 3)]

    block = render_hits(
        hits, wanted=(), budget=500, most=2, dated={"id000002": datetime(2026, 3, 1, tzinfo=UTC)}
    )

    assert block.included == tuple(hits[:2])
    assert block.text.splitlines()[4:] == [
        "- [id:id000001] [fact] Fact 1",
        "- [id:id000002] [fact, 2026-03-01] Fact 2",
    ]


def test_of_a_long_memory_as_much_is_shown_as_fits() -> None:
    long = "Nothing much is known. " * 60 + "The museum opens at ten. " + "Nothing much is known. " * 60

    for budget in (60, 90, 150):
        block = render_hits([note(1, long)], wanted={"museum"}, budget=budget, most=3)

        assert "The museum opens at ten." in block.text
        assert block.tokens <= budget


def test_nothing_found_is_no_text() -> None:
    assert render_hits([], wanted=(), budget=500, most=10).text == ""


@pytest.mark.parametrize("budget", [0, 10, 40, 80, 200])
def test_the_whole_block_stays_within_its_budget_and_takes_what_fits(budget: int) -> None:
    hits: list[Hit] = [note(1, "word " * 60), note(2, "short"), quote("word " * 90), note(3, "short too")]

    block = render_hits(hits, wanted=(), budget=budget, most=10)

    assert block.tokens == estimate_tokens(block.text) <= budget
    assert [hit for hit in hits if hit in block.included] == list(block.included)
    assert (hits[1] in block.included) == (budget >= 40)


def test_of_a_long_message_the_part_that_was_asked_for_is_quoted() -> None:
    long = "Nothing much happened. " * 60 + "The museum opens at ten. " + "Nothing much happened. " * 60

    text = render_hits([quote(long)], wanted={"museum"}, budget=500, most=10).text

    assert "The museum opens at ten." in text
    assert len(text) < 700


@requirement("trust.block")
@pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_was_said_forges_nothing(payload: str) -> None:
    hits: list[Hit] = [
        note(1, "before"),
        quote(payload, payload),
        note(2, payload, subject=payload),
        note(3, "after"),
    ]

    lines = render_hits(hits, wanted=(), budget=ROOMY, most=10).text.splitlines()

    assert [line[:2] for line in lines] == ["##", "", "Re", "", "- ", "- ", "- ", "- "]
    assert [line.count("[id:") for line in lines[4:]] == [1, 0, 1, 1]
    assert lines[5].startswith("- [said 2026-03-01 by ")
    assert "</" not in "".join(lines)
    assert "```" not in "".join(lines)
