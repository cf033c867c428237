"""The command `capture`: extracts memories from sessions; the service does it automatically."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.capture import Captured
    from holdfast.engine.memories import Memories
    from holdfast.engine.reading import ChunkResult


@click.command()
@click.option("--session", metavar="ID", help="Only this session. Default: all with unread messages.")
@click.option("--again", is_flag=True, help="Retry what a model failed to read.")
@click.option(
    "--leave", is_flag=True, help="Give up on what a model failed to read; the rules' result is kept."
)
@in_space
@click.pass_obj
def capture(call: Call, session: str | None, again: bool, leave: bool) -> None:
    """Extract memories from sessions.

    Uses rules, and then a model if HOLDFAST_EXTRACT_MODEL is set. The service does this automatically: every
    10 messages, after 2 minutes, and when a session ends. Each message is read once; sessions in quiet mode
    are skipped.

    \b
        holdfast capture
        holdfast capture --session 4f7c
        holdfast capture --again
    """
    from holdfast.agents import capture_off

    if again and leave:
        raise click.UsageError("--again and --leave can't be combined")
    with call.memories() as memories:
        put_back = memories.read_again(drop=leave) if again or leave else 0
        read = memories.capture(session, quiet=capture_off.reason)
        with_model = list(_readings(memories, session))
    lines = [line for one in read for line in _lines(one)]
    lines += [line for reading in with_model for line in _model_lines(reading)]
    if leave:
        lines.append(f"{say.count(put_back, 'passage')} given up; the rules' result is kept")
    answer = {
        "sessions": read,
        "with_model": with_model,
    }
    call.tell("\n".join(lines or ["Nothing to read: everything is up to date"]), answer)


def _readings(memories: "Memories", session: str | None) -> "Iterator[ChunkResult]":
    from holdfast.agents import capture_off

    while (reading := memories.read_due(session, quiet=capture_off.reason)) is not None:
        yield reading


def _lines(one: "Captured") -> list[str]:
    if one.quiet is not None:
        return [f"Session {say.one_line(one.session)}: skipped, {one.quiet}"]
    head = f"Session {say.one_line(one.session)}: {say.count(one.messages, 'message')} read"
    lines = [head, *(f"  {say.outcome(outcome)}" for outcome in one.outcomes)]
    lines += [f"  Deleted (withdrawn in the session): {say.headline(memory)}" for memory in one.withdrawn]
    return [*lines, *(f"  Not stored: {say.one_line(why)}" for why in one.refused)]


def _model_lines(one: "ChunkResult") -> list[str]:
    head = f"Session {say.one_line(one.session)}, with a model:"
    if one.trouble is not None:
        return [f"{head} failed, the rules' result is kept: {say.one_line(one.trouble)}"]
    lines = [f"  {say.outcome(outcome)}" for outcome in one.outcomes]
    lines += [f"  Not stored: {say.one_line(why)}" for why in one.dropped]
    return [head, *lines] if lines else []
