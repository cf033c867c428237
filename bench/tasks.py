"""Small tasks that need what earlier sessions said: the turns and tokens they take, with and without memory.

The sessions of all tasks are one person's past, played through capture into one store. Then each task is a
session of its own, with what hooks give an agent at its start and at its prompt. An agent that lacks a fact
asks the user or is corrected; either costs a turn.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from bench.public_files import Entry, entries
from holdfast.agents.hooks import events, responses
from holdfast.domain.budget import estimate_tokens
from holdfast.engine.memories import Memories
from holdfast.engine.ports import LanguageModel
from holdfast.language.model_call import ModelPrompt
from holdfast.testing import FixedClock

DATA = Path(__file__).parent / "data" / "tasks.jsonl"
SYSTEM = """\
You help a user in a project. Answer briefly, with the exact names and values that the task needs.
If you lack something that only the user knows, reply with a question instead; do not guess."""
MOST_TURNS = 4
_MOST_ANSWER = 1_000  # tokens
_BETWEEN = timedelta(seconds=40)  # two turns
_ALL = 1_000
_REPLY = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": ["answer", "question"]}, "text": {"type": "string"}},
    "required": ["kind", "text"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that a task can't be done without."""

    says: str  # how the user puts it when asked
    about: tuple[str, ...]  # what a line must name, so that a reader knows what the value is of
    right: str  # what the answer must contain
    seen: str  # the same as a memory holds it
    wrong: str | None  # what held before


@dataclass(frozen=True, slots=True)
class PastSession:
    """What was said earlier."""

    project: str
    at: datetime
    turns: tuple[tuple[str, str], ...]  # role and text


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt of today, and the sessions that held what it needs."""

    id: str
    project: str
    prompt: str
    needs: tuple[Need, ...]
    sessions: tuple[PastSession, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent says, and what it cost."""

    text: str
    asks: bool
    read: int  # tokens
    written: int


class TaskAgent(Protocol):
    """Replies to the last line of `talk`, given a system prompt with what is remembered."""

    @property
    def name(self) -> str: ...
    def reply(self, task: Task, system: str, talk: Sequence[str]) -> Reply: ...


class ScriptedAgent:
    """Uses only what it reads: the first line about a needed fact; without one it asks."""

    name = "scripted"

    def reply(self, task: Task, system: str, talk: Sequence[str]) -> Reply:
        lines = [*reversed(talk), *system.splitlines()]
        values = [self._value(need, lines) for need in task.needs]
        known = [value for value in values if value is not None]
        asks = len(known) < len(values)
        text = "I need a fact that I do not have. Please tell me." if asks else " ".join(known)
        return Reply(text, asks, estimate_tokens("\n".join([system, *talk])), estimate_tokens(text))

    def _value(self, need: Need, lines: Sequence[str]) -> str | None:
        for line in lines:
            if need.says in line or _holds(line, *need.about, need.seen):
                return need.right
            if need.wrong is not None and _holds(line, *need.about, need.wrong):
                return need.wrong
        return None


class ModelAgent:
    """A language model."""

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.name
        self._model = model

    def reply(self, task: Task, system: str, talk: Sequence[str]) -> Reply:
        user = "\n".join(talk)
        asked = ModelPrompt(name="reply", system=system, user=user, schema=_REPLY, max_tokens=_MOST_ANSWER)
        answer = self._model.ask(asked)
        text, usage = str(answer.value.get("text")), answer.usage
        read = usage.input if usage else estimate_tokens(f"{system}\n{user}")
        written = usage.output if usage else estimate_tokens(text)
        return Reply(text, answer.value.get("kind") == "question", read, written)


@dataclass(slots=True)
class Tries:
    """How all tasks went, with memory or without."""

    at_once: int = 0
    solved: int = 0
    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    of_task: dict[str, int] = field(default_factory=dict)  # turns

    def add(self, task: Task, system: str, agent: TaskAgent) -> None:
        """Lets the agent do a task."""
        talk = [f"User: {task.prompt}"]
        right, turns = False, 0
        while not right and turns < MOST_TURNS:
            reply = agent.reply(task, system, talk)
            turns += 1
            self.tokens_in += reply.read
            self.tokens_out += reply.written
            missing = [need.says for need in task.needs if not _holds(reply.text, need.right)]
            right = not (reply.asks or missing)
            told = " ".join(missing or [need.says for need in task.needs])
            talk += [f"You: {reply.text}", f"User: {told}"]
        self.turns += turns
        self.solved += right
        self.at_once += right and turns == 1
        self.of_task[task.id] = turns


@dataclass(frozen=True, slots=True)
class TasksReport:
    """What was counted; `as_json` tells it by name."""

    agent: str
    tasks: int
    runs: dict[str, Tries]  # "without" and "with" memory

    def as_json(self) -> dict[str, Any]:
        names = ("at_once", "solved", "turns", "tokens_in", "tokens_out")
        metrics = {
            f"{run}.{name}": getattr(tries, name) for run, tries in self.runs.items() for name in names
        }
        turns = {run: tries.of_task for run, tries in self.runs.items()}
        return {
            "bench": "tasks",
            "agent": self.agent,
            "tasks": self.tasks,
            "metrics": metrics,
            "turns": turns,
        }


def load(path: Path | None) -> list[Task]:
    """The tasks in a file; our own if not said.

    Raises: ValueError, with the place of what is wrong; OSError.
    """
    return [_task(row) for row in entries(path or DATA)]


def play(tasks: Sequence[Task], opened: Callable[[FixedClock], Memories], agent: TaskAgent) -> TasksReport:
    """Plays the past into the store that `opened` gives, then does each task twice."""
    past = sorted((session for task in tasks for session in task.sessions), key=lambda one: one.at)
    clock = FixedClock(past[0].at) if past else FixedClock()
    runs = {"without": Tries(), "with": Tries()}
    with opened(clock) as memories:
        for number, session in enumerate(past):
            _play_session(f"past-{number}", session, memories, clock)
        clock.advance(days=1)
        for task in tasks:
            runs["without"].add(task, SYSTEM, agent)
            runs["with"].add(task, "\n\n".join([SYSTEM, *_given(task, memories)]), agent)
    return TasksReport(agent.name, len(tasks), runs)


def _play_session(name: str, session: PastSession, memories: Memories, clock: FixedClock) -> None:
    clock.set(max(session.at, clock.now()))
    memories.open_session(name, project=session.project)
    for role, text in session.turns:
        memories.say(name, role, text, said_at=clock.now())
        clock.advance(seconds=_BETWEEN.total_seconds())
    memories.capture(name)
    memories.embed(_ALL)


def _given(task: Task, memories: Memories) -> Iterator[str]:
    """What the hooks of an agent add: the brief, and the block at the prompt."""
    body = {"session_id": task.id, "project": task.project, "prompt": task.prompt}
    for event in (events.SESSION_START, events.PROMPT):
        if text := responses.answer(event, body, memories)["context"]:
            yield text


def _holds(text: str, *phrases: str) -> bool:
    return all(re.search(rf"(?<!\w){re.escape(each)}", text, re.IGNORECASE) for each in phrases)


def _task(row: Entry) -> Task:
    sessions = tuple(map(_past_session, row.inside("sessions", "session")))
    needs = tuple(map(_need, row.inside("needs", "need")))
    return Task(row.get("id", str), row.get("project", str), row.get("prompt", str), needs, sessions)


def _past_session(row: Entry) -> PastSession:
    turns = tuple((turn.get("role", str), turn.get("text", str)) for turn in row.inside("turns", "turn"))
    return PastSession(row.get("project", str), datetime.fromisoformat(row.get("at", str)), turns)


def _need(row: Entry) -> Need:
    right, given = row.get("right", str), row.fields
    seen, wrong = str(given.get("seen", right)), given.get("wrong")
    return Need(row.get("says", str), tuple(row.texts("about")), right, seen, wrong)
