"""The command that reads sessions for what is worth keeping, by hand; the service does it by itself."""

from typing import TYPE_CHECKING

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.capture import Captured


@click.command()
@click.option("--session", metavar="ID", help="One session of an agent; all that wait if not said.")
@in_space
@click.pass_obj
def capture(call: Call, session: str | None) -> None:
    """Read what was said in sessions and keep what is worth it.

    By rules, without a model; the service does it by itself every 10 messages, after two minutes and at a
    session's end. What was read is not read again; where it is quiet, nothing is.

    \b
        holdfast capture
        holdfast capture --session 4f7c
    """
    from holdfast import quiet

    with call.memories() as memories:
        read = memories.capture(session, quiet=quiet.reason)
    lines = [line for one in read for line in _lines(one)]
    answer = {"sessions": [_json(one) for one in read]}
    call.tell("\n".join(lines or ["nothing to read: all is up to date"]), answer)


def _lines(one: "Captured") -> list[str]:
    if one.quiet is not None:
        return [f"session {say.one_line(one.session)}: nothing read, {one.quiet}"]
    head = f"session {say.one_line(one.session)}: {say.count(one.messages, 'message')} read"
    lines = [head, *(f"  {say.outcome(outcome)}" for outcome in one.outcomes)]
    lines += [f"  forgotten, for it was taken back: {say.headline(memory)}" for memory in one.withdrawn]
    return [*lines, *(f"  not kept: {say.one_line(why)}" for why in one.refused)]


def _json(one: "Captured") -> dict[str, object]:
    return {
        "session": one.session,
        "messages": one.messages,
        "outcomes": [as_json.outcome(outcome) for outcome in one.outcomes],
        "withdrawn": [as_json.memory(memory) for memory in one.withdrawn],
        "refused": list(one.refused),
        "quiet": one.quiet,
    }
