"""The inbox: what waits for a person, and the decision about it."""

from typing import TYPE_CHECKING

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.inbox import Item


@click.group(invoke_without_command=True)
@in_space
@click.pass_context
def inbox(ctx: click.Context) -> None:
    """See and decide what waits for a person.

    Without a sub-command it lists what waits: memories of doubtful origin, proposals, imports for review.
    A proposal of `holdfast tend` makes two memories one when it is approved, and leaves both when rejected.
    Nothing in the inbox is recalled or put into a brief.

    \b
        holdfast inbox
        holdfast inbox approve a1b2c3d4
        holdfast inbox reject e5f6g7h8
    """
    if ctx.invoked_subcommand is None:
        _listed(ctx.ensure_object(Call))


def _listed(call: Call) -> None:
    with call.memories() as memories:
        items = memories.inbox()
    lines = [_item(item) for item in items]
    lines.append(f"{say.memories(len(items))} waiting" if items else "the inbox is empty")
    call.tell("\n".join(lines), {"waiting": [as_json.waiting(item) for item in items], "total": len(items)})


@inbox.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def approve(call: Call, ids: tuple[str, ...]) -> None:
    """Let waiting memories in: all of them, or none if one can't be.

    What they contradict loses trust, as the profile says.

    \b
        holdfast inbox approve a1b2c3d4 e5f6g7h8
    """
    with call.memories() as memories:
        approved = memories.approve(*dict.fromkeys(ids))
    text = "\n".join(f"approved {say.line(memory)}" for memory in approved)
    call.tell(text, {"approved": [as_json.memory(memory) for memory in approved]})


@inbox.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def reject(call: Call, ids: tuple[str, ...]) -> None:
    """Turn waiting memories down: they do not come back.

    \b
        holdfast inbox reject a1b2c3d4
    """
    with call.memories() as memories:
        rejected = memories.reject(*dict.fromkeys(ids))
    text = "\n".join(f"rejected {say.headline(memory)}; it does not come back" for memory in rejected)
    call.tell(text, {"rejected": [as_json.memory(memory) for memory in rejected]})


def _item(item: "Item") -> str:
    memory = item.memory
    came = f"from {memory.source.origin}, {say.moment(memory.created_at)} UTC"
    lines = [say.headline(memory), f"  {came}; reason: {say.one_line(memory.waiting_for or 'not given')}"]
    lines += [f"  stands next to {say.line(known)}" for known in item.known]
    return "\n".join(lines)
