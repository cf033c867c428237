"""The commands that measure how good judgements and recall are, and what they cost."""

import click

from holdfast.doors.cli.bench.capture import capture
from holdfast.doors.cli.bench.conversations import locomo, longmemeval
from holdfast.doors.cli.bench.files import files
from holdfast.doors.cli.bench.gate import gate
from holdfast.doors.cli.bench.judged import queries, relations
from holdfast.doors.cli.bench.load import load
from holdfast.doors.cli.bench.speed import speed


@click.group()
def bench() -> None:
    """Measure how good judgements and recall are.

    \b
        holdfast bench relations
        holdfast bench queries
        holdfast bench gate
        holdfast bench capture
        holdfast bench locomo --data locomo10.json
        holdfast bench speed
        holdfast bench load
        holdfast bench files
    """


for command in (relations, queries, gate, capture, locomo, longmemeval, speed, load, files):
    bench.add_command(command)
