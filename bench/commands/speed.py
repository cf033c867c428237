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
from bench.goals import PEERS
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from bench.speed.report import SpeedReport

_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_LEAST, _MOST = 100, 10_000_000
_BULK = 300  # texts that a real model embeds

#: What the table and the plot show, under which name.
_SHOWN = {
    "recall.cpu_ms": "recall, CPU",
    "recall.without_reader.cpu_ms": "recall without the reader, CPU",
    "recall.wall_ms": "recall",
    "recall.filtered.wall_ms": "recall without the reader, filtered",
    "recall.after_a_write.wall_ms": "recall without the reader, after a write",
    "recall.first_ms": "recall, first",
    "vectors.wall_ms": "by vectors alone",
    "numpy.wall_ms": "bare numpy product",
    "remember.cpu_ms": "remember, CPU",
    "remember.wall_ms": "remember",
    "remember.with_vector.wall_ms": "remember, with vector",
    "judging.cpu_ms": "judging a draft, mean CPU",
    "brief.cpu_ms": "brief, CPU",
    "slice.transcript_ms": "longest slice: a transcript",
    "slice.opencode_ms": "longest slice: opencode's database",
    "slice.capture_ms": "longest slice: capture",
    "slice.long_messages_ms": "longest slice: capture of long messages",
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


def _peers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str]:
    names = [name.strip().lower() for name in (value or "").split(",") if name.strip()]
    for name in names:
        if name not in PEERS:
            raise click.BadParameter(f"{name!r} is unknown: use {', '.join(PEERS)}")
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
    "--against", callback=_peers, metavar="NAMES", help="Also measure floor,chromadb,mem0,langgraph."
)
@click.option("--slices/--no-slices", default=True, help="Also the jobs in the background.")
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
    slices: bool,
    rounds: int,
    file: str | None,
    plot: Path | None,
    folder: Path | None,
) -> None:
    """Measure what remembering and recalling cost, by how many memories there are.

    Fills throw-away stores with made-up memories and vectors, then takes medians: recall with all but the
    question's embedding, with and without a filter, the search by vectors beside a bare numpy product,
    remember without its judge and the judge alone, brief, and an import beside the embedder alone;
    and the longest slice of each job in the background, which should give way within 200 ms.
    1k and 10k take about ten minutes, 1M about an hour and 6 GB of disk.

    \b
        python -m bench speed
        python -m bench speed --sizes 1k,10k,100k --against floor,chromadb,mem0,langgraph
        python -m bench speed --sizes 10k,100k,1M --json figures.json --plot cost.svg
    """
    report = _measured(sizes, spaces, against, folder, rounds, slices)
    answer(ctx, report.as_json(), file, lambda: _show(report))
    if plot is not None:
        from bench.speed.plot import drawn

        lines = {label: line for label, line in _lines(report).items() if label.endswith(", CPU")}
        write(plot, drawn("CPU time of one call, by memories in the space", lines), field="plot")


def _measured(
    sizes: Sequence[int],
    spaces: int,
    against: Sequence[str],
    folder: Path | None,
    rounds: int,
    slices: bool,
) -> "SpeedReport":
    from bench.speed.peers import installed
    from bench.speed.report import PROMISED, SpeedReport

    versions = {name: found for name in against if (found := installed(name))}
    missing = {name: "not installed" for name in against if name not in versions}
    report = SpeedReport(spaces, versions=versions, missing=missing)
    with (
        tempfile.TemporaryDirectory() as scratch,
        progress("bench speed", 2 + len(sizes) * (1 + slices + len(versions))) as bar,
    ):
        report.ours[0] = _staged(Stage("bulk", _BULK, 0, scratch, rounds), bar)
        report.ours[0] |= _staged(Stage("http", PROMISED, 0, scratch, rounds), bar)
        for size in sizes:
            place = _made((folder or Path(scratch)) / f"{size}")
            report.ours[size] = _staged(Stage("ours", size, spaces, str(place), rounds), bar)
            if slices:
                beside = tempfile.mkdtemp(dir=scratch)
                report.ours[size] |= _staged(Stage("slices", size, 0, beside, rounds), bar)
            for name in [name for name in versions if name not in missing]:
                place = _made(Path(scratch) / f"{name}-{size}")
                try:
                    stage = Stage(name, size, 0, str(place), rounds)
                    report.peers.setdefault(name, {})[size] = _staged(stage, bar)
                except Unavailable as error:
                    missing[name] = str(error)
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
    """What a stage said; none for what some library of a peer wrote in between."""
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return said if isinstance(said, dict) and said.keys() & {"doing", "figures"} else None


def _show(report: "SpeedReport") -> None:
    from bench.goals import rounded, say_missing, table_of

    click.echo("milliseconds for one call, medians, by memories in the space\n")
    titles = [TableColumn(title=f"{size:,}", justify="right") for size in report.sizes]
    table = Table([TableColumn(title="cost"), *titles])
    for label, line in _lines(report).items():
        cells = [f"{rounded(line[size]):g}" if size in line else "" for size in report.sizes]
        table.rows.append([label, *cells])
    table.show()
    click.echo()
    table_of(report.as_json()["goals"]).show()
    say_missing(report.missing)


def _lines(report: "SpeedReport") -> dict[str, Mapping[int, float]]:
    """The costs that are shown, by size."""
    lines: dict[str, Mapping[int, float]] = {}
    for name, label in _SHOWN.items():
        line = {size: report.ours[size][name] for size in report.sizes if name in report.ours[size]}
        lines |= {label: line} if line else {}
    for peer, by_size in report.peers.items():
        for name in ("recall.cpu_ms", "recall.wall_ms", "remember.with_vector.wall_ms"):
            lines[f"{peer}: {_SHOWN[name]}"] = {size: found[name] for size, found in by_size.items()}
    return lines
