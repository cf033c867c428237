"""How each agent is given a prompt, and made to print what can be read while it runs.

Facts about other programs' options, one class each. Knows nothing of processes or of memory.
"""

import json
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final, Literal, Protocol

from holdfast.agents.run.arguments import Arguments
from holdfast.agents.run.prompt_file import PromptFile, too_long
from holdfast.errors import Invalid

#: What the caller is to see: all bytes as they come, or at the end the answer, the line that holds it, or all
#: lines as one list.
Shows = Literal["everything", "answer", "last line", "list of lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCommand:
    """A command that is ready to be run."""

    words: tuple[str, ...]
    environment: dict[str, str]  # on top of ours
    shows: Shows
    readable: bool = True  # whether its output says who said what


class AgentProgram(Protocol):
    """A program that talks to a model."""

    client: str  # its name in sessions

    def prepared(self, command: Arguments, told: PromptFile, session: str) -> PreparedCommand:
        """The command with a prompt added to what its model is told.

        Raises: Invalid, when it can't be run without a person at a terminal.
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
        return PreparedCommand(words=command.words, environment={}, shows=shows)


def _appended(command: Arguments, told: PromptFile) -> Arguments:
    """With our prompt behind the caller's own: of two such options the program would take one."""
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
    """The prompt, if it can be given to the agent at all."""
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
            # A string of JSON is one of TOML too, which is what the option takes.
            added += ["-c", f"developer_instructions={json.dumps(prompt)}"]
        words = command.adding(*added, at=place + 1).words
        return PreparedCommand(words=words, environment={}, shows="everything" if asked else "answer")


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
            environment={},
            shows="answer" if asked == "text" else "everything",
            readable=asked != "json",
        )


class PlainText:
    """Any program that prints nothing but its answer. It finds the prompt in HOLDFAST_PROMPT."""

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
    """Which of the agents a command runs, as the caller says or by the program's name.

    Raises: Invalid.
    """
    if named is not None:
        return named
    program = PurePath(command.words[0]).name.casefold().removesuffix(".exe").removesuffix(".cmd")
    if program in AGENTS and program != "plain":
        return program
    known = ", ".join(AGENTS)
    raise Invalid(f"unknown agent {program!r}: set its output format with --agent, one of {known}")
