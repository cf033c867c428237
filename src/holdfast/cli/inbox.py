"""The inbox of memories that wait for approval, and the chat command /memory as a shell command."""

from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space, wide_option
from holdfast.cli.memory_list import memory_parts
from holdfast.cli.tables import Styled, Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.inbox import Item


@click.group(invoke_without_command=True)
@wide_option
@in_space
def inbox(call: Call, wide: bool) -> None:
    """Review memories waiting for approval.

    Without a sub-command, lists them: memories from untrusted sources, proposals, imports for review.
    Approving a proposal of `holdfast tend` merges two memories; rejecting it keeps both. Memories in the
    inbox are not used in recall or briefs.

    \b
        holdfast inbox
        holdfast inbox approve a1b2c3d4
        holdfast inbox reject e5f6g7h8
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    with call.memories() as memories:
        items = memories.inbox()
    call.tell(_table(items, wide) if items else "The inbox is empty", {"waiting": items, "total": len(items)})
    if items and not call.json:
        call.tell(f"{say.memories(len(items))} waiting{_next() if say.on_terminal() else ''}", None)


def _next() -> str:
    return f": {say.command('inbox approve', 'ID')} or {say.command('inbox reject', 'ID')}"


def _table(items: "Sequence[Item]", wide: bool) -> Table:
    columns = [
        TableColumn(title="since", style="dim"),
        TableColumn(title="id", style="cyan"),
        TableColumn(title="memory", wraps=True, least=24),
        TableColumn(title="from", style="dim", spare=True),
    ]
    table = Table(columns, wide=wide, plain="\n".join(map(_item, items)))
    for item in items:
        memory = item.memory
        cell = [Styled(f"[{memory.category}]", "dim"), *memory_parts(memory)]
        cell.append(Styled(f"Reason: {memory.waiting_for or 'not given'}", "yellow", below=True))
        cell += [Styled(f"Existing: {known.id}  {known.content}", "dim", below=True) for known in item.known]
        table.rows.append((f"{memory.created_at:%Y-%m-%d}", memory.id, cell, memory.source.origin))
    return table


@inbox.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
def approve(call: Call, ids: tuple[str, ...]) -> None:
    """Approve waiting memories: all of them, or none if one fails.

    The confidence of memories that they contradict is lowered, as the profile says.

    \b
        holdfast inbox approve a1b2c3d4 e5f6g7h8
    """
    with call.memories() as memories:
        approved = memories.approve(*dict.fromkeys(map(memories.find_memory, ids)))
    text = "\n".join(f"Approved {say.line(memory)}" for memory in approved)
    call.tell(text, {"approved": approved})


@inbox.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
def reject(call: Call, ids: tuple[str, ...]) -> None:
    """Reject waiting memories; they will not be proposed again.

    \b
        holdfast inbox reject a1b2c3d4
    """
    with call.memories() as memories:
        rejected = memories.reject(*dict.fromkeys(map(memories.find_memory, ids)))
    text = "\n".join(f"Rejected {say.headline(memory)}; it will not be proposed again" for memory in rejected)
    call.tell(text, {"rejected": rejected})


def _item(item: "Item") -> str:
    memory = item.memory
    came = f"From {memory.source.origin}, {say.moment(memory.created_at)} UTC"
    lines = [say.headline(memory), f"  {came}; reason: {say.one_line(memory.waiting_for or 'not given')}"]
    lines += [f"  Existing: {say.line(known)}" for known in item.known]
    return "\n".join(lines)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
@in_space
def memory(call: Call, words: tuple[str, ...]) -> None:
    """Run a /memory chat command: list, delete, restore, approve.

    Prints the same text as in a chat; no model is called. Exit code 1 when the command fails.
    `holdfast memory help` lists all commands.

    \b
        holdfast memory
        holdfast memory delete a1b2c3d4
        holdfast memory restore a1b2c3d4
        holdfast memory inbox
    """
    from holdfast.agents.memory_command import reply

    with call.memories() as memories:
        told = reply(memories, " ".join(words), command="holdfast memory")
    call.tell(say.visible(told.text), {"text": told.text, "done": not told.failed})
    if told.failed:
        raise click.exceptions.Exit(1)
