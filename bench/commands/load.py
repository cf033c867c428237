"""`load`: many callers at once against a service of its own, in a home that is thrown away."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.commands.figures import answer, with_result_file
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Unavailable

if TYPE_CHECKING:
    from bench.load import Load

_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
_PATIENCE = 30  # seconds for the service to end


@click.command()
@click.option(
    "--clients", type=click.IntRange(1, 1_000), default=64, show_default=True, help="Callers at once."
)
@click.option(
    "--seconds", type=click.FloatRange(0.1, 3_600), default=60.0, show_default=True, help="How long."
)
@click.option(
    "--on", "db", metavar="PLACE", help="An empty database to do it in; a file of its own if not said."
)
@with_result_file
@click.pass_context
def load(ctx: click.Context, clients: int, seconds: float, db: str | None, file: str | None) -> None:
    """Measure how a service bears many callers at once.

    Starts a service in a throw-away home. Callers post messages, remember, recall, and ask for briefs and
    lists; afterwards every acknowledged message has to be there, once and in order.

    \b
        python -m bench load
        python -m bench load --clients 16 --seconds 10 --json -
    """
    from bench.load import put_under_load

    with _service(db) as service:
        found = put_under_load([service], clients=clients, seconds=seconds)
    answer(ctx, _figures(found), file, lambda: _show(found))
    if found.errors or found.lost or found.displaced or found.briefs_changed:
        raise click.exceptions.Exit(1)


@contextmanager
def _service(db: str | None) -> Iterator[tuple[str, str]]:
    """Address and token of a service in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="holdfast-load-") as home:
        command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--json"]
        settings = {"HOLDFAST_HOME": home, "HOLDFAST_SPACE": "default"}
        process = subprocess.Popen(
            [*command, "--db", db or str(Path(home) / "holdfast.db")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **settings},
        )
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline() or "{}")
            if "url" not in said:
                why = said.get("error", {}).get("message", "it said nothing")
                raise Unavailable(f"the service did not start: {why}")
            yield said["url"], (Path(home) / "token").read_text(encoding="ascii").strip()
        finally:
            process.terminate()
            process.communicate(timeout=_PATIENCE)


def _figures(found: "Load") -> dict[str, Any]:
    from bench.load import growth

    kinds: list[str | None] = [None, *found.waits]
    return {
        "clients": found.clients,
        "seconds": round(found.seconds, 1),
        "requests": found.requests,
        "per_second": round(found.requests / found.seconds, 1),
        "errors": len(found.errors),
        "acknowledged": found.acknowledged,
        "lost": found.lost,
        "displaced": found.displaced,
        "briefs_changed": found.briefs_changed,
        "memory_mb": [size // 2**20 for size in found.memory],
        "memory_growth": round(growth(found.memory), 4),
        "wait_ms": {
            kind or "all": {
                name: round(found.wait(share, kind) * 1_000, 1) for name, share in _SHARES.items()
            }
            for kind in kinds
        },
    }


def _show(found: "Load") -> None:
    figures = _figures(found)
    table = Table(
        [TableColumn(title=title, justify="right") for title in ("request", "times", *_SHARES, "p99/p50")]
    )
    for kind, waits in figures["wait_ms"].items():
        times = found.requests if kind == "all" else len(found.waits[kind])
        ratio = waits["p99"] / waits["p50"] if waits["p50"] else 0.0
        shown = [f"{waits[name]:.0f} ms" for name in _SHARES]
        table.rows.append([kind, f"{times:,}", *shown, f"{ratio:.1f}"])
    table.show()
    megabytes = figures["memory_mb"] or [0]
    lines = [
        f"{figures['per_second']:.0f} requests a second, {len(found.errors)} errors",
        f"{found.acknowledged:,} messages acknowledged, {found.lost} lost, {found.displaced} displaced",
        f"memory from {megabytes[0]} to {megabytes[-1]} MB",
    ]
    click.echo("\n".join(lines))
    for error in sorted(set(found.errors))[:5]:
        click.echo(f"  {error}", err=True)
