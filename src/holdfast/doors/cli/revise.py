"""The commands that change a memory: another text, other labels, another belief, a wording less."""

from typing import Any

import click

from holdfast import as_json
from holdfast.domain.memory import ORIGINS, Memory, Origin
from holdfast.doors.cli import say, values
from holdfast.doors.cli.call import Call, in_space


@click.command()
@click.argument("memory_id", metavar="ID")
@click.argument("content", metavar="[TEXT]", callback=values.text, required=False)
@click.option("-c", "--category", help="Another category of the space.")
@click.option("-s", "--subject", help='Another subject; "" takes it away.')
@click.option("--summary", help='Another summary; "" takes it away.')
@click.option("-t", "--tag", "tags", multiple=True, help="These tags in place of the old ones; repeatable.")
@click.option("--no-tags", is_flag=True, help="Take all tags away.")
@click.option("--project", help='Another project; "" takes it away.')
@click.option("--importance", type=click.IntRange(1, 5), help="How much it matters.")
@click.option("--confidence", type=float, help="How far to believe it, from 0 to 1.")
@click.option("--pin/--unpin", "pinned", default=None, help="Keep it from fading, or let it fade again.")
@click.option("--to-version", "version", type=int, metavar="N", help="Go back to an earlier wording.")
@click.option("--expect-version", type=int, metavar="N", help="Refuse if it has another version by now.")
@click.option("--session", help="The session in which it is revised.")
@click.option(
    "--origin", type=click.Choice(ORIGINS), default="operator", show_default=True, help="Who revises it."
)
@in_space
@click.pass_obj
def revise(
    call: Call,
    /,
    *,
    memory_id: str,
    tags: tuple[str, ...],
    no_tags: bool,
    session: str | None,
    origin: Origin,
    **fields: Any,
) -> None:
    """Change a memory and keep what it was.

    TEXT is the new wording, or - to read it from standard input; without it only what the options name
    is changed.

    \b
        holdfast revise a1b2c3d4 "Takes 45s to start after a restart"
        holdfast revise a1b2c3d4 --confidence 0.9 --pin
        holdfast revise a1b2c3d4 --to-version 1 --expect-version 3
    """
    from holdfast.domain.outcomes import Waiting

    if tags and no_tags:
        raise click.UsageError("give --tag or --no-tags, not both", click.get_current_context())
    new_tags = tags if tags or no_tags else None
    with call.memories(origin, session) as memories:
        result = memories.revise(memory_id, tags=new_tags, **fields)
    if isinstance(result, Waiting):
        call.tell(say.outcome(result), as_json.outcome(result))
        return
    text = f"revised {say.line(result.memory)}\n  {_changes(result.previous, result.memory)}"
    text += say.redacted(result.memory)
    answer = {"memory": as_json.memory(result.memory), "previous": as_json.memory(result.previous)}
    call.tell(text, answer)


@click.command()
@click.argument("memory_id", metavar="ID")
@click.argument("number", metavar="N", type=click.IntRange(1))
@in_space
@click.pass_obj
def split(call: Call, memory_id: str, number: int) -> None:
    """Make a wording that was counted as a repetition a memory of its own.

    N is the wording's number, as `holdfast why ID` lists it. What it added to the confidence of ID is
    taken back.

    \b
        holdfast split a1b2c3d4 2
    """
    with call.memories() as memories:
        done = memories.split(memory_id, number)
    told = [f"split off {say.line(done.memory)}", f"  left {say.line(done.original)}"]
    told.append(f"  {_changes(done.previous, done.original)}")
    call.tell("\n".join(told), as_json.split(done))


def _changes(before: Memory, after: Memory) -> str:
    """What is different now, in a line."""
    told = []
    if after.version != before.version:
        told.append(f"version {before.version} -> {after.version}")
    if after.confidence != before.confidence:
        told.append(f"confidence {say.number(before.confidence)} -> {say.number(after.confidence)}")
    for name in ("category", "subject", "project", "importance", "state"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            told.append(say.one_line(f"{name} {old or 'none'} -> {new or 'none'}"))
    if after.tags != before.tags:
        told.append(say.one_line(f"tags {', '.join(after.tags) or 'none'}"))
    if after.pinned != before.pinned:
        told.append("pinned" if after.pinned else "no longer pinned")
    return ", ".join(told) or "it stays as it was"
