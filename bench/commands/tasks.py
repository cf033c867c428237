"""The benchmark of small tasks: the turns and tokens that an agent needs, with memory and without."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.commands.figures import answer, at_home, unusable, with_result_file
from holdfast.cli.tables import Table, TableColumn

if TYPE_CHECKING:
    from bench.tasks import TaskAgent, TasksReport
    from holdfast.engine.memories import Memories
    from holdfast.testing import FixedClock


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Tasks as JSON lines. Default: our own 30.")
@click.option(
    "--model",
    metavar="NAME",
    help="anthropic:MODEL, openai:MODEL or ollama:MODEL; append @URL for another server. Default: a scripted "
    "agent, which answers if it reads the needed fact and asks otherwise.",
)
@click.option("--rows", "with_rows", is_flag=True, help="Also print the turns of each task.")
@with_result_file
@click.pass_context
def tasks(
    ctx: click.Context, data: Path | None, model: str | None, with_rows: bool, file: str | None
) -> None:
    """Measure the turns and tokens to the right answer, with memory and without.

    \b
        python -m bench tasks
        python -m bench tasks --model anthropic:NAME --rows

    A model's key is read from ANTHROPIC_API_KEY or OPENAI_API_KEY, and from HOLDFAST_MODEL_KEY for a server
    given with @URL. A task takes two to eight calls.
    """
    from bench.tasks import load, play
    from holdfast.engine.memories import Memories

    def opened(clock: "FixedClock") -> "Memories":
        return Memories.open(f"{scratch}/tasks.db", "default", clock=clock)

    agent = _agent(model)
    try:
        loaded = load(data)
    except (ValueError, OSError) as error:
        raise unusable(data, error) from None
    with tempfile.TemporaryDirectory() as scratch, at_home(scratch):
        report = play(loaded, opened, agent)
    answer(ctx, report.as_json(), file, lambda: _show(report, with_rows))


def _agent(model: str | None) -> "TaskAgent":
    from bench.tasks import ModelAgent, ScriptedAgent
    from holdfast.models.factory import open_model
    from holdfast.models.specs import parse_model
    from holdfast.settings import Settings

    if model is None:
        return ScriptedAgent()
    spec = parse_model(model)
    return ModelAgent(open_model(spec, key=Settings.read().key_for_model(spec)))


def _show(report: "TasksReport", with_rows: bool) -> None:
    without, remembering = report.runs["without"], report.runs["with"]
    click.echo(f"{report.tasks} tasks, agent: {report.agent}\n")
    columns = [TableColumn(title=title, justify="right") for title in ("without memory", "with memory")]
    table = Table([TableColumn(title="figure"), *columns])
    for title, name in (
        ("right at once", "at_once"),
        ("right in the end", "solved"),
        ("turns", "turns"),
        ("tokens in", "tokens_in"),
        ("tokens out", "tokens_out"),
    ):
        table.rows.append([title, f"{getattr(without, name):,}", f"{getattr(remembering, name):,}"])
    for task in without.of_task if with_rows else ():
        table.rows.append([f"turns of {task}", str(without.of_task[task]), str(remembering.of_task[task])])
    table.show()
