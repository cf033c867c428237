"""The benchmarks on our own data: what two texts are to each other, and which memory answers a question."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.commands.figures import answer, unusable, with_result_file
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.queries import Ask, QueriesReport, Remember
    from bench.relations import RelationsReport
    from holdfast.engine.memories import Memories


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Labelled pairs or clusters as JSON lines; the test part if not said.",
)
@with_result_file
@click.pass_context
def relations(ctx: click.Context, data: Path | None, file: str | None) -> None:
    """Measure how well same, contradicting and distinct memories are told apart.

    As `remember` does it: by exact rules, and by our own reader.

    \b
        python -m bench relations
        python -m bench relations --data pairs.jsonl --json figures.json
    """
    from bench.relations import load, measure
    from holdfast.app import wiring

    try:
        pairs = load(data)
    except (ValueError, OSError) as error:
        raise unusable(data, error) from None
    report = measure(wiring.own_judge(), pairs)
    answer(ctx, report.as_json(), file, lambda: _show(report))


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="A folder of pools_*.jsonl, or of queries.jsonl and queries_memories.jsonl; else the test part.",
)
@click.option(
    "--others", type=click.IntRange(min=0), default=0, help="Put this many memories of other people beside."
)
@with_result_file
@click.pass_context
def queries(ctx: click.Context, data: Path | None, others: int, file: str | None) -> None:
    """Measure what recall gives at its default threshold, and when it is silent, in throw-away stores.

    \b
        python -m bench queries
        python -m bench queries --others 1000
        python -m bench queries --data folder --json figures.json
    """
    import shutil
    import tempfile

    from bench.queries import by_size, measure, others_say, reported, users
    from bench.relations import TEST
    from holdfast.engine.memories import Memories

    answered = []
    beside = others_say(others)
    try:
        with tempfile.TemporaryDirectory() as folder:
            filled, own = f"{folder}/others.db", f"{folder}/own.db"
            with Memories.open(filled, "default") as memories:
                for text in beside:
                    memories.remember(text)
            for user in users(data or TEST):
                shutil.copyfile(filled, own)
                with Memories.open(own, "default") as memories:
                    answered += measure(user, *_driven(memories), others)
                _remove(own)
    except (ValueError, KeyError, OSError) as error:
        raise unusable(data, error) from None
    report = reported(answered)
    sizes = by_size(answered)
    figures = {
        "bench": "queries",
        "questions": report.questions,
        "metrics": report.metrics,
        "by_memories": {str(size): part.metrics for size, part in sizes.items()},
    }
    answer(ctx, figures, file, lambda: _show_queries(sizes))


def _show_queries(sizes: "Mapping[int, QueriesReport]") -> None:
    click.echo("recall at its default threshold\n")
    titles = ("memories", "questions", "hit@1", "hit@5", "silent without an answer", "answered with one")
    table = Table([TableColumn(title=title, justify="right") for title in titles])
    for size, part in sizes.items():
        shares = [f"{share:.1%}" for share in part.metrics.values()]
        table.rows.append([f"{size:,}", f"{part.questions:,}", *shares])
    table.show()


def _remove(store: str) -> None:
    for file in Path(store).parent.glob(f"{Path(store).name}*"):
        file.unlink()


def _driven(memories: "Memories") -> "tuple[Remember, Ask]":
    """What the measure needs: a way to store and a way to ask."""
    from holdfast.domain.outcomes import settled

    def remember(content: str, subject: str | None) -> str:
        memory = settled(memories.remember(content, subject=subject))
        if memory is None:
            raise ValueError(f"{content!r} was not stored")
        return memory.id

    def ask(question: str) -> "tuple[Sequence[str], bool]":
        found = memories.recall(question, limit=5)
        return [hit.memory.id for hit in found.memories], bool(found.hits)

    return remember, ask


def _show(report: "RelationsReport") -> None:
    click.echo(f"same, contradicts or distinct, {report.pairs:,} labelled pairs\n")
    figures = Table(
        [
            TableColumn(title="figure"),
            TableColumn(title="share", justify="right"),
            TableColumn(title="meaning"),
        ]
    )
    for name, share, meaning in (
        ("accuracy", report.accuracy, "judged as labelled"),
        ("false merges", report.false_merges, "not the same, but judged so"),
        ("false contradictions", report.false_contradictions, "no contradiction, but judged so"),
    ):
        figures.rows.append([name, f"{share:.1%}", meaning])
    figures.show()
    click.echo()
    names = list(report.confusion)
    table = Table(
        [
            TableColumn(title="labelled"),
            *(TableColumn(title=f"judged {name}", justify="right") for name in names),
        ]
    )
    for label, judged in report.confusion.items():
        table.rows.append([label, *(f"{judged[name]:,}" for name in names)])
    table.show()
    click.echo()
    domains = Table([TableColumn(title="domain"), TableColumn(title="accuracy", justify="right")])
    domains.rows.extend([domain, f"{share:.1%}"] for domain, share in report.by_domain.items())
    domains.show()
