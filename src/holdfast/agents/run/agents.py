"""Options of each agent: how to pass a prompt, and how to get output that can be read while it runs."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from types import TracebackType
from typing import Final, Literal, Protocol

from holdfast.errors import Invalid


@dataclass(frozen=True, slots=True)
class Arguments:
    """A command line. Options count up to a `--`, written `--name value`, `--name=value` or `-n value`."""

    words: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Whether one of these options is given; of short ones, in a cluster such as `-pc` too."""
        return any(_is(word, name) for word in self._options() for name in names)

    def value(self, *names: str) -> str | None:
        """The last value of these options; None if there is none."""
        found = None
        for place, word in enumerate(self._options()):
            for name in names:
                if word == name and place + 1 < self._end():
                    found = self.words[place + 1]
                elif name.startswith("--") and word.startswith(f"{name}="):
                    found = word[len(name) + 1 :]
        return found

    def without(self, *names: str) -> "Arguments":
        """The same without these options and their values."""
        kept: list[str] = []
        skip = False
        for place, word in enumerate(self.words):
            if skip or place >= self._end():
                if not skip:
                    kept.append(word)
                skip = False
            elif word in names:
                skip = True
            elif not any(word.startswith(f"{name}=") for name in names):
                kept.append(word)
        return Arguments(tuple(kept))

    def adding(self, *words: str, at: int | None = None) -> "Arguments":
        """The same with more words after its options, or at a given position."""
        place = self._end() if at is None else at
        return Arguments((*self.words[:place], *words, *self.words[place:]))

    def _options(self) -> Iterator[str]:
        return iter(self.words[: self._end()])

    def _end(self) -> int:
        return self.words.index("--") if "--" in self.words else len(self.words)


def _is(word: str, name: str) -> bool:
    if word == name or (name.startswith("--") and word.startswith(f"{name}=")):
        return True
    cluster = len(name) == 2 and word.startswith("-") and not word.startswith("--") and word[1:].isalpha()
    return cluster and name[1] in word


#: Maximum bytes of an argument; the system's limit is a little higher.
MOST = 100_000


class PromptFile:
    """A prompt. Files that were created for it are removed after the run."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._files: list[str] = []

    def __enter__(self) -> "PromptFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files:
            os.unlink(file)

    def in_file(self, text: str) -> str:
        """The path of a file with `text`, which only its owner can read."""
        descriptor, path = tempfile.mkstemp(prefix="holdfast-", suffix=".md")
        self._files.append(path)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def too_long(text: str) -> bool:
    """Whether a text does not fit into one argument."""
    return len(text.encode("utf-8", "replace")) > MOST


#: What the caller is to see: all bytes as they come, or at the end the answer, the line that holds it, or all
#: lines as one list.
Shows = Literal["everything", "answer", "last line", "list of lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCommand:
    """A command that is ready to be run."""

    words: tuple[str, ...]
    shows: Shows
    environment: dict[str, str] = field(default_factory=dict)  # in addition to ours
    readable: bool = True  # whether its output has roles


class AgentProgram(Protocol):
    """A program that talks to a model."""

    client: str  # its name in sessions

    def prepared(self, command: Arguments, told: PromptFile, session: str) -> PreparedCommand:
        """The command with a prompt added to the system prompt.

        Raises: Invalid, if it can't run without a terminal.
        """


class ClaudeCode:
    client = "claude-code"

    def prepared(self, command: Arguments, told: PromptFile, session: str) -> PreparedCommand:
        if not command.has("-p", "--print"):
            raise Invalid("add -p and a prompt: interactive sessions are not supported")
        asked = command.value("--output-format") or "text"
        shows: Shows = "everything"
        if asked != "stream-json":
            shows = "answer"
            if asked == "json":
                shows = "list of lines" if command.has("--verbose") else "last line"
            command = command.without("--output-format").adding("--output-format", "stream-json")
            if not command.has("--verbose"):
                command = command.adding("--verbose")
        if told.text:
            command = _appended(command, told)
        if command.has("-r", "--resume", "-c", "--continue"):
            # Without it the prompt of the conversation's first day is used again, word for word.
            if not command.has("--system-prompt-snapshot"):
                command = command.adding("--system-prompt-snapshot", "off")
        elif not command.has("--session-id"):
            command = command.adding("--session-id", session)
        return PreparedCommand(words=command.words, shows=shows)


def _appended(command: Arguments, told: PromptFile) -> Arguments:
    """Appends our prompt to the caller's own: of two such options the program would use one."""
    own = command.value("--append-system-prompt")
    file = command.value("--append-system-prompt-file")
    if own is None and file is not None:
        try:
            own = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return command  # the program has its own words for that
    both = "\n\n".join(part for part in (own, told.text) if part)
    rest = command.without("--append-system-prompt", "--append-system-prompt-file")
    if not too_long(both):
        return rest.adding("--append-system-prompt", both)
    try:
        return rest.adding("--append-system-prompt-file", told.in_file(both))
    except OSError:  # a full disk, for example: better without than not started
        return command


def _fitting(told: PromptFile) -> str:
    """The prompt, if it is short enough for an argument."""
    return "" if too_long(told.text) else told.text


class Codex:
    client = "codex"

    def prepared(self, command: Arguments, told: PromptFile, session: str) -> PreparedCommand:
        place = next((at for at, word in enumerate(command.words) if word in ("exec", "e")), None)
        if place is None:
            raise Invalid("use `codex exec` and a prompt: interactive sessions are not supported")
        asked = command.has("--json")
        added = [] if asked else ["--json"]
        if prompt := _fitting(told):
            # A JSON string is also a TOML string, which the option expects.
            added += ["-c", f"developer_instructions={json.dumps(prompt)}"]
        words = command.adding(*added, at=place + 1).words
        return PreparedCommand(words=words, shows="everything" if asked else "answer")


class Gemini:
    client = "gemini"

    def prepared(self, command: Arguments, told: PromptFile, session: str) -> PreparedCommand:
        question = command.value("-p", "--prompt")
        if question is None:
            raise Invalid("add -p and a prompt: interactive sessions are not supported")
        asked = command.value("-o", "--output-format") or "text"
        if prompt := _fitting(told):
            # It has no option for a system prompt of one's own beside its usual one. The tag tells whoever
            # reads the transcript later that nobody typed this.
            both = f"<holdfast>\n{prompt}\n</holdfast>\n\n{question}"
            command = command.without("-p", "--prompt").adding(f"--prompt={both}")
        if asked == "text":
            command = command.without("-o", "--output-format").adding("-o", "stream-json")
        return PreparedCommand(
            words=command.words,
            shows="answer" if asked == "text" else "everything",
            readable=asked != "json",
        )


class PlainText:
    """Any program that prints only its answer. It gets the prompt in HOLDFAST_PROMPT."""

    client = "plain"

    def prepared(self, command: Arguments, told: PromptFile, session: str) -> PreparedCommand:
        return PreparedCommand(
            words=command.words, environment={"HOLDFAST_PROMPT": _fitting(told)}, shows="everything"
        )


AGENTS: Final[dict[str, AgentProgram]] = {
    "claude": ClaudeCode(),
    "codex": Codex(),
    "gemini": Gemini(),
    "plain": PlainText(),
}


def name_of(command: Arguments, named: str | None) -> str:
    """The agent that a command runs: the given one, or by the name of the program. Raises: Invalid."""
    if named is not None:
        return named
    program = PurePath(command.words[0]).name.casefold().removesuffix(".exe").removesuffix(".cmd")
    if program in AGENTS and program != "plain":
        return program
    known = ", ".join(AGENTS)
    raise Invalid(f"unknown agent {program!r}: set its output format with --agent, one of {known}")
