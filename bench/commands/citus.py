"""`citus`: recall, remember and brief on a cluster beside one PostgreSQL, by spaces and memories."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.commands.figures import answer, progress, with_result_file, write
from bench.goals import rounded
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Conflict

if TYPE_CHECKING:
    from bench.scale.filling import Shape
    from bench.scale.measuring import Server

_ROLE = "holdfast_service"
_STEPS = (8, 4, 2, 1)  # parts of the spaces that the growth is measured at
_FIGURES = {
    "p50_ms": "p50",
    "p99_ms": "p99",
    "service_cpu_ms": "CPU service",
    "server_cpu_ms": "CPU servers",
}
#: As the guide grants it.
_GRANTS = (
    "GRANT USAGE ON SCHEMA public TO {0}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {0}",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {0}",
)
_SAYS = (
    "Filled by COPY, below the API, with the rows that the API leaves. Vectors of questions are ready-made "
    "(0.1 ms), and neither the judge nor the reader is used. Calls go through the Python API, as the role of "
    "the service, behind row-level security. CPU is of the service and of the servers, for one call."
)

Row = dict[str, Any]


@click.command()
@click.option("--cluster", required=True, metavar="URL", help="An empty database on Citus, as a superuser.")
@click.option("--plain", required=True, metavar="URL", help="The same on one PostgreSQL, as a superuser.")
@click.option("--spaces", type=click.IntRange(8, 100_000), default=2_000, show_default=True)
@click.option(
    "--memories", type=click.IntRange(2, 10_000), default=500, show_default=True, help="In each space."
)
@click.option(
    "--large",
    type=click.IntRange(2, 10_000_000),
    default=1_000_000,
    show_default=True,
    help="Memories of one more space.",
)
@click.option("--calls", type=click.IntRange(8, 100_000), default=400, show_default=True, help="Of a figure.")
@click.option(
    "--callers", type=click.IntRange(1, 1_000), multiple=True, default=(1, 16, 64), show_default=True
)
@with_result_file
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the growth as an SVG.")
@click.pass_context
def citus(
    ctx: click.Context,
    cluster: str,
    plain: str,
    spaces: int,
    memories: int,
    large: int,
    calls: int,
    callers: tuple[int, ...],
    file: str | None,
    plot: Path | None,
) -> None:
    """Measure a Citus cluster beside one PostgreSQL, with up to thousands of spaces and one large one.

    Fills both and measures recall, remember and brief, cluster and PostgreSQL in turn: with an eighth, a
    quarter and half of the spaces by one caller, with all of them and in the large space by all. A
    million memories take about ten minutes and 5 GB on each side. Databases that it has filled are only
    measured.

    \b
        python -m bench citus --cluster URL --plain URL
        python -m bench citus --cluster URL --plain URL --spaces 40 --memories 50 --large 2000
    """
    from bench.scale.filling import Shape
    from bench.speed.report import machine

    owners = {"cluster": _for_driver(cluster), "plain": _for_driver(plain)}
    shape = Shape(spaces, memories, large)
    with progress("bench citus", max(spaces, large // memories)) as bar:
        rows = list(_measured(owners, shape, calls, callers, bar.done))
    on = machine()
    told = {"bench": "citus", "machine": on, "says": _SAYS, "rows": rows}
    answer(ctx, told, file, lambda: _show(rows, on["load"]))
    if plot is not None:
        from bench.speed.plot import drawn

        title = "CPU time of one call, service and servers, by memories in the database"
        write(plot, drawn(title, _lines(rows)), field="plot")


def _measured(
    owners: Mapping[str, str],
    shape: "Shape",
    calls: int,
    callers: Sequence[int],
    told: Callable[[], None],
) -> Iterator[Row]:
    from bench.scale.filling import LARGE, fill_in_steps
    from bench.scale.measuring import Server
    from bench.speed.corpus import Corpus
    from holdfast.profiles import built_in

    roles = {name: _set_up(owner, cluster=name == "cluster") for name, owner in owners.items()}
    corpus = Corpus(built_in("default").category_names)
    servers = [Server(name, owners[name], role, corpus) for name, role in roles.items()]
    steps = sorted({max(1, shape.spaces // part) for part in _STEPS})
    try:
        if not any(map(Server.spaces, servers)):
            done = fill_in_steps(list(owners.values()), corpus, shape, steps, told)
        elif all({LARGE, shape.names[-1]} <= server.spaces() for server in servers):
            done = iter([shape.spaces])
        else:
            raise Conflict("the databases hold other spaces: name empty ones")
        for amount in done:
            says, stored = f"{amount:,} spaces of {shape.memories:,}", shape.stored(amount)
            many = callers if amount == shape.spaces else callers[:1]
            yield from _rows(servers, shape.names[:amount], says, stored, calls, many)
        says, stored = f"a space of {shape.large:,}", shape.stored(shape.spaces)
        yield from _rows(servers, [LARGE], says, stored, calls, callers)
    finally:
        for server in servers:
            server.close()


def _for_driver(url: str) -> str:
    """The URL without SQLAlchemy's driver."""
    from sqlalchemy import make_url

    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _set_up(owner: str, *, cluster: bool) -> str:
    """Makes the tables and the role of the service; the URL of that role."""
    import psycopg
    from sqlalchemy import make_url

    from holdfast.app import wiring

    if cluster:
        wiring.distribute(owner)
    else:
        wiring.migrate(owner)
    with psycopg.connect(owner, autocommit=True) as connection:
        if cluster:
            connection.execute("SET citus.multi_shard_modify_mode TO 'sequential'")
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [_ROLE]).fetchall():
            connection.execute(f"CREATE ROLE {_ROLE} LOGIN")
        for grant in _GRANTS:
            connection.execute(grant.format(_ROLE))
    return make_url(owner).set(username=_ROLE, password=None).render_as_string(hide_password=False)


def _rows(
    servers: "Sequence[Server]",
    names: Sequence[str],
    says: str,
    memories: int,
    calls: int,
    many: Sequence[int],
) -> Iterator[Row]:
    from bench.scale.measuring import VERBS, compared

    for verb in VERBS:
        for each in many:
            found = compared(servers, verb, names, each, calls)
            yield {"where": says, "memories": memories, "verb": verb, "callers": each, **found}


def _show(rows: Sequence[Row], load: float | None) -> None:
    titles = [f"{name} {figure}" for name in ("cluster", "plain") for figure in _FIGURES.values()]
    table = Table(
        [
            TableColumn(title="where"),
            TableColumn(title="verb"),
            *(TableColumn(title=title, justify="right") for title in ("callers", *titles, "CPU ratio")),
        ]
    )
    for row in rows:
        cells = [
            f"{rounded(row[name][figure]):g}" if figure in row[name] else ""
            for name in ("cluster", "plain")
            for figure in _FIGURES
        ]
        table.rows.append([row["where"], row["verb"], f"{row['callers']}", *cells, _ratio(row)])
    table.show()
    click.echo(f"{_SAYS} Load at the end: {load}.")


def _ratio(row: Row) -> str:
    """CPU of service and servers for one call, cluster to plain."""
    if any("server_cpu_ms" not in row[name] for name in ("cluster", "plain")):
        return ""
    return f"{rounded(_cpu(row['cluster']) / _cpu(row['plain'])):g}"


def _cpu(figures: Mapping[str, float]) -> float:
    return figures["service_cpu_ms"] + figures.get("server_cpu_ms", 0.0)


def _lines(rows: Sequence[Row]) -> dict[str, dict[int, float]]:
    """CPU of one call of one caller in the small spaces, by all memories of the database."""
    lines: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["callers"] == 1 and "spaces" in row["where"]:
            for name in ("cluster", "plain"):
                lines.setdefault(f"{row['verb']}, {name}", {})[row["memories"]] = _cpu(row[name])
    return lines
