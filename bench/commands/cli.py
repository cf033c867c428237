"""`cli`: what commands cost beside the bare interpreter, with a running service and without one."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from bench.commands.figures import answer, at_home, with_result_file
from bench.commands.stage import filled_home, serving
from bench.goals import rows, table_of

# `{}` is a number that is another in each run.
_COMMANDS = {
    "list": ["list"],
    "remember": ["remember", "The relay number {} waits {} seconds before it answers"],
    "recall": ["recall", "how long does the relay wait"],
    "brief": ["brief"],
}


@click.command("cli")
@click.option(
    "--size", type=click.IntRange(10, 1_000_000), default=1_000, show_default=True, help="How many memories."
)
@click.option("--runs", type=click.IntRange(3, 1_000), default=7, show_default=True, help="How often.")
@with_result_file
@click.pass_context
def command_line(ctx: click.Context, size: int, runs: int, file: str | None) -> None:
    """Measure the CPU time of commands over the bare interpreter: medians, in turn in one run.

    The work of the service is not counted. Without one, remember and recall load the models.

    \b
        python -m bench cli
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-cli-") as folder, at_home(folder):
        home = Path(os.environ["HOLDFAST_HOME"])
        filled_home(home, size)
        here = _measured(runs)
        with serving(home):
            figures = {"memories": size, "runs": runs, "here": here, "served": _measured(runs)}
    answer(ctx, figures, file, lambda: table_of(rows("cli", figures)).show())


def _measured(runs: int) -> dict[str, float]:
    """The medians, as far as they exceed that of the bare interpreter."""
    found: dict[str, list[float]] = {name: [] for name in ("bare", *_COMMANDS)}
    program = [sys.executable, "-m", "holdfast"]
    for number in range(runs):
        found["bare"].append(_milliseconds([sys.executable, "-c", "pass"]))
        for name, arguments in _COMMANDS.items():
            found[name].append(
                _milliseconds([*program, *(each.format(number, number) for each in arguments)])
            )
    bare = statistics.median(found.pop("bare"))
    return {name: round(statistics.median(each) - bare, 1) for name, each in found.items()}


def _milliseconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1_000
