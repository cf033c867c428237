"""The command `chat`: a person and a model in a terminal, with the tools of a memory between them."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.agents import capture_off, memory_command
from holdfast.app import paths
from holdfast.cli import say
from holdfast.cli.call import Call, in_space, wrong_usage
from holdfast.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from holdfast.cli.chat.agent import ChatAgent
    from holdfast.engine.memories import Memories
    from holdfast.engine.ports import Store
    from holdfast.files.bindings import DirectoryState
    from holdfast.models.chat import ChatModel


PROFILE = "files"  # of the space that is made for a directory
MODEL = "anthropic:claude-sonnet-5-5"
HELP = """\
Type a message. Ctrl-C stops an answer, Ctrl-D ends the chat.
/memory - list memories; /memory help shows more commands
/quit - end the chat"""


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
def chat(call: Call, model: str | None, directory: str | None) -> None:
    """Chat with a model that uses your memories.

    The model gets the index of memories and the tools to read and change them; what it stores is available in
    the next chat and to every agent of the space. Type /memory to list and delete memories yourself.

    The API key is read from ANTHROPIC_API_KEY or OPENAI_API_KEY, and from HOLDFAST_MODEL_KEY for a server
    given with @URL; Ollama needs none. If input is piped, the first message that gets no answer ends the
    chat with exit code 3.

    \b
        holdfast chat
        holdfast chat --model ollama:qwen3 --dir .memory
        holdfast chat --model openai:gpt-5@http://127.0.0.1:8080/v1 --space notes
    """

    if call.json:
        raise wrong_usage("chat does not support --json")
    name = model or MODEL
    try:
        connection = connection_to(name)
    except Unavailable as missing:
        raise Unavailable(
            f"{missing}; or choose another model with --model (ollama:MODEL needs no key)"
        ) from None
    with space_for_chat(call, directory) as memories:
        converse(memories, connection, name, StandardTerminal())


def converse(memories: "Memories", connection: "ChatModel", model: str, terminal: StandardTerminal) -> None:
    """Chats until the person ends it; the messages are stored as a session of the space.

    Raises: Unavailable, when the memory can't be used at the start, and when a line from a file or a pipe
    gets no answer, because the next line would build on it.
    """
    from holdfast.agents.hooks import captures
    from holdfast.agents.tools import for_messages_api
    from holdfast.cli.chat.agent import ChatAgent

    state = memories.directory()  # first: it is told here, so it need not be logged
    session = memories.open_session(
        client="holdfast-chat", name=f"Chat with {model}", directory=os.getcwd()
    ).id
    silence = capture_off.reason(paths.project_of(os.getcwd()), session)
    talk = connection(system=system_prompt(memories, session), tools=for_messages_api(memories.profile))
    agent = ChatAgent(memories, talk, terminal, session=session, record=silence is None)
    for told in _greeting(memories, talk.name, state):
        terminal.note(told)
    if silence:
        terminal.note(f"messages are not stored: {silence}")
    try:
        while (line := terminal.ask()) is not None and line.strip() not in ("/quit", "/exit"):
            _answered(line.strip(), memories, agent, terminal)
    finally:
        talk.close()
        agent.close(
            lambda ended: memories.capture(ended, quiet=capture_off.reason),
            lambda: captures.end_later(memories, session, None, agent.tokens),
        )


def _answered(text: str, memories: "Memories", agent: "ChatAgent", terminal: StandardTerminal) -> None:
    if memory_command.asked(text):
        terminal.tell(memory_command.answer(memories, text))
    elif text.startswith("/") and " " not in text:
        terminal.tell(HELP)
    elif text:
        trouble = agent.turn(text)
        terminal.ended()
        if trouble is not None and not terminal.interactive:
            raise Unavailable(f"{trouble}; the chat was ended") from trouble
        if trouble is not None:
            terminal.note(str(trouble))


def system_prompt(memories: "Memories", session: str) -> str:
    """The role of the model, how to use the memory, and the index: the same text for the whole session.

    Nothing in it changes from turn to turn, not even the time, so that the prompt can be cached.
    """
    from holdfast.agents.tools import guidance
    from holdfast.prompts import Prompts

    brief = memories.speaking_as("assistant", session=session).brief().text
    parts = (Prompts().chat(), guidance(memories.profile), brief)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def connection_to(model: str) -> "ChatModel":
    """The model of that name.

    Raises: Invalid, listing the forms of a name; Unavailable, without its SDK or a key.
    """
    from holdfast.models.factory import open_chat
    from holdfast.models.specs import MODELS, parse_model
    from holdfast.settings import Settings

    if model in ("none", "off"):  # what turns a model off elsewhere
        raise Invalid(f"chat needs a model: use {MODELS}", field="model")
    spec = parse_model(model)
    return open_chat(spec, key=Settings.read().key_for_model(spec))


@contextmanager
def space_for_chat(call: Call, directory: str | None) -> Iterator["Memories"]:
    """The current space; with a `directory` and no space named, the one that is bound to it.

    Raises: NotFound, for a named space that does not exist; Conflict, when either is bound elsewhere.
    """
    from holdfast.engine.spaces import create_space

    with call.store(creates=True) as store:
        wanted = call.space or os.environ.get("HOLDFAST_SPACE")
        name = wanted or (_space_of(directory, store) if directory else call.usual_space)
        if wanted is None and directory and store.space(name) is None:
            create_space(name, store=store, clock=call.time(), profile=PROFILE)
        memories = call.space_in(store, name)
        if directory and not _is_bound(memories, directory):
            memories.bind_directory(directory)
        yield memories


def _space_of(directory: str, store: "Store") -> str:
    """The space that is bound to a directory, or a free name for it."""
    from holdfast.app import wiring

    real = os.path.realpath(os.path.expanduser(directory))
    for binding in wiring.directories(store).bindings():
        if binding.path == real:
            return binding.space
    folder = Path(real)
    words = folder.name if folder.name.strip(".") not in ("memory", "memories") else folder.parent.name
    stem = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40] or "chat"
    name, number = stem, 1
    while store.space(name) is not None:
        number += 1
        name = f"{stem}-{number}"
    return name


def _is_bound(memories: "Memories", directory: str) -> bool:
    state = memories.directory()
    return state is not None and state.path == os.path.realpath(os.path.expanduser(directory))


def _greeting(memories: "Memories", model: str, state: "DirectoryState | None") -> Iterator[str]:
    where = f", files in {state.path}" if state is not None else ""
    known = memories.find(limit=0).total
    noun = "memory" if known == 1 else "memories"
    yield f"{model}; space {memories.space!r}, {known:,} {noun}{where}. Type /help for commands."
    if state is not None and state.asks:
        from holdfast.files.scan import ASKS_COMMAND

        yield f"{state.asks}: {ASKS_COMMAND.format(memories.space)}"
