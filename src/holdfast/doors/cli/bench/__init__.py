"""The commands that measure how good judgements and recall are, and what they cost."""

import click

from holdfast.doors.cli.bench.capture import capture
from holdfast.doors.cli.bench.conversations import locomo, longmemeval
from holdfast.doors.cli.bench.dashboard import dashboard
from holdfast.doors.cli.bench.files import files
from holdfast.doors.cli.bench.gate import gate
from holdfast.doors.cli.bench.judged import queries, relations
from holdfast.doors.cli.bench.load import load
from holdfast.doors.cli.bench.speed import speed
from holdfast.doors.cli.lazy import WholeLines


@click.group(cls=WholeLines)
def bench() -> None:
    """Measure judgements, recall, capture, speed, load and files.

    \b
        holdfast bench relations
        holdfast bench queries
        holdfast bench gate
        holdfast bench capture
        holdfast bench locomo --data locomo10.json
        holdfast bench speed
        holdfast bench load
        holdfast bench files
        holdfast bench dashboard
    """


for command in (relations, queries, gate, capture, locomo, longmemeval, speed, load, files, dashboard):
    bench.add_command(command)
