"""Thousands of sessions with markers everywhere: only what the assistant itself says becomes memory."""

from __future__ import annotations

import pytest

from holdfast import Memories
from holdfast.agents.stream import ClaudeCodeStream
from holdfast.app.wiring import open_store
from holdfast.domain.agent_events import AssistantText, OtherText, TurnEnd
from holdfast.domain.markers import Echoes, MemoryMarker, read
from holdfast.domain.query import EVERYTHING
from holdfast.engine.spaces import create_space
from holdfast.profiles import built_in
from holdfast.testing import FixedClock
from tests.agents.run.listening import Listener, contents
from tests.agents.stream.transcripts import Transcript, generated
from tests.requirements_ledger import requirement

TRANSCRIPTS = 2_000
A_SPACE = 50  # transcripts that share one; with more of them, comparing takes most of the time


@requirement("ops.marker.assistant-text-only", "ops.marker.quoted", "ops.marker.echo")
@pytest.mark.parametrize("amount", [10, pytest.param(TRANSCRIPTS, marks=pytest.mark.faults)])
@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_no_memory_comes_from_anything_but_assistant_text(
    sqlite_url: str, clock: FixedClock, amount: int
) -> None:
    store = open_store(sqlite_url)
    kept = waiting = planted = 0
    for first in range(0, amount, A_SPACE):
        space = f"s{first}"
        create_space(space, store=store, clock=clock, profile="ops")
        transcripts = [generated(seed) for seed in range(first, min(first + A_SPACE, amount))]
        agent = Listener(Memories.of(store, space, clock=clock))
        for transcript in transcripts:
            agent.session(*transcript.lines)
        assert_only_what_was_said(agent.memories, transcripts)
        kept += sum(len(transcript.kept) for transcript in transcripts)
        waiting += sum(len(transcript.waiting) for transcript in transcripts)
        planted += sum(len(transcript.planted) for transcript in transcripts)
    store.close()

    assert kept > amount
    assert waiting > amount / 3
    assert planted > 5 * amount


@pytest.mark.slow
@requirement("ops.marker.assistant-text-only", "ops.marker.quoted", "ops.marker.echo")
def test_of_two_thousand_transcripts_exactly_the_right_markers_are_read() -> None:
    for seed in range(TRANSCRIPTS):
        transcript = generated(seed)

        kept, waiting = fates(transcript)

        assert kept == transcript.kept, f"transcript {seed}"
        assert waiting == transcript.waiting, f"transcript {seed}"


def fates(transcript: Transcript) -> tuple[set[str], set[str]]:
    """What would be kept, and what would wait, of the markers of a transcript."""
    stream, echoes, ops = ClaudeCodeStream(), Echoes(), built_in("ops")
    kept: set[str] = set()
    waiting: set[str] = set()
    for line in transcript.lines:
        for happening in stream.line(line):
            match happening:
                case OtherText(text):
                    echoes.read(text)
                case AssistantText(text):
                    for marker in read(text, ops):
                        assert isinstance(marker, MemoryMarker)
                        (waiting if echoes.was_read(marker.text) else kept).add(marker.text)
                case TurnEnd():
                    pass
    return kept, waiting


def assert_only_what_was_said(memories: Memories, transcripts: list[Transcript]) -> None:
    found = memories.find(EVERYTHING).memories
    active = contents(memory for memory in found if memory.active)
    assert active == set().union(*(transcript.kept for transcript in transcripts))
    assert contents(found) - active == set().union(*(transcript.waiting for transcript in transcripts))
