"""`files`: what a bound directory costs at its full size, in a throw-away home."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from bench.commands.figures import answer, at_home, with_result_file
from holdfast.cli.tables import Table, TableColumn

Figure = tuple[float, float]  # milliseconds by the clock, and of the processor

_ROUNDS = 5
_SAYS = {
    "open": "taking over a directory of files that are new",
    "idle": "a use when nothing was changed",
    "edited": "a use after one file was edited by hand",
    "remember": "remember, with file and index written",
    "index": "making the index anew",
    "reopened": "the first use of a new process",
}


@click.command()
@click.option(
    "--files",
    "amount",
    type=click.IntRange(10, 9_000),
    default=2_000,
    show_default=True,
    help="How many files the directory has.",
)
@with_result_file
@click.pass_context
def files(ctx: click.Context, amount: int, file: str | None) -> None:
    """Measure a bound directory: opening it, noticing a change, writing one, making the index.

    \b
        python -m bench files
        python -m bench files --files 500
    """
    with tempfile.TemporaryDirectory() as home, at_home(home):
        figures = _measured(Path(home), amount)
    columns = [
        TableColumn(title="what"),
        *(TableColumn(title=name, justify="right") for name in ("ms", "CPU ms")),
    ]
    table = Table(columns)
    for name, says in _SAYS.items():
        table.rows.append([says, *(f"{value:,.0f}" for value in figures[name])])
    told = {
        "files": amount,
        "wall_ms": {name: round(wall, 1) for name, (wall, _) in figures.items()},
        "cpu_ms": {name: round(cpu, 1) for name, (_, cpu) in figures.items()},
    }
    answer(ctx, told, file, table.show)


def _measured(home: Path, amount: int) -> dict[str, Figure]:
    from holdfast.app import wiring
    from holdfast.engine.memories import Memories
    from holdfast.engine.spaces import create_space

    folder = home / "memory"
    folder.mkdir()
    for number in range(amount):
        (folder / f"note_{number:05}.md").write_text(_note(number), encoding="utf-8")
    store = wiring.open_store(str(home / "bench.db"))
    create_space("bench", store=store, clock=wiring.utc_now, profile="files")
    memories = Memories.of(store, "bench")
    figures = {"open": _ms(lambda: memories.bind_directory(str(folder)))}
    edited = iter(range(amount))

    def edit() -> None:
        with open(folder / f"note_{next(edited):05}.md", "a", encoding="utf-8") as file:
            file.write("One more line.\n")

    figures["edited"] = _median(lambda: memories.find(limit=1), before=edit)
    figures["remember"] = _median(
        lambda: memories.remember(_sentence(), category="user", subject=_sentence())
    )
    figures["index"] = _median(memories.file_index)
    time.sleep(2.5)  # until no file counts as just changed
    memories.find(limit=1)
    figures["idle"] = _median(lambda: memories.find(limit=1))
    store.close()
    again = wiring.open_store(str(home / "bench.db"))
    figures["reopened"] = _ms(lambda: Memories.of(again, "bench").find(limit=1))
    again.close()
    return figures


def _note(number: int) -> str:
    kind = ("user", "feedback", "project", "reference")[number % 4]
    heading = f"---\nname: Note {number}\ndescription: About thing {number}\ntype: {kind}\n---\n\n"
    return heading + f"Thing {number} is kept in place {number * 7}.\n" * 5


def _sentence() -> str:
    return f"Something that happened at {time.time_ns()}"


def _median(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> Figure:
    taken = []
    for _ in range(_ROUNDS):
        before()
        taken.append(_ms(work))
    walls, cpus = (sorted(column) for column in zip(*taken, strict=True))
    return walls[len(walls) // 2], cpus[len(cpus) // 2]


def _ms(work: Callable[[], object]) -> Figure:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - wall) * 1_000, (time.process_time() - cpu) * 1_000
