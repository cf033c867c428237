"""The commands tour and completion. The tour runs six real commands in a temporary store."""

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from holdfast.cli import cli, say
from holdfast.cli.call import Call

if TYPE_CHECKING:
    from holdfast.engine.ports import Store

_TIMING: Final = ("-c", "timing", "-s", "jellyfin")

#: What is told, and the command that shows it. OLDEST stands for an id.
STEPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "An agent learns something about a service and stores it.",
        ("remember", "Takes 60s to start after restart", *_TIMING),
    ),
    (
        "Later the same fact comes in other words: the confidence of the memory goes up.",
        ("remember", "Takes about 60 seconds to start after a restart", *_TIMING),
    ),
    (
        "Then a contradiction: both are kept, and the confidence of the older one goes down.",
        ("remember", "Takes 30s to start after restart", *_TIMING),
    ),
    ("Search for it.", ("recall", "how long does jellyfin take to start")),
    ("Print the memory block for an agent's prompt.", ("brief",)),
    ("Show where a memory came from and why it is trusted.", ("why", "OLDEST")),
)


@click.command("tour")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Try six commands on temporary data.

    \b
        holdfast tour
    """
    ctx.exit(tour())


def tour() -> int:
    """Walks through the steps; the exit code of the first command that fails, else 0."""
    with tempfile.TemporaryDirectory(prefix="holdfast-tour-") as folder:
        place = str(Path(folder) / "holdfast.db")
        click.echo(click.style("Holdfast in six commands, in a temporary store", bold=True))
        for number, (told, words) in enumerate(STEPS, start=1):
            arguments = [_oldest(place) if word == "OLDEST" else word for word in words]
            click.echo(f"\n{number}. {told}")
            click.echo(click.style(f"$ holdfast {shlex.join(arguments)}", fg="green"))
            code = _run(arguments, place)
            if code:
                return code
    click.echo("\nContinue in your own store:")
    for command in ("up", "--help"):
        click.echo(click.style(f"$ {say.program()} {command}", fg="green"))
    return 0


class _TourCall(Call):
    """A call on temporary data, of which no printed command needs to speak."""

    def __init__(self, place: str) -> None:
        super().__init__(space="default")
        self._place = place

    @contextmanager
    def store(self, *, creates: bool = False) -> Iterator["Store"]:
        from holdfast.app import wiring

        store = wiring.open_store(self._place, clock=self.time())
        try:
            yield store
        finally:
            store.close()


def _run(arguments: list[str], place: str) -> int:
    try:
        cli.main(arguments, prog_name="holdfast", obj=_TourCall(place))
    except SystemExit as done:
        return int(done.code or 0)


def _oldest(place: str) -> str:
    with _TourCall(place).memories() as memories:
        return memories.find(order="created").memories[0].id


if __name__ == "__main__":
    raise SystemExit(tour())


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell completion script.

    \b
        holdfast completion bash >> ~/.bashrc
        holdfast completion zsh > ~/.zfunc/_holdfast
        holdfast completion fish > ~/.config/fish/completions/holdfast.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(ctx.find_root().command, {}, "holdfast", "_HOLDFAST_COMPLETE")
    script = made.source_template % made.source_vars()
    ctx.ensure_object(Call).tell(script, {"shell": shell, "script": script})
