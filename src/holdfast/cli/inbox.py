"""The inbox: memories that wait for approval."""

from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.inbox import Item


@click.group(invoke_without_command=True)
@in_space
@click.pass_context
def inbox(ctx: click.Context) -> None:
    """Review memories waiting for approval.

    Without a sub-command, lists them: memories from untrusted sources, proposals, imports for review.
    Approving a proposal of `holdfast tend` merges two memories; rejecting it keeps both. Memories in the
    inbox are not used in recall or briefs.

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
    lines.append(f"{say.memories(len(items))} waiting" if items else "The inbox is empty")
    call.tell("\n".join(lines), {"waiting": items, "total": len(items)})


@inbox.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def approve(call: Call, ids: tuple[str, ...]) -> None:
    """Approve waiting memories: all of them, or none if one fails.

    The confidence of memories that they contradict is lowered, as the profile says.

    \b
        holdfast inbox approve a1b2c3d4 e5f6g7h8
    """
    with call.memories() as memories:
        approved = memories.approve(*dict.fromkeys(ids))
    text = "\n".join(f"Approved {say.line(memory)}" for memory in approved)
    call.tell(text, {"approved": approved})


@inbox.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def reject(call: Call, ids: tuple[str, ...]) -> None:
    """Reject waiting memories; they will not be proposed again.

    \b
        holdfast inbox reject a1b2c3d4
    """
    with call.memories() as memories:
        rejected = memories.reject(*dict.fromkeys(ids))
    text = "\n".join(f"Rejected {say.headline(memory)}; it will not be proposed again" for memory in rejected)
    call.tell(text, {"rejected": rejected})


def _item(item: "Item") -> str:
    memory = item.memory
    came = f"From {memory.source.origin}, {say.moment(memory.created_at)} UTC"
    lines = [say.headline(memory), f"  {came}; reason: {say.one_line(memory.waiting_for or 'not given')}"]
    lines += [f"  Existing: {say.line(known)}" for known in item.known]
    return "\n".join(lines)
