"""The commands recall and list."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from holdfast.app import paths
from holdfast.cli import call, say
from holdfast.cli.call import Call, in_space, wide_option
from holdfast.cli.say import echo
from holdfast.cli.tables import Styled, Table, TableColumn
from holdfast.domain.memory import STATES
from holdfast.domain.query import Filter, Order

if TYPE_CHECKING:
    from holdfast.cli.tables import Cell
    from holdfast.domain.memory import Memory
    from holdfast.domain.ranking import Hit
    from holdfast.engine.find import Page
    from holdfast.engine.recall import Recall

_ORDERS = ("category", "recent", "confidence", "created")
_COLOURS = {"inactive": "dim", "waiting": "yellow", "forgotten": "red"}
_DOUBTFUL = 0.5  # a confidence below it is marked
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
    asked = {name: value for name, value in asked.items() if value is not None}
    found = _found(call, where, session, " ".join(query), messages=not no_messages, **asked)
    call.tell(_hits(found.hits, " ".join(query), explain, wide) if found.hits else "Nothing found", found)
    if not call.json:
        call.tell("\n".join(_found_how(found, " ".join(query))), None)
    if not found.hits:
        raise click.exceptions.Exit(1)


def _found_how(found: "Recall", query: str) -> list[str]:
    notes = []
    if found.below:
        how = "" if found.hits else " (--threshold 0 shows them)"
        notes.append(f"{say.count(found.below, 'weaker match', 'weaker matches')} hidden{how}")
    if found.other_projects:
        how = "--all-projects" if found.hits else say.command("recall", quote(query), "--all-projects")
        notes.append(f"{say.count(found.other_projects, 'match', 'matches')} in other projects ({how})")
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


def memory_parts(memory: "Memory") -> list[Styled]:
    """A memory's subject and content; where a newer one contradicts it, that too."""
    outdated = memory.superseded_by is not None
    parts = [Styled(f"{memory.subject}:", "bold")] if memory.subject else []
    parts.append(Styled(memory.content, "dim" if outdated else ""))
    if mark := say.superseded(memory).strip():
        parts.append(Styled(mark, "yellow"))
    return [*parts, Styled("(pinned)", "dim")] if memory.pinned else parts


@click.command("list")
@click.option("-c", "--category", help="Only this category.")
@click.option("-s", "--subject", help="Only this subject.")
@click.option("--general", is_flag=True, help="Only memories without a subject.")
@click.option("-t", "--tag", "tags", multiple=True, help="Only with this tag; repeatable.")
@click.option("--project", help="Only this project.")
@click.option("--person", help="Only what this person wrote.")
@click.option("--session", help="Only memories from this session.")
@click.option(
    "--state",
    type=click.Choice((*STATES, "deleted", "all")),
    default="active",
    show_default=True,
    help="Only this state; forgotten is another word for deleted.",
)
@click.option("--sort", type=click.Choice(_ORDERS), default="category", show_default=True, help="Sort order.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number of results."
)
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Skip this many results.")
@click.option(
    "--as-of",
    metavar="TIME",
    callback=call.point_in_time,
    help="List the memories as they were at this time; a date means its start (UTC).",
)
@wide_option
@in_space
def list_(
    call: Call,
    /,
    *,
    state: str,
    sort: Order,
    limit: int,
    offset: int,
    as_of: datetime | None,
    wide: bool,
    **filters: Any,
) -> None:
    """List memories.

    \b
        holdfast list
        holdfast list -s jellyfin --sort confidence
        holdfast list --state all --as-of 2026-03-01 --json
    """
    states = (
        STATES if state == "all" else tuple(known for known in STATES if state in (known, say.state(known)))
    )
    where = Filter(states=states, **filters)
    with call.memories() as memories:
        page = memories.find(where, order=sort, limit=limit, offset=offset, as_of=as_of)
        weighed = memories.profile.policy.weighs_confidence
    if call.json:
        call.tell("", {"memories": page.shown, "total": page.total})
        return
    if page.memories:
        _table(page, weighed=weighed, stated=state != "active", wide=wide).show()
    echo(click.style(_total(page, offset, narrowed=where != Filter() or as_of is not None), dim=True))


def _table(page: "Page", *, weighed: bool, stated: bool, wide: bool) -> Table:
    columns = [
        TableColumn(title="updated", style="dim"),
        TableColumn(title="id", style="cyan"),
        TableColumn(title="category", style="dim", most=14, spare=True),
        TableColumn(title="memory", wraps=True, least=24),
        *([TableColumn(title="state")] if stated else []),
        *([TableColumn(title="confidence", justify="right", spare=True)] if weighed else []),
    ]
    lines = "\n".join(say.line(memory, weighed=weighed) for memory in page.shown)
    table = Table(columns, wide=wide, plain=lines)
    for item in page.shown:
        state = [[Styled(say.state(item.state), _COLOURS.get(item.state, ""))]] if stated else []
        trust = [Styled(say.number(item.confidence), "yellow" if item.confidence < _DOUBTFUL else "")]
        dated = f"{item.updated_at:%Y-%m-%d}"
        row: list[Cell] = [
            dated,
            item.id,
            item.category,
            [
                *memory_parts(item),
                *([Styled(f"(by {item.source.person})", "dim")] if wide and item.source.person else []),
            ],
            *state,
            *([trust] if weighed else []),
        ]
        table.rows.append(row)
    return table


def _total(page: "Page", offset: int, *, narrowed: bool) -> str:
    shown = len(page.memories)
    if not page.total and narrowed:
        return "No matching memories"
    if not page.total:
        return f"No memories yet: add one with {say.command('remember', 'TEXT')}"
    if shown == page.total:
        return say.memories(page.total)
    rest = offset + shown
    if not shown:
        return f"No results at offset {offset:,}: there are {say.memories(page.total)}"
    more = f"; next: --offset {rest}" if rest < page.total else ""
    first = f"{offset + 1:,}-" if shown > 1 else ""
    return f"{first}{rest:,} of {say.memories(page.total)}{more}"
