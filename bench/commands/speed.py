"""`speed`: what remembering and recalling cost at several sizes, in throw-away stores."""

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.commands.figures import Bar, answer, progress, with_result_file, write
from bench.commands.stage import Stage
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from bench.speed.report import SpeedReport

_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_LEAST, _MOST = 100, 10_000_000
_RIVALS = ("chromadb", "mem0")
_BULK = 300  # texts that a real model embeds

#: What the table and the plot show, under which name.
_SHOWN = {
    "recall.cpu_ms": "recall, CPU",
    "recall.wall_ms": "recall",
    "recall.filtered.wall_ms": "recall, filtered",
    "recall.after_a_write.wall_ms": "recall after a write",
    "recall.first_ms": "recall, first",
    "vectors.wall_ms": "by vectors alone",
    "numpy.wall_ms": "bare numpy product",
    "remember.wall_ms": "remember",
    "remember.with_vector.wall_ms": "remember, with vector",
    "bare_insert.wall_ms": "bare SQLite insert",
    "brief.wall_ms": "brief",
    "slice.transcript_ms": "longest slice: a transcript",
    "slice.opencode_ms": "longest slice: opencode's database",
    "slice.capture_ms": "longest slice: capture",
    "slice.vectors_ms": "longest slice: vectors",
    "slice.new_files_ms": "longest slice: new files",
    "slice.gone_files_ms": "longest slice: files that are gone",
    "slice.briefs_ms": "longest slice: briefs",
    "slice.upkeep_ms": "longest slice: upkeep",
}


def _sizes(ctx: click.Context, param: click.Parameter, value: str) -> list[int]:
    found = []
    for text in value.lower().replace("_", "").split(","):
        parts = re.fullmatch(r"(\d+)([km]?)", text.strip())
        size = int(parts[1]) * _UNITS[parts[2]] if parts else 0
        if not _LEAST <= size <= _MOST:
            raise click.BadParameter(f"{text.strip()!r} is no size: use for example 1k,10k,100k,1M")
        found.append(size)
    return sorted(set(found))


def _rivals(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str]:
    names = [name.strip().lower() for name in (value or "").split(",") if name.strip()]
    for name in names:
        if name not in _RIVALS:
            raise click.BadParameter(f"{name!r} is unknown: use {', '.join(_RIVALS)}")
    return list(dict.fromkeys(names))


@click.command()
@click.option("--sizes", default="1k,10k", callback=_sizes, show_default=True, help="Memories in the space.")
@click.option(
    "--spaces",
    type=click.IntRange(0, 100_000),
    default=1_000,
    show_default=True,
    metavar="N",
    help="Other spaces in the file; 0 leaves that part out.",
)
@click.option(
    "--against", callback=_rivals, metavar="NAMES", help="Also measure chromadb,mem0 where installed."
)
@click.option(
    "--rounds", type=click.IntRange(3, 1_000), default=40, show_default=True, help="Rounds of each figure."
)
@with_result_file
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw cost by size as an SVG.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Keep the filled stores there, for another run."
)
@click.pass_context
def speed(
    ctx: click.Context,
    sizes: list[int],
    spaces: int,
    against: list[str],
    rounds: int,
    file: str | None,
    plot: Path | None,
    folder: Path | None,
) -> None:
    """Measure what remembering and recalling cost, by how many memories there are.

    Fills throw-away stores with made-up memories and vectors, then takes medians: recall with all but the
    question's embedding, with and without a filter, the search by vectors beside a bare numpy product,
    remember beside a bare SQLite insert, brief, and an import with real embeddings beside the embedder alone;
    and the longest slice of each job in the background, which should give way within 200 ms.
    1k and 10k take about ten minutes, 1M about an hour and 6 GB of disk.

    \b
        python -m bench speed
        python -m bench speed --sizes 1k,10k,100k --against chromadb,mem0
        python -m bench speed --sizes 10k,100k,1M --json figures.json --plot cost.svg
    """
    report = _measured(sizes, spaces, against, folder, rounds)
    answer(ctx, report.as_json(), file, lambda: _show(report, against))
    if plot is not None:
        from bench.speed.plot import drawn

        write(plot, drawn("Cost of one call, by memories in the space", _lines(report)), field="plot")


def _measured(
    sizes: Sequence[int], spaces: int, against: Sequence[str], folder: Path | None, rounds: int
) -> "SpeedReport":
    from bench.speed.report import PROMISED, SpeedReport
    from bench.speed.rivals import installed

    versions = {name: found for name in against if (found := installed(name))}
    report = SpeedReport(spaces, versions=versions)
    with (
        tempfile.TemporaryDirectory() as scratch,
        progress("bench speed", 2 + len(sizes) * (2 + len(versions))) as bar,
    ):
        report.ours[0] = _staged(Stage("bulk", _BULK, 0, scratch, rounds), bar)
        report.ours[0] |= _staged(Stage("http", PROMISED, 0, scratch, rounds), bar)
        for size in sizes:
            place = _made((folder or Path(scratch)) / f"{size}")
            report.ours[size] = _staged(Stage("ours", size, spaces, str(place), rounds), bar)
            report.ours[size] |= _staged(Stage("slices", size, 0, tempfile.mkdtemp(dir=scratch), rounds), bar)
            for name in versions:
                place = _made(Path(scratch) / f"{name}-{size}")
                report.rivals.setdefault(name, {})[size] = _staged(
                    Stage(name, size, 0, str(place), rounds), bar
                )
    return report


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid(f"{str(folder)!r} can't be made: {error.strerror}", field="folder") from None
    return folder


def _staged(stage: Stage, bar: Bar) -> dict[str, float]:
    """The figures of a stage, measured in a process of its own.

    Raises: Unavailable, with the last that the process said.
    """
    last: dict[str, Any] = {}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as trouble,
        subprocess.Popen(stage.command(), stdout=subprocess.PIPE, stderr=trouble, text=True) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            last = _told(line) or last
            bar.doing(last.get("doing", ""))
        if process.wait() or "figures" not in last:
            trouble.seek(0)
            said = trouble.read().strip().splitlines() or ["no word about it"]
            raise Unavailable(f"measuring {stage.what} at {stage.size:,} failed: {said[-1]}")
    bar.done()
    figures: dict[str, float] = last["figures"]
    return figures


def _told(line: str) -> dict[str, Any] | None:
    """What a stage said; none for what some library of a rival wrote in between."""
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) and said.keys() & {"doing", "figures"} else None


def _show(report: "SpeedReport", against: Sequence[str]) -> None:
    from bench.speed.report import rounded
    from bench.speed.rivals import PACKAGES

    click.echo("milliseconds for one call, medians, by memories in the space\n")
    titles = [TableColumn(title=f"{size:,}", justify="right") for size in report.sizes]
    table = Table([TableColumn(title="cost"), *titles])
    for label, line in _lines(report).items():
        cells = [f"{rounded(line[size]):g}" if size in line else "" for size in report.sizes]
        table.rows.append([label, *cells])
    table.show()
    click.echo()
    goals = Table(
        [
            TableColumn(title="goal"),
            TableColumn(title="figure", justify="right"),
            TableColumn(title="wanted", justify="right"),
            TableColumn(title="reached"),
        ]
    )
    for goal in report.goals():
        wanted = f"<= {goal.at_most:g}" if goal.at_most is not None else f">= {goal.at_least:g}"
        goals.rows.append([goal.says, f"{rounded(goal.figure):g}", wanted, "yes" if goal.reached else "no"])
    goals.show()
    for name in against:
        if name not in report.versions:
            click.echo(f"\n{name} is not installed: pip install {PACKAGES[name]}")


def _lines(report: "SpeedReport") -> dict[str, Mapping[int, float]]:
    """The costs that are shown, by size."""
    lines: dict[str, Mapping[int, float]] = {}
    for name, label in _SHOWN.items():
        line = {size: report.ours[size][name] for size in report.sizes if name in report.ours[size]}
        lines |= {label: line} if line else {}
    for rival, by_size in report.rivals.items():
        for name in ("recall.wall_ms", "recall.filtered.wall_ms", "remember.with_vector.wall_ms"):
            lines[f"{rival}: {_SHOWN[name]}"] = {size: found[name] for size, found in by_size.items()}
    return lines
