"""The commands that keep, hide and remove: remember, forget, restore, erase, link."""

from typing import TYPE_CHECKING, Any

import click

from holdfast import as_json
from holdfast.domain.memory import LINK_KINDS, ORIGINS, LinkKind, Origin
from holdfast.doors.cli import say, values
from holdfast.doors.cli.call import Call, confirm, in_space
from holdfast.doors.cli.each import each

if TYPE_CHECKING:
    from holdfast.engine.erase import Erasure


@click.command()
@click.argument("content", callback=values.text)
@click.option("-c", "--category", help="One of the space's categories; the profile may have a default.")
@click.option("-s", "--subject", help="The service, person or file that it is about.")
@click.option("--summary", help="One line for indexes.")
@click.option("-t", "--tag", "tags", multiple=True, help="A topic; may be repeated.")
@click.option("--project", help="The project that it belongs to; without one it holds everywhere.")
@click.option("--importance", type=click.IntRange(1, 5), help="How much it matters.")
@click.option("--confidence", type=float, help="How far to believe it, from 0 to 1.")
@click.option("--session", help="The session in which it was said.")
@click.option("--tier", type=int, help="The tier of that session: 1, 2 or 3.")
@click.option(
    "--origin", type=click.Choice(ORIGINS), default="operator", show_default=True, help="Who says it."
)
@click.option("--key", help="An idempotency key: the same call twice counts once.")
@click.option("--anyway", is_flag=True, help="Bring back what was deleted.")
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
    """Keep a text for later sessions (also: store).

    CONTENT is the text, or - to read it from standard input. What is known already gains trust, what
    contradicts it loses some; the answer says which.

    \b
        holdfast remember "Takes 60s to start after a restart" -c timing -s jellyfin
        holdfast remember "Prefers short answers" -c preference -t style
        git log -1 --format=%B | holdfast remember - -c decision --project website
    """
    from holdfast.domain.outcomes import settled

    if tier is not None and session is None:
        raise click.UsageError("--tier belongs to a session: add --session ID", click.get_current_context())
    with call.memories(origin, session) as memories:
        if tier is not None:
            memories.open_session(session, tier=tier)
        outcome = memories.remember(content, **fields)
        text = say.outcome(outcome, weighed=memories.profile.policy.weighs_confidence)
    call.tell(text, as_json.outcome(outcome))
    if settled(outcome) is None:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask where forgetting is for good.")
@click.option("--expect-version", type=int, help="Refuse if the memory has another version by now.")
@in_space
@click.pass_obj
def forget(call: Call, ids: tuple[str, ...], yes: bool, expect_version: int | None) -> None:
    """Take memories out of sight and keep them there.

    Most profiles keep them for `holdfast restore`; some, such as ops, remove them for good and ask first.

    \b
        holdfast forget a1b2c3d4
        holdfast forget a1b2c3d4 e5f6g7h8 --yes
    """
    with call.memories() as memories:
        if memories.profile.policy.removal == "permanent" and not yes:
            for memory_id in ids:
                click.echo(say.line(memories.show(memory_id).memory), err=True)
            profile = memories.profile.name
            confirm(f"In the profile {profile!r} forgetting is for good", yes=False)
        results = each(ids, lambda one: memories.forget(one, expect_version=expect_version))
    texts = []
    for gone in results.done:
        back = f"{say.command('restore', gone.memory.id)} brings it back" if gone.restorable else "for good"
        texts.append(f"forgot {say.headline(gone.memory)}; {back}")
    forgotten = [{**as_json.memory(gone.memory), "restorable": gone.restorable} for gone in results.done]
    results.tell(call, texts, {"forgotten": forgotten})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def restore(call: Call, ids: tuple[str, ...]) -> None:
    """Bring forgotten memories back.

    \b
        holdfast restore a1b2c3d4
    """
    with call.memories() as memories:
        results = each(ids, memories.restore)
    texts = [f"restored {say.line(memory)}" for memory in results.done]
    results.tell(call, texts, {"restored": [as_json.memory(memory) for memory in results.done]})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_space
@click.pass_obj
def promote(call: Call, ids: tuple[str, ...]) -> None:
    """Make memories of a project global.

    What is captured in a project belongs to it; a global memory stands in every project's brief and answers.

    \b
        holdfast promote a1b2c3d4
    """
    with call.memories() as memories:
        results = each(ids, memories.promote)
    texts = [f"now global {say.line(result.memory)}" for result in results.done]
    results.tell(call, texts, {"promoted": [as_json.memory(result.memory) for result in results.done]})


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@in_space
@click.pass_obj
def erase(call: Call, ids: tuple[str, ...], yes: bool) -> None:
    """Remove memories and every trace of them, for good.

    Says first what will go: wordings, links, the text of the messages they came from, stored prompts.
    Only a keyed hash stays, so that they do not come back.

    \b
        holdfast erase a1b2c3d4
        holdfast erase a1b2c3d4 e5f6g7h8 --yes
    """
    ids = tuple(dict.fromkeys(ids))
    with call.memories() as memories:
        planned = memories.erasure(*ids)
        goes = _going(planned)
        confirm(f"This erases for good {goes}", yes=yes)
        done = memories.erase(*ids)
    left = [f"  not reached: {say.one_line(place)}" for place in done.left]
    call.tell(
        "\n".join([f"erased {goes}", *left]),
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
    """`1 memory with 2 wordings, 1 link and the text of 1 source message`"""
    parts = [
        (planned.versions, say.count(planned.versions, "wording")),
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
@click.option(
    "-k", "--kind", type=click.Choice(LINK_KINDS), help="How FROM stands to TO; related if not said."
)
@click.option("--remove", is_flag=True, help="Remove the link, of one kind or of all.")
@in_space
@click.pass_obj
def link(call: Call, from_id: str, to_id: str, kind: LinkKind | None, remove: bool) -> None:
    """Link one memory to another.

    \b
        holdfast link a1b2c3d4 e5f6g7h8 --kind elaborates
        holdfast link a1b2c3d4 e5f6g7h8 --remove
    """
    with call.memories() as memories:
        if remove:
            removed = memories.unlink(from_id, to_id, kind)
            text = f"removed {say.count(removed, 'link')} from {from_id} to {to_id}"
            return call.tell(say.one_line(text), {"removed": removed})
        kind = kind or "related"
        fresh = memories.link(from_id, to_id, kind)
    already = "" if fresh else " (known already)"
    answer = {"linked": fresh, "from": from_id, "to": to_id, "kind": kind}
    return call.tell(say.one_line(f"{from_id} {kind} {to_id}{already}"), answer)
