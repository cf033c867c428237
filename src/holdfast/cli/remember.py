"""The write commands: remember, revise, forget, restore, promote, erase, split, link."""

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import call, outcome_texts, say
from holdfast.cli.call import Call, confirm, each, in_space, wrong_usage
from holdfast.cli.say import echo
from holdfast.domain.memory import LINK_KINDS, ORIGINS, LinkKind, Memory, Origin

if TYPE_CHECKING:
    from holdfast.engine.erase import Erasure


@click.command()
@click.argument("content", callback=call.text_or_input)
@click.option("-c", "--category", help="A category of the space. Default: from the profile, if it has one.")
@click.option("-s", "--subject", help="The service, person or file it is about.")
@click.option("--summary", help="One-line summary for indexes.")
@click.option("-t", "--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option("--project", help="The project it belongs to. Default: none, so it is global.")
@click.option("--importance", type=click.IntRange(1, 5), help="From 1 (low) to 5 (high).")
@click.option("--confidence", type=float, callback=call.check_confidence, help="Confidence, from 0 to 1.")
@click.option("--session", help="The session it comes from.")
@click.option("--tier", type=int, help="The tier of that session: 1, 2 or 3.")
@click.option(
    "--origin", type=click.Choice(ORIGINS), default="operator", show_default=True, help="Who it comes from."
)
@click.option("--key", help="Idempotency key: a repeated call with the same key has no effect.")
@click.option("--anyway", is_flag=True, help="Store it even if it was deleted before.")
@click.option("--private", is_flag=True, help="Only you see it; needs HOLDFAST_PERSON.")
@in_space
def remember(
    call: Call,
    /,
    *,
    content: str,
    session: str | None,
    tier: int | None,
    origin: Origin,
    **fields: Any,
) -> None:
    """Store a memory (also: store).

    CONTENT is the text, or - to read it from standard input. A duplicate raises the confidence of the
    existing memory, a contradiction lowers it; the profile sets the rules, and the output says what happened.

    \b
        holdfast remember "Takes 60s to start after a restart" -c timing -s jellyfin
        holdfast remember "Prefers short answers" -c preference -t style
        git log -1 --format=%B | holdfast remember - -c decision --project website
    """
    from holdfast.domain.outcomes import settled

    if tier is not None and session is None:
        raise wrong_usage("--tier needs --session ID")
    with call.memories(origin, session, creates=True) as memories:
        if tier is not None:
            memories.open_session(session, tier=tier)
        outcome = memories.remember(content, **fields)
        text = outcome_texts.outcome(outcome, weighed=memories.profile.policy.weighs_confidence)
    call.tell(text, outcome)
    if settled(outcome) is None:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--expect-version", type=int, help="Fail if the memory has a different version.")
@in_space
def forget(call: Call, ids: tuple[str, ...], yes: bool, expect_version: int | None) -> None:
    """Delete memories (restorable unless the profile deletes for good).

    Deleted memories do not come back by themselves when they are captured or imported again. Some profiles,
    such as ops, delete for good and ask first; others keep the memory for `holdfast restore`.

    \b
        holdfast forget a1b2c3d4
        holdfast forget a1b2c3d4 e5f6g7h8 --yes
    """
    with call.memories() as memories:
        if memories.profile.policy.removal == "permanent" and not yes:
            for memory_id in ids:
                echo(say.line(memories.show(memories.find_memory(memory_id)).memory), err=True)
            confirm(f"The profile {memories.profile.name!r} deletes for good", yes=False)
        results = each(
            ids, lambda one: memories.forget(memories.find_memory(one), expect_version=expect_version)
        )
    texts = []
    for gone in results.done:
        back = f"restore with {say.command('restore', gone.memory.id)}" if gone.restorable else "for good"
        texts.append(f"Deleted {say.headline(gone.memory)}; {back}")
    results.tell(call, texts, {"forgotten": results.done})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
def restore(call: Call, ids: tuple[str, ...]) -> None:
    """Restore deleted memories.

    \b
        holdfast restore a1b2c3d4
    """
    with call.memories() as memories:
        results = each(ids, lambda one: memories.restore(memories.find_memory(one)))
    texts = [f"Restored {say.line(memory)}" for memory in results.done]
    results.tell(call, texts, {"restored": results.done})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
def promote(call: Call, ids: tuple[str, ...]) -> None:
    """Make project memories global.

    A memory that was captured in a project is used in that project only; a global memory is used in all.

    \b
        holdfast promote a1b2c3d4
    """
    with call.memories() as memories:
        results = each(ids, lambda one: memories.promote(memories.find_memory(one)))
    texts = [f"Now global: {say.line(result.memory)}" for result in results.done]
    results.tell(call, texts, {"promoted": [result.memory for result in results.done]})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@in_space
def erase(call: Call, ids: tuple[str, ...], yes: bool) -> None:
    """Erase memories and every trace of them for good.

    First lists what will be erased: all versions and duplicates, links, the text of source messages and
    stored prompts. Only a keyed hash is kept, so that the same text is not captured again.

    \b
        holdfast erase a1b2c3d4
        holdfast erase a1b2c3d4 e5f6g7h8 --yes
    """
    with call.memories() as memories:
        ids = tuple(dict.fromkeys(map(memories.find_memory, ids)))
        planned = memories.erasure(*ids)
        goes = _going(planned)
        confirm(f"This erases {goes} for good", yes=yes)
        done = memories.erase(*ids)
    left = [f"  Not reached: {say.one_line(place)}" for place in done.left]
    call.tell(
        "\n".join([f"Erased {goes}", *left]),
        {
            "erased": list(done.memories),
            "versions": done.versions,
            "links": done.links,
            "messages": done.messages,
            "receipts": done.receipts,
            "left": list(done.left),
        },
    )


def _going(planned: "Erasure") -> str:
    """`1 memory with 2 stored texts, 1 link and the text of 1 source message`"""
    parts = [
        (planned.versions, say.count(planned.versions, "stored text")),
        (planned.links, say.count(planned.links, "link")),
        (planned.messages, f"the text of {say.count(planned.messages, 'source message')}"),
        (planned.receipts, f"the text of {say.count(planned.receipts, 'stored prompt')}"),
    ]
    told = [text for amount, text in parts if amount]
    listed = " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
    return f"{say.memories(len(planned.memories))} with {listed}"


@click.command()
@click.argument("from_id", metavar="FROM")
@click.argument("to_id", metavar="TO")
@click.option("-k", "--kind", type=click.Choice(LINK_KINDS), help="How FROM relates to TO. Default: related.")
@click.option("--remove", is_flag=True, help="Remove the link; all kinds unless --kind is given.")
@in_space
def link(call: Call, from_id: str, to_id: str, kind: LinkKind | None, remove: bool) -> None:
    """Link two memories.

    \b
        holdfast link a1b2c3d4 e5f6g7h8 --kind elaborates
        holdfast link a1b2c3d4 e5f6g7h8 --remove
    """
    with call.memories() as memories:
        from_id, to_id = memories.find_memory(from_id), memories.find_memory(to_id)
        if remove:
            removed = memories.unlink(from_id, to_id, kind)
            text = f"Removed {say.count(removed, 'link')} from {from_id} to {to_id}"
            return call.tell(say.one_line(text), {"removed": removed})
        kind = kind or "related"
        fresh = memories.link(from_id, to_id, kind)
    already = "" if fresh else " (already linked)"
    answer = {"linked": fresh, "from": from_id, "to": to_id, "kind": kind}
    return call.tell(say.one_line(f"{from_id} {kind} {to_id}{already}"), answer)


@click.command()
@click.argument("memory_id", metavar="ID")
@click.argument("content", metavar="[TEXT]", callback=call.text_or_input, required=False)
@click.option("-c", "--category", help="New category.")
@click.option("-s", "--subject", help='New subject; "" removes it.')
@click.option("--summary", help='New summary; "" removes it.')
@click.option("-t", "--tag", "tags", multiple=True, help="New tags, replacing the old ones; repeatable.")
@click.option("--no-tags", is_flag=True, help="Remove all tags.")
@click.option("--project", help='New project; "" makes it global.')
@click.option("--importance", type=click.IntRange(1, 5), help="From 1 (low) to 5 (high).")
@click.option("--confidence", type=float, callback=call.check_confidence, help="Confidence, from 0 to 1.")
@click.option("--pin/--unpin", "pinned", default=None, help="Pin it: first in briefs, no decay or archiving.")
@click.option("--private/--shared", default=None, help="Only its writer sees it, or all who share the space.")
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
        raise wrong_usage("--tag and --no-tags can't be combined")
    new_tags = tags if tags or no_tags else None
    with call.memories(origin, session) as memories:
        result = memories.revise(memories.find_memory(memory_id), tags=new_tags, **fields)
    if isinstance(result, Waiting):
        call.tell(outcome_texts.outcome(result), result)
        return
    if result.memory == result.previous:
        text = f"Nothing changed: {say.line(result.memory)} is already so"
    else:
        text = f"Revised {say.line(result.memory)}\n  {_changes(result.previous, result.memory)}"
    call.tell(text + outcome_texts.redacted(result.memory), result)


@click.command()
@click.argument("memory_id", metavar="ID")
@click.argument("number", metavar="N", type=click.IntRange(1))
@in_space
def split(call: Call, memory_id: str, number: int) -> None:
    """Split a wrongly merged duplicate into its own memory.

    N is the duplicate's number in `holdfast why ID`. The confidence it added to ID is subtracted again.

    \b
        holdfast split a1b2c3d4 2
    """
    with call.memories() as memories:
        done = memories.split(memories.find_memory(memory_id), number)
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
    if after.private != before.private:
        told.append("private" if after.private else "shared")
    if after.pinned != before.pinned:
        told.append("pinned" if after.pinned else "unpinned")
    return ", ".join(told) or "no changes"
