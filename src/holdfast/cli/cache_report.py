"""The command `cache-report`: which briefs sessions were given, and whether they stayed cacheable."""

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.engine.cache_report import CacheReport, Difference, SessionReport

_WHY = {
    "erased": "a memory in it was erased",
    "damaged": "the stored text no longer matches this hash",
    "unknown": "reason not recorded",
}
_REPORTED = {
    "cache_read_tokens": "read from the cache",
    "cache_write_tokens": "written to the cache",
    "input_tokens": "uncached input",
}
_CAVEAT = (
    "Token counts of briefs are estimates. Whether the agent placed the brief at the same position each time "
    "shows in the agent's own figures, if it reports any."
)


@click.command("cache-report")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    help="Number of latest sessions.",
)
@in_space
@click.pass_obj
def cache_report(call: Call, sessions: tuple[str, ...], limit: int) -> None:
    """Report whether each session's brief stayed byte-identical.

    Shows for each session the hash of its brief, whether and why it changed, how many tokens a prompt cache
    could serve, and what the agent reported. Default: the latest sessions.

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
        return parts or ["No sessions yet"]
    held = sum(report.held for report in found.sessions)
    parts.append(f"{held:,} of {say.count(len(found.sessions), 'session')} kept a byte-identical brief")
    return [*parts, click.style(_CAVEAT, dim=True)]


def _session(report: "SessionReport") -> str:
    session = report.session
    verdict = click.style("unchanged", fg="green") if report.held else click.style("changed", fg="yellow")
    label = ", ".join(each for each in (session.client, session.project) if each)
    lines = [f"{say.one_line(session.id)}{f' ({say.one_line(label)})' if label else ''}: {verdict}"]
    for block in report.blocks:
        size = f"{block.tokens:,} tokens, {say.memories(block.memories)}"
        erased = ", text erased since" if block.intact is None else ""
        lines.append(f"  {say.moment(block.given_at)}  {block.sha256[:16]}  {size}{erased}")
    lines += [f"  Changed {say.moment(change.at)}: {_WHY[change.why]}" for change in report.changes]
    if report.before is not None:
        lines.append(f"  {_difference(report.before)}")
    if report.trailing_blocks:
        count = say.count(report.trailing_blocks, "block")
        lines.append(
            f"  Followed by {count} with {report.trailing_tokens:,} tokens; these do not affect the brief"
        )
    lines.append(f"  {_saved(report)}")
    if report.reported:
        told = [f"{amount:,} {_REPORTED[name]}" for name, amount in report.reported.items()]
        lines.append(f"  Reported by the agent: {', '.join(told)}")
    return "\n".join(lines)


def _difference(before: "Difference") -> str:
    name = say.one_line(before.session)
    if before.same:
        return f"Same brief as in the previous session {name}"
    kinds = (("added", before.added), ("reworded", before.reworded), ("removed", before.gone))
    told = [f"{amount:,} {word}" for word, amount in kinds if amount]
    return f"Different from the previous session {name}: {', '.join(told) or 'labels or order changed'}"


def _saved(report: "SessionReport") -> str:
    if report.answers is None:
        return "Number of model calls unknown: store messages, or report usage at the end of the session"
    answers = say.count(report.answers, "answer")
    if report.cacheable_tokens is None:
        return f"{answers}; when the brief changed is unknown"
    return f"{answers}; a cache could serve {report.cacheable_tokens:,} tokens of the brief"


def _as_json(found: "CacheReport") -> dict[str, Any]:
    return {"sessions": list(map(_report, found.sessions)), "without_brief": found.without_brief}


def _report(report: "SessionReport") -> dict[str, Any]:
    return {
        "session": report.session.id,
        "client": report.session.client,
        "project": report.session.project,
        "held": report.held,
        "blocks": report.blocks,
        "changes": report.changes,
        "trailing": {"blocks": report.trailing_blocks, "tokens": report.trailing_tokens},
        "answers": report.answers,
        "cacheable_tokens": report.cacheable_tokens,
        "reported": report.reported,
        "before": report.before,
    }
