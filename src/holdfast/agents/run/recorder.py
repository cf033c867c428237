"""The memory's side of a run, in its own thread: the agent never waits longer than the given time.

Opens the session, provides the brief, and stores what the agent records. The first failure is reported in one
line, and the agent continues.
"""

import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from holdfast.agents.fail_open import unbroken
from holdfast.domain.agent_events import AssistantText, Happening, OtherText, TurnEnd
from holdfast.domain.markers import (
    CooldownMarker,
    Echoes,
    EventMarker,
    InvalidMarker,
    Marker,
    MemoryMarker,
    read,
)
from holdfast.domain.operations import CooldownStatus
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter
from holdfast.engine.intake import safe
from holdfast.engine.memories import Memories
from holdfast.errors import HoldfastError, Invalid

_MAX_MARKERS = 500  # per session; more indicate an agent in a loop
_log = logging.getLogger(__name__)

Example = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """The facts about a session."""

    session: str
    name: str | None
    client: str
    directory: str
    project: str | None
    tier: int | None
    service: str | None
    captures: bool  # false: it gets a brief, but nothing is stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Handles ends of sessions that a busy store could not take."""

    later: Callable[[Memories, str, int | None, Mapping[str, Any] | None], None]  # notes one down
    noted: Callable[[Memories], None]  # stores those that were noted down


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The profile, brief and cooldowns at the start of a session."""

    profile: Profile
    brief: str
    cooling: list[CooldownStatus]


class Recorder:
    """The recorder of one run. Its methods may be called from one thread."""

    def __init__(
        self,
        occasion: Occasion,
        open_memories: Callable[[], Memories],
        examples: Callable[[Profile], list[Example]],
        say: Callable[[str], None],
        ends: Ends | None = None,
    ) -> None:
        self._occasion = occasion
        self._open_memories = open_memories
        self._examples = examples
        self._say = say
        self._ends = ends
        self._ended = False
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._memories: Memories | None = None
        self._echoes = Echoes()
        self._told: frozenset[str] = frozenset()  # ids in the brief
        self._usage: Mapping[str, Any] | None = None
        self._in_trouble = False
        self._consequence = "the agent runs without memory"
        self.kept: Counter[str] = Counter()
        # Daemon: a thread that hangs in the database must not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="holdfast-memory", daemon=True)
        self._thread.start()

    # ------------------------------------------------------------------------------ from the runner's thread

    def begin(self, patience: float) -> Opening | None:
        """Opens the session; None if the store can't be used or does not answer in time."""
        answer: Future[Opening | None] = Future()
        self._tasks.put(lambda: self._begin(answer))
        try:
            return answer.result(patience)
        except TimeoutError:
            self._trouble(f"{self._consequence}: no answer within {patience:g} s")
            return None

    def take(self, happening: Happening) -> None:
        """Stores what is marked, and remembers the rest of the text."""
        if isinstance(happening, TurnEnd):
            self._usage = happening.usage or self._usage
        elif self._occasion.captures:
            self._tasks.put(lambda: self._take(happening))

    def finish(self, exit_code: int, patience: float) -> None:
        """Closes the session when everything is stored, or gives up when the time is up."""
        self._tasks.put(lambda: self._finish(exit_code))
        self._tasks.put(None)
        self._thread.join(patience)
        if self._thread.is_alive():
            self._trouble(f"not everything was stored: no answer within {patience:g} s")
        memories, ends = self._memories, self._ends
        if memories is not None and ends is not None and not self._ended:
            unbroken(
                lambda: ends.later(memories, self._occasion.session, exit_code, self._usage), self._failed
            )

    # ----------------------------------------------------------------------------------- in the thread itself

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            unbroken(task, self._failed)

    def _failed(self, error: Exception) -> None:
        said = str(error)
        if not isinstance(error, HoldfastError):
            _log.debug("in the memory's thread", exc_info=error)
            said = f"{type(error).__name__}: {said}"
        self._trouble(f"{self._consequence}: {said}")

    def _begin(self, answer: "Future[Opening | None]") -> None:
        opening = None
        try:
            opening = self._open()
            self._consequence = "not everything was stored"
        finally:
            answer.set_result(opening)  # the runner waits for it, whatever happened
        self._give(opening.profile)
        if self._ends is not None and self._memories is not None:
            self._ends.noted(self._memories)

    def _open(self) -> Opening:
        about = self._occasion
        opened = self._open_memories()
        session = opened.open_session(
            about.session,
            name=about.name,
            client=about.client,
            directory=about.directory,
            project=about.project,
            tier=about.tier,
        )
        self._memories = memories = opened.speaking_as("assistant", session=session.id, project=about.project)
        brief = memories.brief(subject=about.service)
        self._told = frozenset(brief.included)
        return Opening(profile=memories.profile, brief=brief.text, cooling=memories.cooldowns())

    def _give(self, profile: Profile) -> None:
        """Remembers what the session was given, so that its repetition is not stored again."""
        assert self._memories is not None
        for example in self._examples(profile):
            self._echoes.give(*example)
        if self._told:
            where = Filter(project=self._occasion.project, other_projects=False)
            for memory in self._memories.find(where).memories:
                if memory.id in self._told:
                    self._echoes.give(memory.category, memory.subject, memory.content)

    def _take(self, happening: AssistantText | OtherText) -> None:
        if self._memories is None:
            return None
        if isinstance(happening, OtherText):
            return self._echoes.read(happening.text)
        found = read(happening.text, self._memories.profile)
        message = (
            self._message(happening) if any(not isinstance(each, InvalidMarker) for each in found) else None
        )
        for marker in found:
            if isinstance(marker, InvalidMarker):
                self._warn(marker.written, marker.reason)
            elif self.kept.total() >= _MAX_MARKERS:
                most = f"a session may have at most {_MAX_MARKERS} markers"
                return self._trouble(f"{self._consequence}: {most}")
            else:
                self._tried(marker, message, self._memories)
        return None

    def _message(self, said: AssistantText) -> str | None:
        """Stores the message that memories come from; None if it can't be stored."""
        assert self._memories is not None
        try:
            kept = self._memories.say(self._occasion.session, "assistant", said.text, message_id=said.message)
        except HoldfastError:  # the memories matter more, and report an error of the store themselves
            return None
        return kept.id if kept.content is not None else None

    def _tried(self, marker: Marker, message: str | None, memories: Memories) -> None:
        """Stores one marker; an invalid one does not affect the following ones."""
        try:
            self._keep(marker, message, memories)
        except Invalid as wrong:
            self._warn(marker.written, str(wrong))
        except HoldfastError as error:
            self._trouble(f"{self._consequence}: {error}")

    def _keep(self, marker: Marker, message: str | None, memories: Memories) -> None:
        match marker:
            case MemoryMarker():
                self._remember(marker, message, memories)
            case EventMarker() | CooldownMarker() if self._echoes.was_read(marker.written):
                self._warn(marker.written, "it was copied from a tool's output")
            case EventMarker(level, service, text):
                memories.record_event(level, text, service=service)
                self.kept["event"] += 1
            case CooldownMarker(action, service, succeeded, text):
                memories.record_attempt(action, service, succeeded, content=text)
                self.kept["cooldown"] += 1

    def _remember(self, marker: MemoryMarker, message: str | None, memories: Memories) -> None:
        if self._echoes.was_given(marker.category, marker.subject, marker.text):
            self.kept["repeated"] += 1
            return
        doubtful = None
        if self._echoes.was_read(marker.text):
            line = self._echoes.line_of(marker.text)
            doubtful = "the agent repeated what it had read in this session" + (f": “{line}”" if line else "")
        outcome = memories.remember(
            marker.text,
            category=marker.category,
            subject=marker.subject,
            message=message,
            doubtful=doubtful,
            unattended=True,
        )
        self.kept[type(outcome).__name__.lower()] += 1

    def _finish(self, exit_code: int) -> None:
        if self._memories is not None:
            self._memories.close_session(self._occasion.session, exit_code=exit_code, usage=self._usage)
            self._ended = True
            self._memories.close()

    def _warn(self, written: str, reason: str) -> None:
        """Reports a marker that was not stored, without secrets and control characters."""
        self.kept["ignored"] += 1
        shown = " ".join(safe(written).split())
        self._say(f"warning: {shown[:200]!r} was not stored: {reason}")

    def _trouble(self, text: str) -> None:
        if not self._in_trouble:
            self._in_trouble = True
            self._say(text)
