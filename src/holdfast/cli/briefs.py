"""The commands for prompts: brief, context, cache-report."""

import json
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from holdfast.app import paths
from holdfast.cli import call, say
from holdfast.cli.call import Call, in_space, wide_option, wrong_usage
from holdfast.cli.say import echo, on_terminal
from holdfast.domain.budget import CONTEXT_LINES, CONTEXT_TOKENS
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.brief import Brief
    from holdfast.engine.cache_report import CacheReport, Difference, SessionReport
    from holdfast.engine.context import Context
    from holdfast.engine.memories import Memories
    from holdfast.engine.sessions import NewMessage

_MOST_BYTES = 8_000_000  # bytes on standard input


@click.command()
@click.option("--session", help="The session that gets the brief; it gets the same text every time.")
@click.option("--project", help="This project and global memories. Default: the project of this directory.")
@click.option("-s", "--subject", help="List memories about this subject first.")
@click.option(
    "--budget", type=int, help="Maximum tokens. Default: from the profile.  [env: HOLDFAST_MEMORY_BUDGET]"
)
@wide_option
@in_space
def brief(
    call: Call, session: str | None, project: str | None, subject: str | None, budget: int | None, wide: bool
) -> None:
    """Print the memory block for a prompt.

    In a pipe or a file, prints the block and nothing else. On a terminal, wraps its lines and adds its size.

    \b
        holdfast brief
        holdfast brief --session run-42 --subject jellyfin --budget 500
    """
    given, project = project, project or paths.project_of(call.directory)
    with call.memories(session=session) as memories:
        made = memories.brief(project=project, subject=subject, budget=budget)
        hint = _hint(memories, given, project) if not made.frozen else ""
    if call.json:
        answer = {"text": made.text, "sha256": made.sha256, "tokens": made.tokens}
        rest = {"included": list(made.included), "left_out": made.left_out, "frozen": made.frozen}
        call.tell("", {**answer, **rest})
    elif on_terminal():
        notes = [click.style(each, dim=True) for each in (_size(made, budget), hint) if each]
        call.tell("\n".join([*_wrapped(made.text, wide), *notes]), None)
    else:
        echo(made.text, nl=False)


def _hint(memories: "Memories", given: str | None, project: str | None) -> str:
    """For a person, why nothing of a project shows; the directory's own may have nothing yet."""
    if not on_terminal() or given != project:
        return ""
    from holdfast.cli.projects import hint

    return hint(memories, project)


def _wrapped(text: str, wide: bool) -> "Iterator[str]":
    """The lines of a brief for a person to read."""
    from textwrap import wrap

    for line in map(say.visible, text.splitlines()):
        hang = "  " if line.startswith("- ") else ""
        parts = [line] if wide else wrap(line, max(say.width(), 20), subsequent_indent=hang) or [""]
        yield from (click.style(part, bold=True) for part in parts) if line.startswith("#") else parts


def _size(made: "Brief", budget: int | None) -> str:
    if not made.included and made.left_out:
        small = f"A budget of {say.count(budget, 'token')}" if budget is not None else "The budget"
        return f"{small} is too small for any of {say.memories(made.left_out)}: give more with --budget"
    if not made.included:
        return f"The brief is empty: add a memory with {say.command('remember', 'TEXT')}"
    more = f"; {made.left_out:,} more do not fit (--budget)" if made.left_out else ""
    return f"\n{say.memories(len(made.included))}, {say.count(made.tokens, 'token')}{more}"


@click.command()
@click.option("--session", help="The session that gets the block; it never gets a memory twice.")
@click.option("--project", help="This project and global memories. Default: the project of this directory.")
@click.option("--budget", type=int, default=CONTEXT_TOKENS, show_default=True, help="Maximum tokens.")
@click.option(
    "--limit", type=int, default=CONTEXT_LINES, show_default=True, help="Maximum number of memories."
)
@click.option("--explain", is_flag=True, help="Show why each line is there, and what was left out and why.")
@in_space
def context(call: Call, session: str | None, project: str | None, **fields: Any) -> None:
    """Print memories that help with the latest message.

    Reads messages from standard input: plain text is the user's latest message; JSON lines with role and text
    (or content) are messages, newest last; earlier ones say what it refers to. Prints a block for the
    prompt, or nothing when there is nothing new and relevant. The exit code is 0 in both cases. With
    --explain, nothing counts as shown to the session.

    \b
        echo "how do I restart jellyfin" | holdfast context --session run-42
        echo "how do I restart jellyfin" | holdfast context --explain
        holdfast context --session run-42 --json < messages.jsonl
    """
    given, project = project, project or paths.project_of(call.directory)
    said = _messages(_input())
    with call.memories(origin="assistant", session=session) as memories:
        made = memories.context(said, project=project, **fields)
        hint = _hint(memories, given, project) if not made.text else ""
    if call.json or fields["explain"]:
        call.tell(_explained(made), made)
    else:
        echo(say.visible(made.text) if on_terminal() else made.text, nl=False)
    if hint and not call.json:
        echo(click.style(hint, dim=True))


def _explained(made: "Context") -> str:
    if not made.candidates:
        return "Nothing found: the latest message is small talk, or no memory is about it"
    from holdfast.cli.recall import hit_lines

    parts = []
    for place, found in groupby(made.candidates, key=lambda each: each.place):
        lines = [f"  {line}" for each in found for line in hit_lines(each.hit, each.asked, True).split("\n")]
        parts.append("\n".join([click.style(f"{place.capitalize()}:", bold=True), *lines]))
    asked = f"Asked with: {say.one_line(made.candidates[0].asked)}"
    return "\n\n".join([*parts, click.style(asked, dim=True)])


def _input() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        hint = "no message: pipe one in, for example `echo TEXT | holdfast context`"
        raise wrong_usage(hint)
    # Refused rather than truncated: the latest message is at the end.
    given = call.read_input(_MOST_BYTES + 1)
    if len(given) > _MOST_BYTES:
        raise Invalid(
            f"standard input is larger than {_MOST_BYTES:,} bytes: send only the latest messages",
            field="messages",
        )
    return given.decode("utf-8-sig", "replace")


def _messages(text: str) -> "list[NewMessage | str]":
    """One message per line if the input is JSON lines, else the whole text as one user message."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines or _as_message(lines[0][1]) is None:
        return [text] if lines else []
    return [_new_message(line, number) for number, line in lines]


def _as_message(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "role" in found else None


def _new_message(line: str, number: int) -> "NewMessage":
    from holdfast.engine.sessions import NewMessage

    found = _as_message(line)
    content = found.get("text", found.get("content")) if found else None
    if found is None or not isinstance(found["role"], str) or not isinstance(content, str):
        wrong = f'line {number} is not a message: use {{"role": "user", "text": "..."}}, one per line'
        raise Invalid(wrong, field="messages")
    speaker = found.get("speaker")
    return NewMessage(
        role=found["role"], content=content, speaker=speaker if isinstance(speaker, str) else None
    )


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
    call.tell("\n\n".join(_report_lines(found)), _as_json(found))


def _report_lines(found: "CacheReport") -> list[str]:
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
    return {"sessions": list(map(_report_json, found.sessions)), "without_brief": found.without_brief}


def _report_json(report: "SessionReport") -> dict[str, Any]:
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
