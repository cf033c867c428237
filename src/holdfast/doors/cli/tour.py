"""The guided tour: real commands with their real output, in a store that is thrown away."""

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import click

from holdfast.doors.cli import cli
from holdfast.doors.cli.call import Call

_TIMING: Final = ("-c", "timing", "-s", "jellyfin")

#: What is told, and the command that shows it. OLDEST stands for an id.
STEPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "An agent learns something about a service and keeps it.",
        ("remember", "Takes 60s to start after restart", *_TIMING),
    ),
    (
        "Later somebody says the same in other words. It is known, so it becomes more certain.",
        ("remember", "Takes about 60 seconds to start after a restart", *_TIMING),
    ),
    (
        "Then comes something that can't be true at once. Both stay, and the old one loses trust.",
        ("remember", "Takes 30s to start after restart", *_TIMING),
    ),
    ("Ask for it.", ("recall", "how long does jellyfin take to start")),
    ("This is the block that an agent gets into its prompt.", ("brief",)),
    ("And every memory can say why it is believed.", ("why", "OLDEST")),
)


@click.command("tour")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Walk through six commands, in a store that is thrown away.

    \b
        holdfast tour
    """
    ctx.exit(tour())


def tour() -> int:
    """Walks through the steps; the exit code of the first command that fails, else 0."""
    with tempfile.TemporaryDirectory(prefix="holdfast-tour-") as folder:
        place = str(Path(folder) / "holdfast.db")
        click.echo(click.style("Holdfast in six commands, in a store that is gone afterwards.", bold=True))
        for number, (told, words) in enumerate(STEPS, start=1):
            arguments = [_oldest(place) if word == "OLDEST" else word for word in words]
            click.echo(f"\n{number}. {told}")
            click.echo(click.style(f"$ holdfast {shlex.join(arguments)}", fg="green"))
            code = _run(arguments, place)
            if code:
                return code
    click.echo("\nGo on in your own store:")
    for command in ('remember "What is worth knowing"', "--help"):
        click.echo(click.style(f"$ {_program()} {command}", fg="green"))
    return 0


def _run(arguments: list[str], place: str) -> int:
    try:
        cli.main(arguments, prog_name="holdfast", obj=Call(db=place, space="default"))
    except SystemExit as done:
        return int(done.code or 0)


def _oldest(place: str) -> str:
    with Call(db=place, space="default").memories() as memories:
        return memories.find(order="created").memories[0].id


def _program() -> str:
    """How this installation's command is called from here."""
    if shutil.which("holdfast"):
        return "holdfast"
    return os.path.relpath(Path(sys.prefix) / "bin" / "holdfast")


if __name__ == "__main__":
    raise SystemExit(tour())
