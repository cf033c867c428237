"""One run from beginning to end: ask the memory, start the agent, read its output and pass it on."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from holdfast.agents.run.agents import AGENTS, PreparedCommand, name_of
from holdfast.agents.run.arguments import Arguments
from holdfast.agents.run.output import Lines, Output
from holdfast.agents.run.process import NotStarted, Process, Signals
from holdfast.agents.run.prompt_file import PromptFile
from holdfast.agents.run.recorder import Ends, Occasion, Opening, Recorder
from holdfast.domain.agent_events import Happening, Stream, TurnEnd
from holdfast.engine.memories import Memories
from holdfast.prompts import Prompts, examples

TO_BEGIN = 5.0  # seconds that the agent waits for its memory
TO_FINISH = 10.0  # seconds that the memory gets to keep what is left when the agent is done


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the caller asked for."""

    command: tuple[str, ...]
    agent: str | None  # none: by the program's name
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
    """Runs an agent and answers its exit code.

    Raises: Invalid, before anything is started.
    """
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
                code = _watched(prepared, plan, reading, signals, output or sys.stdout.buffer)
        except NotStarted as error:
            say(str(error))
            code = error.code
        except SystemExit as ended:  # by a signal, before the agent was there
            code = ended.code if isinstance(ended.code, int) else 1
        finally:
            recorder.finish(code, TO_FINISH)
    return code


def _prompt(plan: Plan, opening: Opening | None) -> str:
    """What the agent is told: its task, where it is, what is known; in this order."""
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


def _watched(
    prepared: PreparedCommand, plan: Plan, reading: "_Reading", signals: Signals, target: BinaryIO
) -> int:
    """Runs the agent to its end.

    Raises: NotStarted.
    """
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
    """For output that does not say who said what."""

    def line(self, line: bytes) -> tuple[Happening, ...]:
        return ()

    def end(self) -> tuple[Happening, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class _Reading:
    """From the agent's lines to the memory, and to what the caller sees."""

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
