"""`hooks`: what a hook costs its agent, beside the bare interpreter, against a real service."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from bench.commands.figures import answer, at_home, with_result_file
from bench.commands.stage import filled_home, serving
from holdfast.cli.tables import Table, TableColumn

_EVENTS = {"session start": "SessionStart", "prompt": "UserPromptSubmit", "stop": "Stop"}


@click.command()
@click.option(
    "--size",
    type=click.IntRange(10, 1_000_000),
    default=500,
    show_default=True,
    help="How many memories.",
)
@click.option("--runs", type=click.IntRange(3, 1_000), default=15, show_default=True, help="How often.")
@with_result_file
@click.pass_context
def hooks(ctx: click.Context, size: int, runs: int, file: str | None) -> None:
    """Measure what a hook takes longer than the bare interpreter: medians, in turn in one run.

    \b
        python -m bench hooks --size 5000
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-hooks-") as folder, at_home(folder):
        home = Path(os.environ["HOLDFAST_HOME"])
        filled_home(home, size)
        with serving(home):
            figures = {"memories": size, "runs": runs, "over_bare_ms": _measured(runs)}
    answer(ctx, figures, file, lambda: _show(figures))


def _measured(runs: int) -> dict[str, float]:
    """The medians of the differences; a busy machine slows both of a pair."""
    hook = Path(sys.executable).with_name("holdfast-hook")
    found: dict[str, list[float]] = {name: [] for name in _EVENTS}
    for number in range(runs):
        for name, event in _EVENTS.items():
            given = {"session_id": f"run-{number}", "prompt": "When do deploys run?", "cwd": os.getcwd()}
            bare = _milliseconds([sys.executable, "-c", "pass"], {})
            found[name].append(_milliseconds([str(hook), event], given) - bare)
    return {name: round(statistics.median(each), 1) for name, each in found.items()}


def _milliseconds(command: list[str], given: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=json.dumps(given).encode(), stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1_000


def _show(figures: dict[str, Any]) -> None:
    table = Table(
        [TableColumn(title="hook"), TableColumn(title="ms over the bare interpreter", justify="right")]
    )
    table.rows.extend([name, f"{value:,}"] for name, value in figures["over_bare_ms"].items())
    table.show()
