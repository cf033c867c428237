"""The session runner: starts an agent with its brief, passes its output on, and stores what it records.

The agent comes first: whatever is wrong with the memory, the agent runs, its output passes through and its
exit code is kept.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from holdfast.agents.run.agents import AGENTS, Arguments, PreparedCommand, PromptFile, Shows, name_of
from holdfast.agents.run.process import NotStarted, Process, Signals
from holdfast.agents.run.recorder import Ends, Occasion, Opening, Recorder
from holdfast.domain.agent_events import Happening, Stream, TurnEnd
from holdfast.engine.memories import Memories
from holdfast.prompts import Prompts, examples

__all__ = ["AGENTS", "Ends", "Plan", "run"]

_MAX_LINE = 64_000_000  # bytes; a longer line passes through and is not read


class Lines:
    """Splits output into lines."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def of(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in `piece`, without their line ends."""
        *ended, open_one = piece.split(b"\n")
        for part in ended:
            self._add(part)
            line = self.rest
            self._parts, self._size = [], 0
            yield line
        self._add(open_one)

    @property
    def rest(self) -> bytes:
        """The text after the last line end; empty if it is too long to be read."""
        return b"".join(self._parts) if self._size <= _MAX_LINE else b""

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > _MAX_LINE:
            self._parts = []
        elif part:
            self._parts.append(part)


class Output:
    """The output for the caller. Bytes that pass through are not changed."""

    def __init__(self, target: BinaryIO, shows: Shows) -> None:
        self._target = target
        self._shows = shows
        self._answer = b""
        self._lines: list[bytes] = []

    def piece(self, piece: bytes) -> bool:
        """Passes on output of the agent, if the caller wants all of it; false if its reader is gone."""
        return self._write(piece) if self._shows == "everything" else True

    def line(self, line: bytes) -> None:
        """Takes note of a line."""
        if self._shows == "list of lines" and line.strip():
            self._lines.append(line)

    def ended(self, line: bytes, answer: str | None) -> None:
        """Stores the answer and its line."""
        if self._shows == "last line":
            self._answer = line + b"\n"
        elif self._shows == "answer" and answer is not None:
            self._answer = answer.encode("utf-8", "replace")

    def close(self) -> None:
        """Prints the output that was held until the end."""
        if self._shows == "list of lines":
            self._answer = b"[" + b",".join(self._lines) + b"]\n"
        if self._answer:
            self._write(self._answer)

    def _write(self, content: bytes) -> bool:
        try:
            self._target.write(content)
            self._target.flush()
        except (BrokenPipeError, ValueError):  # the reader closed the pipe
            return False
        return True


TO_BEGIN = 5.0  # seconds that the agent waits for its memory
TO_FINISH = 10.0  # seconds to store the rest after the agent has ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The caller's options."""

    command: tuple[str, ...]
    agent: str | None  # None: by the program's name
    occasion: Occasion
    prompts: Prompts
    facts: tuple[tuple[str, str], ...]
    environment: Mapping[str, str]


def run(
    plan: Plan,
    *,
    readers: Mapping[str, Callable[[], Stream]],
    open_memories: Callable[[], Memories],
    say: Callable[[str], None],
    ends: Ends | None = None,
    output: BinaryIO | None = None,
) -> int:
    """Runs an agent and returns its exit code. Raises: Invalid, before anything is started."""
    command = Arguments(plan.command)
    name = name_of(command, plan.agent)
    agent = AGENTS[name]
    # A command that can't be run is refused before a session is opened for it.
    readable = agent.prepared(command, PromptFile(""), plan.occasion.session).readable
    stream = readers[name]() if readable else _Unread()
    with Signals() as signals:
        recorder = Recorder(plan.occasion, open_memories, examples, say, ends)
        code = 1
        try:
            opening = recorder.begin(TO_BEGIN)
            if not readable and opening is not None and plan.occasion.captures:
                say("nothing is recorded: use the output format stream-json, which marks who said what")
            with PromptFile(_prompt(plan, opening)) as told:
                prepared = agent.prepared(command, told, plan.occasion.session)
                reading = _Reading(stream, recorder)
                code = _run_agent(prepared, plan, reading, signals, output or sys.stdout.buffer)
        except NotStarted as error:
            say(str(error))
            code = error.code
        except SystemExit as ended:  # by a signal, before the agent was there
            code = ended.code if isinstance(ended.code, int) else 1
        finally:
            recorder.finish(code, TO_FINISH)
    return code


def _prompt(plan: Plan, opening: Opening | None) -> str:
    """The prompt of the agent: its task, its environment and the brief, in this order."""
    about = plan.occasion
    cooling = opening.cooling if opening is not None else []
    recording = opening.profile if opening is not None and about.captures else None
    placed = about.tier is not None or about.service is not None or not all(each.allowed for each in cooling)
    parts = [
        plan.prompts.task(about.tier, recording),
        plan.prompts.environment(plan.facts, cooling) if placed else "",
        opening.brief if opening is not None else "",
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()).replace("\0", "")


def _run_agent(
    prepared: PreparedCommand, plan: Plan, reading: "_Reading", signals: Signals, target: BinaryIO
) -> int:
    """Runs the agent to its end. Raises: NotStarted."""
    environment = {**os.environ, **plan.environment, **prepared.environment}
    environment["HOLDFAST_SESSION"] = plan.occasion.session
    process = signals.agent = Process(prepared.words, environment)
    shown, lines = Output(target, prepared.shows), Lines()
    for piece in process.output():
        if not shown.piece(piece):
            process.stop_reading()
            break
        for line in lines.of(piece):
            reading.line(line, shown)
    code = process.wait()
    signals.agent = None
    if lines.rest and not process.killed:
        reading.line(lines.rest, shown)
    reading.end()
    shown.close()
    return code


class _Unread:
    """For output without roles."""

    def line(self, line: bytes) -> tuple[Happening, ...]:
        return ()

    def end(self) -> tuple[Happening, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class _Reading:
    """Passes the agent's lines to the memory and to the caller."""

    stream: Stream
    recorder: Recorder

    def line(self, line: bytes, shown: Output) -> None:
        shown.line(line)
        for happening in self.stream.line(line):
            self.recorder.take(happening)
            if isinstance(happening, TurnEnd):
                shown.ended(line, happening.shown)

    def end(self) -> None:
        for happening in self.stream.end():
            self.recorder.take(happening)
