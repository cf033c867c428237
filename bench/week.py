"""A fortnight of sessions in three projects, played through capture, brief and prompt as agents' hooks do.

Each row is a session; a turn says which facts it holds, and a prompt which earlier facts would help with it.
A memory holds a fact if it was taken from the same message and has most of the words that carry the fact.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.public_files import Entry, entries
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.ranking import MemoryHit
from holdfast.domain.terms import stems
from holdfast.engine.memories import Memories
from holdfast.testing import FixedClock

TEST = Path(__file__).parents[1] / "training" / "data" / "test"
_BETWEEN = timedelta(seconds=40)  # two turns
_MOST_WORDS = 0.6  # of those that carry a fact
_ALL = 1_000

Opened = Callable[[FixedClock], AbstractContextManager[Memories]]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a colleague would have noted of a turn."""

    id: str
    content: str | None  # none: something is taken back
    carried_by: str  # the words of the turn
    personal: bool  # holds in every project
    replaces: str | None
    repeats: str | None


@dataclass(frozen=True, slots=True)
class WeekTurn:
    """What was said, with the facts in it and, of a prompt, the earlier facts that would help."""

    role: str
    text: str
    facts: tuple[Fact, ...]
    helps: frozenset[str]


@dataclass(frozen=True, slots=True)
class WeekSession:
    """A session in one project."""

    name: str
    project: str
    at: datetime
    turns: tuple[WeekTurn, ...]


@dataclass(slots=True)
class WeekReport:
    """Counts of what was kept and shown; `as_json` tells them as shares."""

    facts: int = 0
    captured: int = 0
    memories: int = 0
    junk: int = 0
    corrections: int = 0
    leading: int = 0
    leaks: int = 0  # memories about a project that hold in all
    lines: int = 0
    helping: int = 0
    empty: int = 0  # prompts with which nothing helps
    silent: int = 0
    answerable: int = 0  # prompts with which a captured fact would help
    answered: int = 0
    tokens: int = 0
    sessions: int = 0
    rows: list[Mapping[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "bench": "week",
            "metrics": {
                "captured": _share(self.captured, self.facts),
                "junk": _share(self.junk, self.memories),
                "corrections": _share(self.leading, self.corrections),
                "leaks": _share(self.leaks, self.memories),
                "lines_that_help": _share(self.helping, self.lines),
                "rightly_silent": _share(self.silent, self.empty),
                "helped": _share(self.answered, self.answerable),
                "tokens_per_session": round(self.tokens / max(self.sessions, 1), 1),
            },
            "rows": self.rows,
        }


def load(path: Path | None) -> list[list[WeekSession]]:
    """The fortnights in a file, or in the files weeks_*.jsonl of a folder; of the test part if not said.

    Raises: ValueError, with the place of what is wrong; OSError.
    """
    path = path or TEST
    files = sorted(path.glob("weeks_*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise ValueError("it holds no weeks_*.jsonl")
    return [[_session(row) for row in entries(file)] for file in files]


def play(weeks: Sequence[Sequence[WeekSession]], opened: Opened) -> WeekReport:
    """Plays each fortnight in a store of its own, which `opened(clock)` gives."""
    report = WeekReport()
    for week in weeks:
        clock = FixedClock(week[0].at)
        with opened(clock) as memories:
            Play(memories, clock, report).all(week)
    return report


class Play:
    """One fortnight, from its first session to its last."""

    def __init__(self, memories: Memories, clock: FixedClock, report: WeekReport) -> None:
        self._memories = memories
        self._clock = clock
        self._report = report
        self._of_fact: dict[str, str] = {}  # the memory that holds a fact
        self.facts_of: dict[str, set[str]] = defaultdict(set)  # and the facts of a memory or a message
        self._in_brief: set[str] = set()
        self._personal: set[str] = set()
        self._replaced: list[Fact] = []

    def all(self, week: Sequence[WeekSession]) -> None:
        for session in week:
            self._session(session)
        self._count_memories()
        self._count_corrections()

    def _session(self, session: WeekSession) -> None:
        self._report.sessions += 1
        self._clock.set(max(session.at, self._clock.now()))
        self._memories.open_session(session.name, project=session.project)
        speaker = self._memories.speaking_as("user", session=session.name, project=session.project)
        self._in_brief = set(speaker.brief().included)
        said: list[tuple[str, WeekTurn]] = []
        for turn in session.turns:
            if turn.role == "user":
                self._prompted(turn, speaker)
            message = self._memories.say(session.name, turn.role, turn.text, said_at=self._clock.now())
            said.append((message.id, turn))
            self._clock.advance(seconds=_BETWEEN.total_seconds())
        self._memories.capture(session.name)
        self._memories.embed(_ALL)
        self._match(session, said)

    def _prompted(self, turn: WeekTurn, speaker: Memories) -> None:
        shown = speaker.context([turn.text])
        owners = [hit.memory.id if isinstance(hit, MemoryHit) else hit.message.id for hit in shown.hits]
        helping = [one for one in owners if self.facts_of[one] & turn.helps]
        in_brief = any(self.facts_of[one] & turn.helps for one in self._in_brief)
        self._report.lines += len(shown.hits)
        self._report.helping += len(helping)
        self._report.tokens += shown.tokens
        if not turn.helps:
            self._report.empty += 1
            self._report.silent += not shown.hits
        elif any(fact in self._of_fact for fact in turn.helps):
            self._report.answerable += 1
            self._report.answered += bool(helping) or in_brief

    def _match(self, session: WeekSession, said: Sequence[tuple[str, WeekTurn]]) -> None:
        """Which memory holds which fact of a session that was just read."""
        made = self._memories.find(Filter(session=session.name), limit=_ALL).memories
        for message, turn in said:
            beside = [memory for memory in made if memory.source.message == message]
            for fact in turn.facts:
                self.facts_of[message].add(fact.repeats or fact.id)
                self._note(fact, beside)

    def _note(self, fact: Fact, beside: Sequence[Memory]) -> None:
        found = next((memory for memory in beside if _holds(memory, fact)), None)
        if found is not None:
            self.facts_of[found.id].add(fact.repeats or fact.id)
        if fact.replaces is not None:
            self._replaced.append(fact)
        if fact.repeats is not None or fact.content is None:
            return
        self._report.facts += 1
        self._report.captured += found is not None
        self._report.rows.append({"fact": fact.content, "memory": found.content if found else None})
        if found is not None:
            self._of_fact[fact.id] = found.id
            if fact.personal:
                self._personal.add(found.id)

    def _count_memories(self) -> None:
        made = self._memories.find(Filter(states=("active", "inactive", "waiting")), limit=_ALL).memories
        self._report.memories += len(made)
        for memory in made:
            junk = not self.facts_of[memory.id]
            self._report.junk += junk
            self._report.leaks += not junk and memory.project is None and memory.id not in self._personal
            if junk:
                self._report.rows.append({"fact": None, "memory": memory.content})

    def _count_corrections(self) -> None:
        """A correction leads when the old memory is superseded or gone, and the new one, if any, is there."""
        now = {memory.id: memory for memory in self._memories.find(limit=_ALL).memories}
        for fact in self._replaced:
            old = now.get(self._of_fact.get(fact.replaces or "", ""))
            new = fact.content is None or self._of_fact.get(fact.id) in now
            self._report.corrections += 1
            self._report.leading += new and (old is None or old.superseded_by is not None)


def _holds(memory: Memory, fact: Fact) -> bool:
    words = set(stems(fact.carried_by))
    return len(words & set(stems(memory.content))) >= _MOST_WORDS * len(words)


def _session(row: Entry) -> WeekSession:
    turns = tuple(_turns(row))
    at = datetime.fromisoformat(row.get("at", str))
    return WeekSession(row.get("session", str), row.get("project", str), at, turns)


def _turns(row: Entry) -> Iterator[WeekTurn]:
    for turn in row.inside("turns", "turn"):
        given = turn.fields
        facts = tuple(map(_fact, turn.inside("facts", "fact"))) if "facts" in given else ()
        helps = frozenset(turn.texts("helps")) if "helps" in given else frozenset()
        yield WeekTurn(turn.get("role", str), turn.get("text", str), facts, helps)


def _fact(row: Entry) -> Fact:
    given = row.fields
    return Fact(
        id=row.get("id", str),
        content=given.get("content"),
        carried_by=row.get("from", str),
        personal=given.get("about") == "person",
        replaces=given.get("replaces"),
        repeats=given.get("repeats"),
    )


def _share(some: int, of: int) -> float:
    return some / of if of else 0.0
