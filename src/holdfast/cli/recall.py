"""The commands recall and list."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from holdfast.app import paths
from holdfast.cli import call, say
from holdfast.cli.call import Call, in_space
from holdfast.cli.say import echo, on_terminal, width
from holdfast.domain.memory import STATES
from holdfast.domain.query import Filter, Order

if TYPE_CHECKING:
    from holdfast.domain.ranking import Hit
    from holdfast.engine.find import Page
    from holdfast.engine.recall import Recall

_ORDERS = ("category", "recent", "confidence", "created")
_AS_TABLE, _WITH_DATES = 80, 100  # characters of a terminal that a table needs
_WORDS_ONLY = "no embedder: keyword search only"


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-c", "--category", help="Only this category.")
@click.option("-s", "--subject", help="Only this subject.")
@click.option("-t", "--tag", "tags", multiple=True, help="Only with this tag; repeatable.")
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
    "--session", help="The session that asks: it gets a receipt, and its own messages are left out."
)
@click.option("--no-messages", is_flag=True, help="Search memories only, not messages.")
@click.option("--explain", is_flag=True, help="Show how each score was computed.")
@in_space
def recall(
    call: Call,
    /,
    *,
    query: tuple[str, ...],
    category: str | None,
    subject: str | None,
    tags: tuple[str, ...],
    project: str | None,
    all_projects: bool,
    session: str | None,
    no_messages: bool,
    explain: bool,
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
    where = Filter(
        category=category,
        subject=subject,
        tags=tags,
        project=None if all_projects else project or paths.project_of(call.directory),
        other_projects=all_projects,
    )
    given_only = {name: value for name, value in asked.items() if value is not None}
    with call.memories(session=session) as memories:
        found = memories.recall(" ".join(query), where=where, messages=not no_messages, **given_only)
    lines = [hit_lines(hit, " ".join(query), explain) for hit in found.hits] or ["Nothing found"]
    call.tell("\n".join([*lines, *_found_how(found)]), found)
    if not found.hits:
        raise click.exceptions.Exit(1)


def _found_how(found: "Recall") -> list[str]:
    notes = [f"{say.count(found.below, 'weaker match', 'weaker matches')} hidden"] if found.below else []
    if found.other_projects:
        notes.append(
            f"{say.count(found.other_projects, 'match', 'matches')} in other projects (--all-projects)"
        )
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
    factors = " x ".join(f"{name} {say.number(value)}" for name, value in hit.parts.items())
    evidence = [
        f"{'-' if value < 0 else '+'} {name} {say.number(abs(value))}" for name, value in hit.evidence.items()
    ]
    return f"{text}\n  {factors}; relevance = {' '.join(evidence).removeprefix('+ ')}"


@click.command("list")
@click.option("-c", "--category", help="Only this category.")
@click.option("-s", "--subject", help="Only this subject.")
@click.option("--general", is_flag=True, help="Only memories without a subject.")
@click.option("-t", "--tag", "tags", multiple=True, help="Only with this tag; repeatable.")
@click.option("--project", help="Only this project.")
@click.option("--session", help="Only memories from this session.")
@click.option(
    "--state",
    type=click.Choice((*STATES, "all")),
    default="active",
    show_default=True,
    help="Only this state; forgotten means deleted.",
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
@in_space
def list_(
    call: Call, /, *, state: str, sort: Order, limit: int, offset: int, as_of: datetime | None, **filters: Any
) -> None:
    """List memories.

    \b
        holdfast list
        holdfast list -s jellyfin --sort confidence
        holdfast list --state all --as-of 2026-03-01 --json
    """
    states = STATES if state == "all" else tuple(known for known in STATES if known == state)
    where = Filter(states=states, **filters)
    with call.memories() as memories:
        page = memories.find(where, order=sort, limit=limit, offset=offset, as_of=as_of)
        weighed = memories.profile.policy.weighs_confidence
    if call.json:
        call.tell("", {"memories": page.shown, "total": page.total})
        return
    least = _AS_TABLE if state == "active" else _WITH_DATES
    if page.memories and on_terminal() and width() >= least:
        _table(page, weighed=weighed, state=state)
    elif page.memories:
        echo("\n".join(say.line(memory, weighed=weighed) for memory in page.shown))
    echo(click.style(_total(page, offset, narrowed=where != Filter() or as_of is not None), dim=True))


def _table(page: "Page", *, weighed: bool, state: str) -> None:
    from holdfast.cli.tables import Table, TableColumn

    dated = width() >= _WITH_DATES
    columns = [
        TableColumn(title="id", style="cyan", least=8),
        TableColumn(title="category", style="dim", most=14),
        TableColumn(title="subject", most=20 if dated else 12),
        TableColumn(title="content", wraps=True, least=20),
    ]
    columns += [TableColumn(title="confidence", justify="right")] if weighed else []
    columns += [TableColumn(title="state")] if state != "active" else []
    columns += [TableColumn(title="updated", style="dim")] if dated else []
    table = Table(columns)
    for item in page.shown:
        cells = [item.id, item.category, item.subject or "-", item.content + say.superseded(item)]
        cells += [say.number(item.confidence)] if weighed else []
        cells += [say.state(item)] if state != "active" else []
        cells += [item.updated_at.strftime("%Y-%m-%d")] if dated else []
        table.rows.append(cells)
    table.show()


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
