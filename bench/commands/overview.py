"""The benchmarks that need nothing but a clone, as one table beside their goals."""

import json
import subprocess
import sys
from typing import Any

import click

from bench.commands.figures import answer, progress, with_result_file
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Unavailable

_BENCHMARKS = (
    ("relations",),
    ("gate",),
    ("queries",),
    ("capture",),
    ("speed", "--sizes", "1k"),
)
#: What is wanted of a figure, as DESIGN and the requirements state it.
_GOALS = {
    ("relations", "accuracy"): 0.88,
    ("relations", "false_merges"): 0.01,
    ("gate", "accuracy"): 0.94,
    ("gate", "captured"): 0.88,
    ("queries", "hit@1"): 0.70,
    ("queries", "hit@5"): 0.92,
    ("queries", "silence.empty"): 0.90,
}


@click.command()
@with_result_file
@click.pass_context
def overview(ctx: click.Context, file: str | None) -> None:
    """Run the quick benchmarks and print one table.

    relations, gate, queries and capture on our own data, and speed at 1,000 memories. The figures of
    judgement and recall are training figures: the product was built with these files in view.

    \b
        python -m bench overview --json figures.json
    """
    figures = {}
    with progress("benchmarks", len(_BENCHMARKS)) as bar:
        for words in _BENCHMARKS:
            bar.doing(words[0])
            figures[words[0]] = _run(words)
            bar.done()
    answer(ctx, figures, file, lambda: _show(figures))


def _run(words: tuple[str, ...]) -> dict[str, Any]:
    """In a process of its own, so that one's caches are not in another's figures."""
    command = [sys.executable, "-m", "bench", *words, "--json", "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Unavailable(f"`python -m bench {' '.join(words)}` failed")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _show(figures: dict[str, dict[str, Any]]) -> None:
    value, goal = (TableColumn(title=title, justify="right") for title in ("value", "goal"))
    table = Table([TableColumn(title="benchmark"), TableColumn(title="figure"), value, goal])
    for name, found in figures.items():
        rows: list[tuple[str, float, float | str | None]]
        if name == "speed":
            rows = [(goal["goal"], goal["figure"], _limit(goal)) for goal in found["goals"]]
        else:
            rows = [
                (figure, value, _GOALS.get((name, figure)))
                for figure, value in found.get("metrics", found).items()
                if isinstance(value, int | float)
            ]
        for title, measured, wanted in rows:
            table.rows.append([name, title, f"{measured:,}", "" if wanted is None else str(wanted)])
    table.show()


def _limit(goal: dict[str, Any]) -> str | None:
    if goal.get("at_most") is not None:
        return f"at most {goal['at_most']}"
    return f"at least {goal['at_least']}" if goal.get("at_least") is not None else None
