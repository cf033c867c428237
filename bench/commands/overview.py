"""Every figure that has a goal, in one table beside the floor and the peers."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from bench.commands.figures import answer, progress, with_result_file, write
from bench.goals import GOALS, PEERS, rows, say_missing, table_of
from holdfast.errors import Unavailable

_QUICK = (
    ("relations",),
    ("gate",),
    ("queries",),
    ("months",),
    ("week",),
    ("speed", "--sizes", "1k,10k", "--rounds", "15", "--no-slices", "--against", ",".join(PEERS)),
    ("hooks",),
    ("cli",),
    ("dashboard",),
)
_FULL = (("speed", "--sizes", "10k,100k,1M", "--no-slices", "--against", "floor"),)


@click.command()
@click.option(
    "--full", is_flag=True, help="10,000, 100,000 and 1,000,000 memories, ours and the floor alone."
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw cost by size as an SVG.")
@with_result_file
@click.pass_context
def overview(ctx: click.Context, full: bool, plot: Path | None, file: str | None) -> None:
    """Run the benchmarks that have goals and print one table.

    Medians of CPU milliseconds where no other unit is named; of the floor and of peers CPU / wall. The
    figures of judgement and recall are training figures: the product was built with these files in view.

    \b
        python -m bench overview --json figures.json --plot growth.svg
        python -m bench overview --full
    """
    benchmarks, figures = _FULL if full else _QUICK, {}
    with tempfile.TemporaryDirectory() as scratch, progress("benchmarks", len(benchmarks)) as bar:
        drawing = Path(scratch) / "growth.svg"
        for words in benchmarks:
            bar.doing(words[0])
            also = ("--plot", str(drawing)) if plot and words[0] == "speed" else ()
            figures[words[0]] = _run((*words, *also))
            bar.done()
        if plot:
            write(plot, drawing.read_text(encoding="utf-8"), field="plot")
    told = {"rows": [row for name, found in figures.items() for row in rows(name, found)], "figures": figures}
    answer(ctx, told, file, lambda: _show(told))


def _run(words: tuple[str, ...]) -> dict[str, Any]:
    """In a process of its own, so that one's caches are not in another's figures."""
    command = [sys.executable, "-m", "bench", *words, "--json", "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Unavailable(f"`python -m bench {' '.join(words)}` failed")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _show(told: dict[str, Any]) -> None:
    from bench.speed.report import machine

    table_of(told["rows"]).show()
    measured = {row["figure"] for row in told["rows"]}
    left_out = dict.fromkeys(goal.bench for goal in GOALS if goal.figure not in measured)
    click.echo(
        f"not everything was measured; see also: {', '.join(f'python -m bench {name}' for name in left_out)}"
    )
    say_missing(told["figures"]["speed"]["missing"])
    click.echo(f"load {machine()['load']}")
