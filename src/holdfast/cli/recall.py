"""The command recall."""

from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from holdfast.app import paths
from holdfast.cli import call, say
from holdfast.cli.call import Call, in_space, wide_option
from holdfast.cli.memory_list import memory_parts
from holdfast.cli.tables import Styled, Table, TableColumn
from holdfast.domain.query import Filter

if TYPE_CHECKING:
    from holdfast.cli.tables import Cell
    from holdfast.domain.ranking import Hit
    from holdfast.engine.recall import Recall

_WORDS_ONLY = "found by keywords only: no embedder, or not embedded yet"


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-c", "--category", help="Only this category.")
@click.option("-s", "--subject", help="Only this subject.")
@click.option("-t", "--tag", "tags", multiple=True, help="Only with this tag; repeatable.")
@click.option("--person", help="Only what this person wrote.")
@click.option("--project", help="This project and global memories. Default: the project of this directory.")
@click.option("--all-projects", is_flag=True, help="Search all projects.")
@click.option("--limit", type=int, default=5, show_default=True, help="Maximum number of results.")
@click.option("--threshold", type=float, help="Minimum relevance. Default: calibrated.")
@click.option(
    "--as-of",
    metavar="TIME",
    callback=call.point_in_time,
    help="Search the memories as they were at this time, such as 2026-03-01T14:30.",
)
@click.option(
    "--session", help="The session that asks: what it gets can be rated, and its own messages are left out."
)
@click.option("--no-messages", is_flag=True, help="Search memories only, not messages.")
@click.option("--explain", is_flag=True, help="Show how each score was computed.")
@wide_option
@in_space
def recall(
    call: Call,
    /,
    *,
    query: tuple[str, ...],
    category: str | None,
    subject: str | None,
    tags: tuple[str, ...],
    person: str | None,
    project: str | None,
    all_projects: bool,
    session: str | None,
    no_messages: bool,
    explain: bool,
    wide: bool,
    **asked: Any,
) -> None:
    """Search memories and past messages (also: search).

    Searches by meaning and by words. Weak matches are hidden; exit code 1 when nothing is found. Messages
    are left out when a filter applies to memories only, such as --category.

    \b
        holdfast recall how long does jellyfin need to start
        holdfast recall what did Caroline say about the museum last week
        holdfast recall "backup disk" -c remediation --limit 3 --explain
    """
    project = None if all_projects else project or paths.project_of(call.directory)
    labels: Any = {"category": category, "subject": subject, "tags": tags, "person": person}
    where = Filter(**labels, project=project, other_projects=all_projects)
    text = " ".join(query)
    found = _found(call, where, session, text, messages=not no_messages, **asked)
    call.tell(_hits(found.hits, text, explain, wide) if found.hits else _nothing(found, text), found)
    if not call.json:
        call.tell("\n".join(_found_how(found)), None)
    if not found.hits:
        raise click.exceptions.Exit(1)


def _nothing(found: "Recall", query: str) -> str:
    if not found.other_projects:
        return "Nothing found"
    how = say.command("recall", quote(query), "--all-projects")
    return f"Nothing found here, but {_elsewhere(found)} ({how})"


def _elsewhere(found: "Recall") -> str:
    return f"{say.count(found.other_projects, 'match', 'matches')} in other projects"


def _found_how(found: "Recall") -> list[str]:
    notes = []
    if found.below:
        how = "" if found.hits else " (--threshold 0 shows them)"
        notes.append(f"{say.count(found.below, 'weaker match', 'weaker matches')} hidden{how}")
    if found.other_projects and found.hits:
        notes.append(f"{_elsewhere(found)} (--all-projects)")
    if found.matched == "text":
        notes.append(_WORDS_ONLY)
    return [click.style("; ".join(notes), dim=True)] if notes else []


def hit_lines(hit: "Hit", query: str, explain: bool) -> str:
    """A hit for a person, with how its score came about where that is asked for."""
    from holdfast.domain.ranking import MemoryHit

    shown = say.headline(hit.memory) if isinstance(hit, MemoryHit) else say.quote(hit, query)
    of_message = ", from its message" if "message" in hit.parts else ""
    text = f"{shown} {click.style(f'(score {say.number(hit.score)}{of_message})', dim=True)}"
    if isinstance(hit, MemoryHit) and hit.cites is not None:
        text += f"\n  From {say.message(hit.cites, query)}"
    if not explain:
        return text
    return f"{text}\n  {_explained(hit)}"


def _explained(hit: "Hit") -> str:
    """How its score came about."""
    factors = " x ".join(f"{name} {say.number(value)}" for name, value in hit.parts.items())
    evidence = [
        f"{'-' if value < 0 else '+'} {name} {say.number(abs(value))}" for name, value in hit.evidence.items()
    ]
    return f"{factors}; relevance = {' '.join(evidence).removeprefix('+ ')}"


def _found(call: Call, where: Filter, session: str | None, query: str, **asked: Any) -> "Recall":
    """What recall finds; where that is nothing, with how much other projects have."""
    asked = {name: value for name, value in asked.items() if value is not None}
    with call.memories(session=session) as memories:
        found = memories.recall(query, where=where, **asked)
        if found.hits or session or where.other_projects:
            return found
        anywhere = replace(where, project=None, other_projects=True)
        return replace(found, other_projects=len(memories.recall(query, where=anywhere, **asked).hits))


def _hits(hits: "Sequence[Hit]", query: str, explain: bool, wide: bool) -> Table:
    columns = [
        TableColumn(title="date", style="dim"),
        TableColumn(title="id", style="cyan"),
        TableColumn(title="memory", wraps=True, least=24),
        TableColumn(title="score", justify="right", style="dim", spare=True),
    ]
    lines = "\n".join(hit_lines(hit, query, explain) for hit in hits)
    return Table(columns, [_hit_row(hit, query, explain) for hit in hits], wide, lines)


def _hit_row(hit: "Hit", query: str, explain: bool) -> "Sequence[Cell]":
    from holdfast.domain.ranking import MemoryHit

    if isinstance(hit, MemoryHit):
        said_at, known, cell = (
            hit.memory.updated_at,
            hit.memory.id,
            [Styled(f"[{hit.memory.category}]", "dim")],
        )
        cell += memory_parts(hit.memory)
        if hit.cites is not None:
            cell.append(Styled(f"From {click.unstyle(say.message(hit.cites, query))}", "dim", below=True))
    else:
        said_at, known, shown = hit.message.said_at, "", hit.message
        project = f", project {hit.session.project}" if hit.session and hit.session.project else ""
        cell = [Styled(f"{shown.speaker or shown.role}:", "cyan"), Styled(f'"{say.excerpt(shown, query)}"')]
        cell.append(Styled(f"session {shown.session}{project}", "dim", below=True))
    if explain:
        cell.append(Styled(_explained(hit), "dim", below=True))
    return f"{said_at:%Y-%m-%d}", known, cell, f"{hit.score:.2f}"
