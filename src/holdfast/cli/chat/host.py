"""Wires `holdfast chat`: a space, a model, the agent between them, and a terminal."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from holdfast.agents import capture_off, memory_command, session_ends
from holdfast.app import paths, wiring
from holdfast.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from holdfast.cli.chat.agent import ChatAgent
    from holdfast.engine.memories import Memories
    from holdfast.engine.ports import Clock, Store
    from holdfast.files.bindings import DirectoryState
    from holdfast.models.chat import ChatModel

SPACE = "chat"  # for those who name none; made when it is first needed
PROFILE = "files"
MODEL = "anthropic:claude-sonnet-5-5"
HELP = """\
Type a message. Ctrl-C stops an answer, Ctrl-D ends the chat.
/memory - list memories; /memory help shows more commands
/quit - end the chat"""


class Terminal(Protocol):
    """Where the person looks and types."""

    @property
    def interactive(self) -> bool:
        """Whether somebody sits there who can say it again."""

    def ask(self) -> str | None:
        """The next line; none at the end."""

    def show(self, piece: str) -> None:
        """A piece of the model's answer, as it comes."""

    def note(self, line: str) -> None:
        """What happens beside the answer."""

    def tell(self, text: str) -> None:
        """An answer that is not the model's."""

    def ended(self) -> None:
        """The model's answer is whole."""


def chat(memories: "Memories", connection: "ChatModel", model: str, terminal: Terminal) -> None:
    """Talks until the person ends it. What is said is kept as a session of the space.

    Raises: Unavailable, when the memory can't be used at the start, and when a line from a file or a pipe
    gets no answer: what follows it would build on nothing.
    """
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
            lambda: session_ends.end_later(memories, session, None, agent.tokens),
        )


def _answered(text: str, memories: "Memories", agent: "ChatAgent", terminal: Terminal) -> None:
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
    """Who the model is, how to use the memory, and the index: the same text for the whole session.

    Nothing in it changes from turn to turn, not even the time: a prompt that stays the same is cached.
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
    from holdfast.models.chat import connected
    from holdfast.models.language_spec import MODELS, parse_model
    from holdfast.settings import Settings

    if model in ("none", "off"):  # what turns a model off elsewhere
        raise Invalid(f"chat needs a model: use {MODELS}", field="model")
    spec = parse_model(model)
    return connected(spec, key=Settings.read().key_for_model(spec))


@contextmanager
def space_for_chat(
    *, db: str | None, space: str | None, directory: str | None, clock: "Clock"
) -> Iterator["Memories"]:
    """The space that is meant: the named one, the one bound to `directory`, or the one for chats.

    Raises: NotFound, for a named space that is not there; Conflict, when either is bound elsewhere.
    """
    from holdfast.engine.memories import Memories
    from holdfast.engine.spaces import create_space
    from holdfast.settings import Settings

    settings = Settings.read()
    store = wiring.open_store(db)
    try:
        wanted = space or os.environ.get("HOLDFAST_SPACE")
        name = wanted or (_space_of(directory, store) if directory else SPACE)
        if wanted is None and store.space(name) is None:
            create_space(name, store=store, clock=clock, profile=PROFILE)
        memories = Memories.of(
            store,
            name,
            clock=clock,
            embedder=wiring.open_embedder(settings.embedder),
            budget=settings.budget,
            readers=wiring.open_readers(settings),
        )
        if directory and not _is_bound(memories, directory):
            memories.bind_directory(directory)
        yield memories
    finally:
        store.close()


def _space_of(directory: str, store: "Store") -> str:
    """The space that is bound to a directory, or a free name for it."""
    real = os.path.realpath(os.path.expanduser(directory))
    for binding in wiring.directories(store).bindings():
        if binding.path == real:
            return binding.space
    folder = Path(real)
    words = folder.name if folder.name.strip(".") not in ("memory", "memories") else folder.parent.name
    stem = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40] or SPACE
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
