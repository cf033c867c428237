"""The benchmark of capture: what is kept of a conversation, and what our own reader finds worth keeping."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.commands.figures import answer, unusable, with_result_file
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.gate import GateReport

_MEANS = {
    "accuracy": "conversations rightly kept or passed over",
    "precision": "kept, and worth it",
    "recall": "worth keeping, and kept",
    "captured": "expected facts that a memory holds",
    "invented": "memories with a name or number that nobody said",
    "reader.accuracy": "conversations that our reader rightly keeps or passes over",
    "reader.facts": "facts whose words our reader finds",
}


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Labelled conversations as JSON lines; the test part if not said.",
)
@click.option("--rows", "with_rows", is_flag=True, help="Also print each conversation's facts and memories.")
@with_result_file
@click.pass_context
def gate(ctx: click.Context, data: Path | None, with_rows: bool, file: str | None) -> None:
    """Measure what capture keeps of conversations.

    \b
        python -m bench gate
        python -m bench gate --data conversations.jsonl --json figures.json
        python -m bench gate --data conversations.jsonl --rows

    Rows of the test part that were looked at are training data from then on.
    """
    from bench.gate import load, measure

    try:
        rows = load(data)
    except (ValueError, OSError) as error:
        raise unusable(data, error) from None
    report = measure(_extracted, rows)
    figures = report.as_json()
    answer(ctx, figures, file, lambda: _show(report, figures["metrics"], with_rows))


def _extracted(messages: "Sequence[tuple[str, str]]") -> list[str]:
    from holdfast.app.wiring import open_builtin_model
    from holdfast.language.extract import extract
    from holdfast.language.wording import Utterance

    said = [Utterance(role, text) for role, text in messages]
    return [
        one.content
        for place, turn in enumerate(said)
        for one in extract(said[max(place - 2, 0) : place], turn, open_builtin_model())
    ]


def _show(report: "GateReport", metrics: "Mapping[str, float]", with_rows: bool) -> None:
    click.echo(f"what is kept of {len(report.found):,} conversations\n")
    for one in report.found if with_rows else ():
        if not (one.row.facts or one.memories):
            continue
        click.echo(one.row.id if one.right else f"{one.row.id}  WRONG: {one.row.why}")
        for fact, memory in zip(one.row.facts, one.captured, strict=True):
            click.echo(f"  expected{'' if memory is not None else ', missed'}: {fact}")
        for memory in one.memories:
            click.echo(f"  kept{', INVENTED' if memory in one.invented else ''}: {memory}")
    table = Table(
        [
            TableColumn(title="figure"),
            TableColumn(title="share", justify="right"),
            TableColumn(title="meaning"),
        ]
    )
    for name, share in metrics.items():
        table.rows.append([name, f"{share:.1%}", _MEANS[name]])
    table.show()
