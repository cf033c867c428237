"""No bytes break a reader: whatever stands in a file, it is read, skipped or counted, and never injected."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.importers import TRANSCRIPTS, note_format, transcript_format
from holdfast.language.injected_text import typed
from tests.agents.importers.written import SAMPLES, SESSION, codex_heading, gemini_heading
from tests.requirements_ledger import requirement

REAL = {
    "claude-code": SAMPLES / "claude_code_with_subagent.jsonl",
    "codex": SAMPLES / "codex_rollout.jsonl",
    "gemini": SAMPLES / "gemini_chat.jsonl",
}
#: Those that are read line by line; exports are lists, with tests of their own.
LINED = [form for form in TRANSCRIPTS if form in REAL]
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
#: Objects that look like lines of a client, with anything in any field.
FIELDS = st.sampled_from(
    "type message content role uuid id sessionId cwd timestamp payload text isMeta toolUseResult $set "
    "messages projectHash kind origin attachment aiTitle source "
    "internal_chat_message_metadata_passthrough".split()
)
KINDS = st.sampled_from(
    ["user", "assistant", "gemini", "message", "response_item", "session_meta", "ai-title"]
)
LIKELY = st.dictionaries(FIELDS, ANYTHING | KINDS | st.just(SESSION), max_size=8)
LINES = st.lists(st.binary(max_size=60) | LIKELY.map(lambda one: json.dumps(one).encode()), max_size=8)


@pytest.fixture(scope="module")
def file() -> Path:
    return Path(tempfile.mkdtemp()) / "any.jsonl"


@pytest.mark.parametrize("form", LINED)
@given(content=st.binary() | LINES.map(b"\n".join), offset=st.integers(-10, 300))
def test_no_bytes_break_a_reader(file: Path, form: str, content: bytes, offset: int) -> None:
    heading = {"codex": codex_heading(), "gemini": gemini_heading()}.get(form)
    file.write_bytes((json.dumps(heading).encode() + b"\n" if heading else b"") + content)

    found = TRANSCRIPTS[form].read_from(file, offset, None)
    again = TRANSCRIPTS[form].read_from(file, offset, None)
    transcript_format(file)
    note_format(file)

    assert found == again
    assert 0 <= found.next_offset <= max(file.stat().st_size, offset)
    for talk in found.conversations:
        assert len({one.id for one in talk.messages}) == len(talk.messages)
        assert all(one.text.strip() and one.id for one in talk.messages)


@requirement("sem.tap.logs")
@pytest.mark.parametrize("form", REAL)
@given(data=st.data())
def test_a_transcript_cut_anywhere_and_read_on_gives_every_message_once(
    file: Path, form: str, data: st.DataObject
) -> None:
    whole = REAL[form].read_bytes()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    expected = [
        one.id
        for talk in TRANSCRIPTS[form].read_from(REAL[form], 0, None).conversations
        for one in talk.messages
    ]

    ids: list[str] = []
    offset = broken = 0
    for end in (*cuts, len(whole)):
        file.write_bytes(whole[:end])
        found = TRANSCRIPTS[form].read_from(file, offset, None)
        ids += [one.id for talk in found.conversations for one in talk.messages if one.id not in ids]
        offset, broken = found.next_offset, broken + found.broken

    assert (ids, offset, broken) == (expected, len(whole), 0)


@requirement("trust.loop")
@given(
    before=st.text(alphabet="ab \n.", max_size=10),
    inside=st.text(max_size=30),
    after=st.text(alphabet="cd \n.", max_size=10),
    tag=st.sampled_from(["system-reminder", "hook_context", "local-command-stdout", "environment_context"]),
)
def test_nothing_between_the_tags_of_a_program_is_taken_for_typed(
    before: str, inside: str, after: str, tag: str
) -> None:
    wrapped = f"<{tag}>{inside}CANARY</{tag}>"

    kept = typed(f"{before}{wrapped}{after}")

    assert "CANARY" not in kept
    assert kept == typed(f"{before}{after}") or "<" in inside


@given(st.text())
def test_a_text_without_tags_and_blocks_stays_as_it_is(text: str) -> None:
    if "<" in text or "- [" in text:
        return

    assert typed(text) == text.strip()


def test_long_messages_full_of_tags_are_read_in_time_that_grows_in_line() -> None:
    # A quadratic reader would need minutes for this; the test's own timeout ends it.
    typed("<system-reminder>" * 200_000)
    typed("<system-reminder>a</system-reminder>" * 100_000)
    typed("<command-name " * 200_000)
    typed("## x\n- [id:abcdefgh] y\n" * 100_000)
    assert typed("</system-reminder>" * 3 + "x").endswith("x")
