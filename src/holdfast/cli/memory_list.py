"""The command list."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import call, say
from holdfast.cli.call import Call, in_space, wide_option
from holdfast.cli.say import echo
from holdfast.cli.tables import Styled, Table, TableColumn
from holdfast.domain.memory import STATES
from holdfast.domain.query import Filter, Order

if TYPE_CHECKING:
    from holdfast.cli.tables import Cell
    from holdfast.domain.memory import Memory
    from holdfast.engine.find import Page
    from holdfast.engine.memories import Memories

_ORDERS = ("category", "recent", "confidence", "created")
_COLOURS = {"inactive": "dim", "waiting": "yellow", "forgotten": "red"}
_DOUBTFUL = 0.5  # a confidence below it is marked


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
        left = memories.unread_sessions()
        mistyped = "" if page.total or where == Filter() else _mistyped(memories, where)
    if call.json:
        call.tell("", {"memories": page.shown, "total": page.total})
        return
    if page.memories:
        _table(page, weighed=weighed, stated=state != "active", wide=wide).show()
    total = mistyped or _total(page, offset, narrowed=where != Filter() or as_of is not None)
    echo(click.style(total, dim=True))
    if left:
        echo(click.style(f"{say.count(left, 'session')} still to be read; more memories may come", dim=True))


def memory_parts(memory: "Memory") -> list[Styled]:
    """A memory's subject and content; where a newer one contradicts it, that too."""
    outdated = memory.superseded_by is not None
    parts = [Styled(f"{memory.subject}:", "bold")] if memory.subject else []
    parts.append(Styled(memory.content, "dim" if outdated else ""))
    if outdated:
        parts.append(Styled(say.superseded(memory).strip(), "yellow"))
    return [*parts, Styled("(pinned)", "dim")] if memory.pinned else parts


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
            [*memory_parts(item), *_project(item), *(_person(item) if wide else [])],
            *state,
            *([trust] if weighed else []),
        ]
        table.rows.append(row)
    return table


def _person(memory: "Memory") -> list[Styled]:
    return [Styled(f"(by {memory.source.person})", "dim")] if memory.source.person else []


def _project(memory: "Memory") -> list[Styled]:
    return [Styled(f"(project {memory.project})", "dim")] if memory.project else []


def _mistyped(memories: "Memories", where: Filter) -> str:
    """What is known instead of a project or a category that is not."""
    from holdfast.cli import projects
    from holdfast.errors import nearest

    known = memories.profile.category_names
    if where.category and where.category not in known:
        names = say.one_line(nearest(where.category, known))
        return f"no memories in category {say.one_line(repr(where.category))}: the categories are {names}"
    return projects.unknown(memories, where.project) if where.project else ""


def _total(page: "Page", offset: int, *, narrowed: bool) -> str:
    if not page.total and narrowed:
        return "No matching memories"
    if not page.total:
        return f"No memories yet: add one with {say.command('remember', 'TEXT')}"
    return say.part(len(page.memories), offset, page.total, say.memories(page.total))
