"""The command that tells whether prompt caches could hold: which blocks sessions were given, and when."""

from typing import TYPE_CHECKING, Any

import click

from holdfast import as_json
from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.cache_report import CacheReport, Difference, SessionReport

_WHY = {
    "erased": "a memory in it was erased",
    "damaged": "the text that is kept no longer has this hash",
    "unknown": "for a reason that was not recorded",
}
_REPORTED = {
    "cache_read_tokens": "read from the cache",
    "cache_write_tokens": "written to it",
    "input_tokens": "read anew",
}
_CAVEAT = (
    "Tokens of blocks are estimates. This is what Holdfast gave out; whether the host put it at the same "
    "place each time, its own figures tell, where it reports any."
)


@click.command("cache-report")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    help="The latest so many sessions.",
)
@in_space
@click.pass_obj
def cache_report(call: Call, sessions: tuple[str, ...], limit: int) -> None:
    """Tell whether sessions kept their brief, byte for byte.

    For each session that was given a brief: its hash, whether and why it changed, what a prompt cache could
    keep of it, and what the agent itself reported. Without SESSION the latest ones.

    \b
        holdfast cache-report
        holdfast cache-report run-42 --json
    """
    with call.memories() as memories:
        found = memories.cache_report(*sessions, limit=limit)
    call.tell("\n\n".join(_told(found)), _as_json(found))


def _told(found: "CacheReport") -> list[str]:
    parts = [_session(report) for report in found.sessions]
    if found.without_brief:
        parts.append(f"{say.count(found.without_brief, 'session')} without a brief")
    if not found.sessions:
        return parts or ["no sessions yet"]
    held = sum(report.held for report in found.sessions)
    parts.append(f"{held:,} of {say.count(len(found.sessions), 'session')} kept their block byte for byte")
    return [*parts, click.style(_CAVEAT, dim=True)]


def _session(report: "SessionReport") -> str:
    session = report.session
    verdict = click.style("held", fg="green") if report.held else click.style("changed", fg="yellow")
    label = ", ".join(each for each in (session.client, session.project) if each)
    lines = [f"{say.one_line(session.id)}{f' ({say.one_line(label)})' if label else ''}: {verdict}"]
    for block in report.blocks:
        size = f"{block.tokens:,} tokens, {say.memories(block.memories)}"
        erased = ", text erased since" if block.intact is None else ""
        lines.append(f"  {say.moment(block.given_at)}  {block.sha256[:16]}  {size}{erased}")
    lines += [f"  changed {say.moment(change.at)}: {_WHY[change.why]}" for change in report.changes]
    if report.before is not None:
        lines.append(f"  {_difference(report.before)}")
    if report.trailing_blocks:
        count = say.count(report.trailing_blocks, "block")
        lines.append(f"  behind it: {count}, {report.trailing_tokens:,} tokens, which leave it as it is")
    lines.append(f"  {_saved(report)}")
    if report.reported:
        told = [f"{amount:,} {_REPORTED[name]}" for name, amount in report.reported.items()]
        lines.append(f"  the agent reports {', '.join(told)}")
    return "\n".join(lines)


def _difference(before: "Difference") -> str:
    name = say.one_line(before.session)
    if before.same:
        return f"the same block as in {name} before it"
    kinds = (("added", before.added), ("reworded", before.reworded), ("gone", before.gone))
    told = [f"{amount:,} {word}" for word, amount in kinds if amount]
    return f"another block than in {name} before it: {', '.join(told) or 'other labels or another order'}"


def _saved(report: "SessionReport") -> str:
    if report.answers is None:
        return "how often the model was asked is not known: keep the messages, or report usage at the end"
    answers = say.count(report.answers, "answer")
    if report.cacheable_tokens is None:
        return f"{answers}; at which of them the block changed is not known"
    return f"{answers}; a cache could keep {report.cacheable_tokens:,} tokens of the block"


def _as_json(found: "CacheReport") -> dict[str, Any]:
    return {"sessions": list(map(_report, found.sessions)), "without_brief": found.without_brief}


def _report(report: "SessionReport") -> dict[str, Any]:
    before = report.before
    return {
        "session": report.session.id,
        "client": report.session.client,
        "project": report.session.project,
        "held": report.held,
        "blocks": [
            {
                "sha256": block.sha256,
                "tokens": block.tokens,
                "memories": block.memories,
                "given_at": as_json.moment(block.given_at),
                "intact": block.intact,
            }
            for block in report.blocks
        ],
        "changes": [{"at": as_json.moment(change.at), "why": change.why} for change in report.changes],
        "trailing": {"blocks": report.trailing_blocks, "tokens": report.trailing_tokens},
        "answers": report.answers,
        "cacheable_tokens": report.cacheable_tokens,
        "reported": dict(report.reported),
        "before": before
        and {
            "session": before.session,
            "same": before.same,
            "added": before.added,
            "reworded": before.reworded,
            "gone": before.gone,
        },
    }
