"""The command `chat`."""

import sys
from contextlib import suppress

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space
from holdfast.errors import Unavailable


class StandardTerminal:
    """Standard input and output. Answers are streamed, with control characters escaped."""

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
    help="anthropic:MODEL, openai:MODEL or ollama:MODEL; append @URL for another server.  "
    "[env: HOLDFAST_CHAT_MODEL]",
)
@click.option("--dir", "directory", metavar="DIR", help="Keep memories as files in this directory.")
@in_space
@click.pass_obj
def chat(call: Call, model: str | None, directory: str | None) -> None:
    """Chat with a model that uses your memories.

    The model gets the index of memories and the tools to read and change them; what it stores is available in
    the next chat and to every agent of the space. The default space is chat. Type /memory to list and delete
    memories yourself.

    The API key is read from ANTHROPIC_API_KEY or OPENAI_API_KEY, and from HOLDFAST_MODEL_KEY for a server
    given with @URL; Ollama needs none. If input is piped, the first message that gets no answer ends the
    chat with exit code 3.

    \b
        holdfast chat
        holdfast chat --model ollama:qwen3 --dir .memory
        holdfast chat --model openai:gpt-5@http://127.0.0.1:8080/v1 --space notes
    """
    from holdfast.cli.chat import host

    if call.json:
        raise click.UsageError("chat does not support --json", click.get_current_context())
    name = model or host.MODEL
    try:
        connection = host.connection_to(name)
    except Unavailable as missing:
        raise Unavailable(
            f"{missing}; or choose another model with --model (ollama:MODEL needs no key)"
        ) from None
    opened = host.space_for_chat(db=call.db, space=call.space, directory=directory, clock=call.time())
    with opened as memories:
        host.chat(memories, connection, name, StandardTerminal())
