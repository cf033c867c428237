"""`hooks`: what a hook costs its agent, beside the bare interpreter, against a real service."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.commands.figures import Bar, answer, at_home, progress, with_result_file
from bench.commands.stage import corpus, filled_home, loaded, serving
from holdfast.app import paths
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from bench.speed.corpus import Corpus

_EVENTS = ("SessionStart", "UserPromptSubmit", "Stop")
_BUSY = 8  # processes that never wait


@click.command()
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(10, 1_000_000),
    multiple=True,
    default=(500, 5_000, 50_000),
    show_default=True,
    help="How many memories; may be repeated.",
)
@click.option("--runs", type=click.IntRange(3, 1_000), default=20, show_default=True, help="How often.")
@click.option("--busy", is_flag=True, help=f"Again with {_BUSY} busy processes beside.")
@with_result_file
@click.pass_context
def hooks(ctx: click.Context, sizes: tuple[int, ...], runs: int, busy: bool, file: str | None) -> None:
    """Measure what a hook takes longer than the bare interpreter, in turn in one run.

    Milliseconds over the same quantile of the interpreter; the CPU time that hook and service take more than
    it, on average; and how often the hook went on without the service's answer. The memories are filled in
    below the API.

    \b
        python -m bench hooks --size 5000
        python -m bench hooks --busy
    """
    figures: dict[str, Any] = {"bench": "hooks", "runs": runs}
    with progress("hooks", len(sizes) * (1 + busy)) as bar:
        for size in sizes:
            figures[f"{size}"] = _measured(size, runs, busy, bar)
    answer(ctx, figures, file, lambda: _show(figures, sizes))


def _measured(size: int, runs: int, busy: bool, bar: Bar) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="holdfast-hooks-") as folder, at_home(folder):
        home, found = Path(os.environ["HOLDFAST_HOME"]), {}
        bar.doing(f"filling {size:,}")
        filled_home(home, size)
        with serving(home) as (url, service):
            loaded(home, url).close()
            for load in ("quiet", "busy")[: 1 + busy]:
                bar.doing(f"{size:,}, {load}")
                with ExitStack() as beside:
                    if load == "busy":
                        beside.enter_context(_busy())
                    found[load] = _events(size, runs, load, service)
                bar.done()
    return found


def _events(size: int, runs: int, load: str, service: int) -> dict[str, dict[str, float]]:
    hook, asked = str(Path(sys.executable).with_name("holdfast-hook")), corpus()
    bare: list[_Run] = []
    took: dict[str, list[_Run]] = {event: [] for event in _EVENTS}
    for number in range(runs):
        bare.append(_run([sys.executable, "-c", "pass"], {}, service))
        for event in _EVENTS:
            given = {
                "session_id": f"{load}-{number}",
                "prompt": _prompt(asked, number, size),
                "cwd": os.getcwd(),
            }
            took[event].append(_run([hook, event], given, service))
    return {event: _figures(each, bare) for event, each in took.items()}


def _prompt(asked: "Corpus", number: int, size: int) -> str:
    return asked.question(number * 7_919 % size)


class _Run:
    """What one process took, with what the service worked meanwhile."""

    def __init__(self, ms: float, cpu_ms: float, fell_back: bool) -> None:
        self.ms, self.cpu_ms, self.fell_back = ms, cpu_ms, fell_back


def _run(command: Sequence[str], given: dict[str, str], service: int) -> _Run:
    log, worked = _log_size(), _cpu_ms(service)
    with tempfile.TemporaryFile() as said:  # not a pipe: who ends without reading would break it
        said.write(json.dumps(given).encode())
        said.seek(0)
        began = time.perf_counter()
        with subprocess.Popen(command, stdin=said, stdout=subprocess.DEVNULL) as process:
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
    ms = (time.perf_counter() - began) * 1_000
    cpu_ms = (used.ru_utime + used.ru_stime) * 1_000 + _cpu_ms(service) - worked
    return _Run(ms, cpu_ms, _log_size() > log)


def _cpu_ms(process: int) -> float:
    """What a process has worked so far; nothing where the system doesn't tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")


def _log_size() -> int:
    """A hook that goes on without an answer of the service says so in its log."""
    log = Path(paths.hook_log())
    return log.stat().st_size if log.exists() else 0


def _figures(runs: list[_Run], bare: list[_Run]) -> dict[str, float]:
    ms, least = [run.ms for run in runs], [run.ms for run in bare]
    cpu_ms = statistics.mean(run.cpu_ms for run in runs) - statistics.mean(run.cpu_ms for run in bare)
    return {
        "p50_ms": round(statistics.median(ms) - statistics.median(least), 1),
        "p95_ms": round(_p95(ms) - _p95(least), 1),
        "cpu_ms": round(cpu_ms, 1),
        "fell_back": sum(run.fell_back for run in runs),
    }


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


@contextmanager
def _busy() -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(_BUSY)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _show(figures: dict[str, Any], sizes: Sequence[int]) -> None:
    titles = (
        "memories",
        "machine",
        "p50 over bare",
        "p95 over bare",
        "CPU ms over bare, with service",
        "fell back",
    )
    table = Table(
        [TableColumn(title="hook"), *(TableColumn(title=title, justify="right") for title in titles)]
    )
    for size in sizes:
        for load, events in figures[f"{size}"].items():
            for event, found in events.items():
                table.rows.append([event, f"{size:,}", load, *(f"{value:,}" for value in found.values())])
    table.show()
    click.echo(f"of {figures['runs']} runs each")
