"""`python -m bench`: measures judgements, recall, capture, tasks, speed, load, files, pages, from a clone."""

import click

from bench.commands.capture import capture
from bench.commands.citus import citus
from bench.commands.cli import command_line
from bench.commands.conversations import locomo, longmemeval, months
from bench.commands.dashboard import dashboard
from bench.commands.files import files
from bench.commands.gate import gate
from bench.commands.hooks import hooks
from bench.commands.judged import queries, relations
from bench.commands.load import load
from bench.commands.overview import overview
from bench.commands.speed import speed
from bench.commands.tasks import tasks
from bench.commands.week import week
from holdfast.cli import OneLineErrors, WholeLines
from holdfast.cli.call import Call


class Benchmarks(OneLineErrors, WholeLines):
    """The benchmarks; an error is one line, as on the command line of the product."""


@click.group(
    cls=Benchmarks, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.pass_context
def bench(ctx: click.Context, as_json: bool) -> None:
    """Measure judgements, recall, capture, tasks, speed, load, files and pages.

    \b
        python -m bench relations
        python -m bench relations --data pairs.jsonl --json figures.json
        python -m bench locomo --data locomo10.json
        python -m bench overview
    """
    ctx.ensure_object(Call).json = as_json


for command in (
    relations, queries, gate, week, tasks, capture, locomo, longmemeval, months, speed, load, files,
    citus, dashboard, hooks, command_line, overview,
):  # fmt: skip
    bench.add_command(command)

if __name__ == "__main__":
    bench.main(prog_name="python -m bench")
