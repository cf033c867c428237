"""The write commands: remember, forget, restore, promote, erase, link."""

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import param_types, say
from holdfast.cli.batch import each
from holdfast.cli.call import Call, confirm, in_space
from holdfast.domain.memory import LINK_KINDS, ORIGINS, LinkKind, Origin

if TYPE_CHECKING:
    from holdfast.engine.erase import Erasure


@click.command()
@click.argument("content", callback=param_types.text)
@click.option("-c", "--category", help="A category of the space. Default: from the profile, if it has one.")
@click.option("-s", "--subject", help="The service, person or file it is about.")
@click.option("--summary", help="One-line summary for indexes.")
@click.option("-t", "--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option("--project", help="The project it belongs to. Default: none, so it is global.")
@click.option("--importance", type=click.IntRange(1, 5), help="From 1 (low) to 5 (high).")
@click.option("--confidence", type=float, help="Confidence, from 0 to 1.")
@click.option("--session", help="The session it comes from.")
@click.option("--tier", type=int, help="The tier of that session: 1, 2 or 3.")
@click.option(
    "--origin", type=click.Choice(ORIGINS), default="operator", show_default=True, help="Who it comes from."
)
@click.option("--key", help="Idempotency key: a repeated call with the same key has no effect.")
@click.option("--anyway", is_flag=True, help="Store it even if it was deleted before.")
@in_space
@click.pass_obj
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
        raise click.UsageError("--tier needs --session ID", click.get_current_context())
    with call.memories(origin, session) as memories:
        if tier is not None:
            memories.open_session(session, tier=tier)
        outcome = memories.remember(content, **fields)
        text = say.outcome(outcome, weighed=memories.profile.policy.weighs_confidence)
    call.tell(text, outcome)
    if settled(outcome) is None:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--expect-version", type=int, help="Fail if the memory has a different version.")
@in_space
@click.pass_obj
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
                click.echo(say.line(memories.show(memory_id).memory), err=True)
            profile = memories.profile.name
            confirm(f"The profile {profile!r} deletes for good", yes=False)
        results = each(ids, lambda one: memories.forget(one, expect_version=expect_version))
    texts = []
    for gone in results.done:
        back = f"restore with {say.command('restore', gone.memory.id)}" if gone.restorable else "for good"
        texts.append(f"Deleted {say.headline(gone.memory)}; {back}")
    results.tell(call, texts, {"forgotten": results.done})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def restore(call: Call, ids: tuple[str, ...]) -> None:
    """Restore deleted memories.

    \b
        holdfast restore a1b2c3d4
    """
    with call.memories() as memories:
        results = each(ids, memories.restore)
    texts = [f"Restored {say.line(memory)}" for memory in results.done]
    results.tell(call, texts, {"restored": results.done})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def promote(call: Call, ids: tuple[str, ...]) -> None:
    """Make project memories global.

    A memory that was captured in a project is used in that project only; a global memory is used in all.

    \b
        holdfast promote a1b2c3d4
    """
    with call.memories() as memories:
        results = each(ids, memories.promote)
    texts = [f"Now global: {say.line(result.memory)}" for result in results.done]
    results.tell(call, texts, {"promoted": [result.memory for result in results.done]})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@in_space
@click.pass_obj
def erase(call: Call, ids: tuple[str, ...], yes: bool) -> None:
    """Erase memories and every trace of them for good.

    First lists what will be erased: all versions and duplicates, links, the text of source messages and
    stored prompts. Only a keyed hash is kept, so that the same text is not captured again.

    \b
        holdfast erase a1b2c3d4
        holdfast erase a1b2c3d4 e5f6g7h8 --yes
    """
    ids = tuple(dict.fromkeys(ids))
    with call.memories() as memories:
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
@click.pass_obj
def link(call: Call, from_id: str, to_id: str, kind: LinkKind | None, remove: bool) -> None:
    """Link two memories.

    \b
        holdfast link a1b2c3d4 e5f6g7h8 --kind elaborates
        holdfast link a1b2c3d4 e5f6g7h8 --remove
    """
    with call.memories() as memories:
        if remove:
            removed = memories.unlink(from_id, to_id, kind)
            text = f"Removed {say.count(removed, 'link')} from {from_id} to {to_id}"
            return call.tell(say.one_line(text), {"removed": removed})
        kind = kind or "related"
        fresh = memories.link(from_id, to_id, kind)
    already = "" if fresh else " (already linked)"
    answer = {"linked": fresh, "from": from_id, "to": to_id, "kind": kind}
    return call.tell(say.one_line(f"{from_id} {kind} {to_id}{already}"), answer)
