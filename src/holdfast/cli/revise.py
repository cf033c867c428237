"""The commands that change a memory: revise, split."""

from typing import Any

import click

from holdfast.cli import param_types, say
from holdfast.cli.call import Call, in_space
from holdfast.domain.memory import ORIGINS, Memory, Origin


@click.command()
@click.argument("memory_id", metavar="ID")
@click.argument("content", metavar="[TEXT]", callback=param_types.text, required=False)
@click.option("-c", "--category", help="New category.")
@click.option("-s", "--subject", help='New subject; "" removes it.')
@click.option("--summary", help='New summary; "" removes it.')
@click.option("-t", "--tag", "tags", multiple=True, help="New tags, replacing the old ones; repeatable.")
@click.option("--no-tags", is_flag=True, help="Remove all tags.")
@click.option("--project", help='New project; "" makes it global.')
@click.option("--importance", type=click.IntRange(1, 5), help="From 1 (low) to 5 (high).")
@click.option("--confidence", type=float, help="Confidence, from 0 to 1.")
@click.option("--pin/--unpin", "pinned", default=None, help="Pin it: first in briefs, no decay or archiving.")
@click.option("--to-version", "version", type=int, metavar="N", help="Go back to version N.")
@click.option("--expect-version", type=int, metavar="N", help="Fail if its version is not N.")
@click.option("--session", help="The session that makes the change.")
@click.option(
    "--origin",
    type=click.Choice(ORIGINS),
    default="operator",
    show_default=True,
    help="Who makes the change.",
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
    """Edit a memory; earlier versions are kept.

    TEXT is the new text, or - to read it from standard input. Without TEXT, only the given options change.

    \b
        holdfast revise a1b2c3d4 "Takes 45s to start after a restart"
        holdfast revise a1b2c3d4 --confidence 0.9 --pin
        holdfast revise a1b2c3d4 --to-version 1 --expect-version 3
    """
    from holdfast.domain.outcomes import Waiting

    if tags and no_tags:
        raise click.UsageError("--tag and --no-tags can't be combined", click.get_current_context())
    new_tags = tags if tags or no_tags else None
    with call.memories(origin, session) as memories:
        result = memories.revise(memory_id, tags=new_tags, **fields)
    if isinstance(result, Waiting):
        call.tell(say.outcome(result), result)
        return
    text = f"Revised {say.line(result.memory)}\n  {_changes(result.previous, result.memory)}"
    text += say.redacted(result.memory)
    call.tell(text, result)


@click.command()
@click.argument("memory_id", metavar="ID")
@click.argument("number", metavar="N", type=click.IntRange(1))
@in_space
@click.pass_obj
def split(call: Call, memory_id: str, number: int) -> None:
    """Split a wrongly merged duplicate into its own memory.

    N is the duplicate's number in `holdfast why ID`. The confidence it added to ID is subtracted again.

    \b
        holdfast split a1b2c3d4 2
    """
    with call.memories() as memories:
        done = memories.split(memory_id, number)
    told = [f"Split off {say.line(done.memory)}", f"  Original: {say.line(done.original)}"]
    told.append(f"  {_changes(done.previous, done.original)}")
    call.tell("\n".join(told), done)


def _changes(before: Memory, after: Memory) -> str:
    """The changes, in one line."""
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
        told.append("pinned" if after.pinned else "unpinned")
    return ", ".join(told) or "no changes"
