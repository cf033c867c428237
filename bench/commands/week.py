"""The benchmark of a fortnight: what capture keeps of sessions, and what is shown at their prompts."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.commands.figures import answer, unusable, with_result_file
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from bench.week import WeekReport
    from holdfast.engine.memories import Memories
    from holdfast.testing import FixedClock

_MEANS = {
    "captured": "facts that a memory holds",
    "junk": "memories that hold no fact",
    "corrections": "corrections after which the new memory leads and the old one does not",
    "leaks": "memories about one project that hold in all",
    "lines_that_help": "of the lines shown at prompts",
    "rightly_silent": "of the prompts with which nothing helps",
    "helped": "of the prompts with which a captured fact would help, by brief or block",
    "tokens_per_session": "shown at prompts",
}


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="A file, or a folder of weeks_*.jsonl; the test part if not said.",
)
@click.option("--rows", "with_rows", is_flag=True, help="Also print each fact beside its memory.")
@with_result_file
@click.pass_context
def week(ctx: click.Context, data: Path | None, with_rows: bool, file: str | None) -> None:
    """Measure a fortnight of sessions in three projects, from capture to what prompts are given.

    \b
        python -m bench week
        python -m bench week --data training/data/weeks_1.jsonl --rows

    Rows of the test part that were looked at are training data from then on.
    """
    from bench.week import load, play
    from holdfast.engine.memories import Memories

    def opened(clock: "FixedClock") -> "Memories":
        folder = tempfile.mkdtemp(dir=scratch)
        return Memories.open(f"{folder}/week.db", "default", clock=clock)

    try:
        weeks = load(data)
    except (ValueError, OSError) as error:
        raise unusable(data, error) from None
    with tempfile.TemporaryDirectory() as scratch:
        report = play(weeks, opened)
    answer(ctx, report.as_json(), file, lambda: _show(report, with_rows))


def _show(report: "WeekReport", with_rows: bool) -> None:
    for row in report.rows if with_rows else ():
        click.echo(f"fact: {row['fact']}\n  memory: {row['memory']}")
    click.echo(f"{report.sessions:,} sessions, {report.facts:,} facts, {report.memories:,} memories\n")
    table = Table(
        [
            TableColumn(title="figure"),
            TableColumn(title="share", justify="right"),
            TableColumn(title="meaning"),
        ]
    )
    for name, share in report.as_json()["metrics"].items():
        shown = f"{share:.0f}" if name == "tokens_per_session" else f"{share:.1%}"
        table.rows.append([name.replace("_", " "), shown, _MEANS[name]])
    table.show()
