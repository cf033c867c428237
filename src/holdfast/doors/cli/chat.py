"""The command that talks with a model that remembers."""

import sys
from contextlib import suppress

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space
from holdfast.errors import Unavailable


class Terminal:
    """Standard input and output. Answers go out as they come; nothing in them can steer the terminal."""

    def __init__(self) -> None:
        self.interactive = _at_a_terminal()
        self._open = False  # whether a line was begun
        if self.interactive:
            with suppress(ImportError):
                import readline  # noqa: F401  # arrow keys and history for input()

    def ask(self) -> str | None:
        self.ended()
        try:
            if self.interactive:
                return input("> ")
            line = sys.stdin.readline() if sys.stdin is not None else ""
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return None
        return line if line else None

    def show(self, piece: str) -> None:
        click.echo(say.visible(piece), nl=False)
        sys.stdout.flush()
        self._open = not piece.endswith("\n")

    def note(self, line: str) -> None:
        self.ended()
        click.echo(click.style(f"[{say.one_line(line)[: say.MOST_QUOTED]}]", dim=True), err=True)

    def tell(self, text: str) -> None:
        self.ended()
        click.echo(say.visible(text))

    def ended(self) -> None:
        if self._open:
            click.echo()
            self._open = False


def _at_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


@click.command()
@click.option(
    "--model",
    metavar="NAME",
    envvar="HOLDFAST_CHAT_MODEL",
    help="anthropic:MODEL, openai:MODEL or ollama:MODEL, with @URL for another server.  "
    "[env: HOLDFAST_CHAT_MODEL]",
)
@click.option("--dir", "directory", metavar="DIR", help="Keep the memory as files in this directory.")
@in_space
@click.pass_obj
def chat(call: Call, model: str | None, directory: str | None) -> None:
    """Talk with a model that remembers.

    The model gets the memory's index and its tools; what you tell it is there in the next chat, and for every
    other agent of the space. Without --space and --dir the space is called chat. /memory lists and deletes
    without a model. The key is read from ANTHROPIC_API_KEY, OPENAI_API_KEY, or HOLDFAST_MODEL_KEY for a
    server that the model's name names; Ollama needs none. Lines may also come from a file or a pipe: then
    the first one that gets no answer ends the chat with exit code 3.

    \b
        holdfast chat
        holdfast chat --model ollama:qwen3 --dir .memory
        holdfast chat --model openai:gpt-5@http://127.0.0.1:8080/v1 --space notes
    """
    from holdfast import chatting

    if call.json:
        raise click.UsageError("a chat is no JSON: leave out --json", click.get_current_context())
    name = model or chatting.MODEL
    try:
        connection = chatting.connection_to(name)
    except Unavailable as missing:
        raise Unavailable(
            f"{missing}; or name another model with --model (ollama:MODEL needs no key)"
        ) from None
    opened = chatting.space_for_chat(db=call.db, space=call.space, directory=directory, clock=call.time())
    with opened as memories:
        chatting.chat(memories, connection, name, Terminal())
