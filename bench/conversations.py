"""How well recall finds what was said, measured on long conversations with questions and known evidence.

Drives whatever it is given by one function, so that what is measured is the product itself; knows neither
a benchmark's file nor a store.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

#: How many messages a ranking should hold: enough for five sessions to be among them.
DEPTH = 200


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said; its id is unique in the conversation."""

    id: str
    text: str
    role: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Meeting:
    """The turns of one session, at one time."""

    name: str
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, when it was asked, and the turns and sessions that answer it."""

    text: str
    at: datetime
    category: str
    turns: frozenset[str]
    sessions: frozenset[str]
    apart: bool = False  # counted by itself: what it asks for was never said


@dataclass(frozen=True, slots=True)
class Conversation:
    """Sessions, and the questions that are asked of them alone."""

    name: str
    meetings: tuple[Meeting, ...]
    questions: tuple[Question, ...]
    left_out: int = 0  # questions without evidence


@dataclass(frozen=True, slots=True)
class Loaded:
    """A benchmark's file."""

    bench: str
    conversations: tuple[Conversation, ...]

    @property
    def questions(self) -> int:
        return sum(len(each.questions) for each in self.conversations)


Ask = Callable[[Question], Sequence[str]]  # ids of turns, best first
#: Holds a conversation in a place of its own, and answers questions from it.
Hold = Callable[[Conversation], AbstractContextManager[Ask]]


@dataclass(frozen=True, slots=True)
class ConversationsReport:
    """Shares from 0 to 1, over all questions and by category; those asked apart are in no mean."""

    bench: str
    conversations: int
    counts: Mapping[str, int]  # questions by category
    left_out: int
    metrics: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        return {
            "bench": self.bench,
            "conversations": self.conversations,
            "questions": dict(self.counts),
            "left_out": self.left_out,
            "metrics": dict(self.metrics),
        }


def measure(loaded: Loaded, hold: Hold, asked: Callable[[], None] = lambda: None) -> ConversationsReport:
    """Tells each conversation, asks its questions, and counts. `asked` is called after each question."""
    figures: dict[str, list[float]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for conversation in loaded.conversations:
        session_of = {turn.id: meeting.name for meeting in conversation.meetings for turn in meeting.turns}
        with hold(conversation) as ask:
            for question in conversation.questions:
                found = of_question(question, ask(question), session_of)
                for name, value in found.items():
                    for full_name in _names(name, question):
                        figures[full_name].append(value)
                counts[question.category] += 1
                asked()
    return ConversationsReport(
        bench=loaded.bench,
        conversations=len(loaded.conversations),
        counts=dict(sorted(counts.items())),
        left_out=sum(each.left_out for each in loaded.conversations),
        metrics={name: _mean(values) for name, values in sorted(figures.items(), key=_in_order)},
    )


def of_question(question: Question, ranked: Sequence[str], session_of: Mapping[str, str]) -> dict[str, float]:
    """The figures of one ranking; turns only where the data says which turns answer."""
    found: dict[str, float] = {}
    if question.turns:
        places = [place for place, turn in enumerate(ranked) if turn in question.turns]
        best_possible = sum(map(_gain, range(min(len(question.turns), 10))))
        found["turn.R@5"] = sum(place < 5 for place in places) / len(question.turns)
        found["turn.R@10"] = sum(place < 10 for place in places) / len(question.turns)
        found["turn.NDCG@10"] = sum(_gain(place) for place in places if place < 10) / best_possible
    # A session stands where its best message stands.
    sessions = list(dict.fromkeys(session_of[turn] for turn in ranked))[:5]
    found["session.hit@5"] = float(not question.sessions.isdisjoint(sessions))
    found["session.all@5"] = float(question.sessions.issubset(sessions))
    return found


def _names(name: str, question: Question) -> tuple[str, ...]:
    if question.apart:
        return (f"{question.category}.{name.removeprefix('turn.')}",)
    return name, f"{name}.{question.category}"


def _in_order(entry: tuple[str, list[float]]) -> tuple[bool, int, str]:
    """What stands for all questions first, then by category, then what is counted apart."""
    name = entry[0]
    return not name.startswith(("turn.", "session.")), name.count("."), name


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return round(sum(every) / len(every), 4)
