"""The benchmark of capture's cost: a day's talk with an agent, said and then read by rules alone."""

from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.commands.figures import answer, unusable, with_result_file
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.gate import Row
    from holdfast.engine.sessions import NewMessage

_DAY = 500  # messages
_SPACE = "bench"
_AT_ONCE = 50  # messages that come in together, as from a hook


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path), help="Labelled conversations as JSON lines; ours if not said."
)
@click.option(
    "--messages",
    type=click.IntRange(1, 1_000_000),
    default=_DAY,
    show_default=True,
    help="How many are said; the conversations are repeated as often as that takes.",
)
@with_result_file
@click.pass_context
def capture(ctx: click.Context, data: Path | None, messages: int, file: str | None) -> None:
    """Measure what capture by rules costs: a day's talk, said, read and remembered.

    The conversations of `gate` are said one after the other, in one session, into a throw-away store;
    then they are read as the service reads them. The second figure is the cost of keeping
    the messages alone, on the same disk in the same run.

    \b
        python -m bench capture
        python -m bench capture --messages 5000 --json figures.json
    """
    from bench.gate import load

    try:
        rows = load(data)
    except (ValueError, OSError) as error:
        raise unusable(data, error) from None
    figures = _measured(list(islice(_said(rows), messages)))
    answer(ctx, figures, file, lambda: _show(figures))


def _measured(said: "list[NewMessage]") -> dict[str, Any]:
    import tempfile
    import time

    from holdfast.app import wiring
    from holdfast.engine.memories import Memories
    from holdfast.engine.spaces import create_space

    with tempfile.TemporaryDirectory() as folder:
        store = wiring.open_store(f"{folder}/bench.db")
        try:
            create_space(_SPACE, store=store, clock=wiring.utc_now)
            memories = Memories.of(store, _SPACE)
            began = time.perf_counter()
            for place in range(0, len(said), _AT_ONCE):
                memories.say_all("day", said[place : place + _AT_ONCE])
            kept_at = time.perf_counter()
            worked = time.process_time()
            (read,) = memories.capture("day")
            done, cpu = time.perf_counter(), time.process_time() - worked
            found = memories.overview()
        finally:
            store.close()
    keeping, reading = kept_at - began, done - kept_at
    return {
        "messages": read.messages,
        "keeping_seconds": round(keeping, 3),
        "capture_seconds": round(reading, 3),
        "capture_cpu_seconds": round(cpu, 3),
        "capture_to_keeping": round(reading / keeping, 2),
        "messages_per_second": round(read.messages / reading, 1),
        "memories": found.active + found.inactive,
        "messages_without": read.without,
    }


def _said(rows: "list[Row]") -> "Iterator[NewMessage]":
    """The messages of the conversations, over and over; each time with an id of its own."""
    from holdfast.engine.sessions import NewMessage

    spoken = [(role, text) for row in rows for role, text in row.messages]
    for number, (role, text) in enumerate(cycle(spoken)):
        yield NewMessage(role=role, content=text, message_id=f"m{number}")


def _show(figures: dict[str, Any]) -> None:
    table = Table([TableColumn(title="figure"), TableColumn(title="value", justify="right")])
    table.rows.extend([name.replace("_", " "), f"{value:,}"] for name, value in figures.items())
    table.show()
