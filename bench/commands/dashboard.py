"""`dashboard`: what each page costs the server at a size, in a throw-away home."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.commands.figures import answer, at_home, progress, with_result_file
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Conflict

if TYPE_CHECKING:
    from bench.pages import Measured

_SPACE = "bench"
_TOKEN = "bench"  # of an application that only this process can reach
_BLOCK = 1_000


@click.command()
@click.option(
    "--size",
    type=click.IntRange(10, 1_000_000),
    default=100_000,
    show_default=True,
    help="How many memories the space has.",
)
@click.option(
    "--on", "db", metavar="PLACE", help="An empty database to do it in; a file of its own if not said."
)
@click.option("--as", "role", metavar="PLACE", help="The same database, as the role that serves the pages.")
@click.option("--rounds", type=click.IntRange(1, 100), default=5, show_default=True, help="Of each page.")
@with_result_file
@click.pass_context
def dashboard(
    ctx: click.Context, size: int, db: str | None, role: str | None, rounds: int, file: str | None
) -> None:
    """Measure every page of the dashboard: milliseconds of server time, and kilobytes.

    \b
        python -m bench dashboard
        python -m bench dashboard --size 10000 --json -
    """
    from bench.pages import MOST_KB, MOST_MS
    from bench.speed.report import machine

    with tempfile.TemporaryDirectory(prefix="holdfast-pages-") as home, at_home(home):
        found = _measured(db or str(Path(home) / "bench.db"), role, size, rounds)
    told = {
        "bench": "dashboard",
        "machine": machine(),
        "memories": size,
        "goals": {"ms": MOST_MS, "kilobytes": MOST_KB},
        "pages": {name: _figures(page) for name, page in found.items()},
        "reached": all(page.reached for page in found.values()),
    }
    answer(ctx, told, file, lambda: _show(found, size))


def _measured(db: str, role: str | None, size: int, rounds: int) -> "dict[str, Measured]":
    from bench import pages
    from bench.speed.corpus import Corpus, GeneratedEmbedder
    from holdfast.app import wiring
    from holdfast.app.service_host import assembled
    from holdfast.app.space_registry import SpaceRegistry
    from holdfast.engine.spaces import create_space
    from holdfast.profiles import built_in

    store = wiring.open_store(db)
    try:
        if store.space(_SPACE) is not None:
            raise Conflict(f"there is a space {_SPACE!r} already: name an empty database")
        create_space(_SPACE, store=store, clock=wiring.utc_now, profile="ops")
        ctx = wiring.context_for(_SPACE, store, embedder=GeneratedEmbedder(wiring.open_embedder()))
        with progress("filling", size // _BLOCK) as bar:
            pages.fill(ctx, Corpus(built_in("ops").category_names), size, lambda done: bar.done())
    finally:
        store.close()
    wiring.index_large_spaces(db)
    registry = SpaceRegistry(role or db, _SPACE, waits=False)
    try:
        with progress("asking for pages", len(pages.views())) as bar:
            found = {}
            app = assembled(registry, own=_TOKEN)
            for name, page in pages.measured(app, _TOKEN, _SPACE, rounds=rounds):
                found[name] = page
                bar.done()
        return found
    finally:
        registry.close()


def _figures(page: "Measured") -> dict[str, Any]:
    return {
        "ms": round(page.cost.wall, 1),
        "cpu_ms": round(page.cost.cpu, 1),
        "kilobytes": round(page.kilobytes, 1),
        "reached": page.reached,
    }


def _show(found: "Mapping[str, Measured]", size: int) -> None:
    from bench.pages import MOST_KB, MOST_MS
    from bench.speed.report import machine

    titles = ("ms", "CPU ms", "KB", "goal")
    table = Table(
        [TableColumn(title="page"), *(TableColumn(title=title, justify="right") for title in titles)]
    )
    for name, page in found.items():
        goal = "reached" if page.reached else "missed"
        figures = (page.cost.wall, page.cost.cpu, page.kilobytes)
        table.rows.append([name, *(f"{figure:,.0f}" for figure in figures), goal])
    table.show()
    goals = f"{MOST_MS:.0f} ms of server time and {MOST_KB:.0f} KB a page"
    click.echo(f"{size:,} memories; the goals are {goals}; load {machine()['load']}")
