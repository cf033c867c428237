"""Reads our own sessions over months, of a user or of two people, with questions and what answers them."""

from datetime import UTC, datetime
from pathlib import Path

from bench.conversations import Conversation, Loaded, Meeting, Question, Turn
from bench.public_files import Entry, entries, shown


def load(path: Path) -> Loaded:
    """A file, or the files months_*.jsonl and chats_*.jsonl of a folder, each of one user or of two people.

    Raises: ValueError, with the place of what is wrong; OSError.
    """
    files = [*path.glob("months_*.jsonl"), *path.glob("chats_*.jsonl")] if path.is_dir() else [path]
    if not files:
        raise ValueError("it holds no months_*.jsonl or chats_*.jsonl")
    return Loaded("months", tuple(map(_conversation, sorted(files))))


def _conversation(path: Path) -> Conversation:
    rows = list(entries(path))
    meetings = tuple(_meeting(row) for row in rows if "messages" in row.fields)
    session_of = {turn.id: meeting.name for meeting in meetings for turn in meeting.turns}
    questions = tuple(_question(row, session_of) for row in rows if "question" in row.fields)
    return Conversation(path.stem, meetings, questions)


def _meeting(row: Entry) -> Meeting:
    return Meeting(
        row.get("session", str), _day(row, "date"), tuple(map(_turn, row.inside("messages", "message")))
    )


def _turn(said: Entry) -> Turn:
    """A message; where two people talk, `role` is the name of the one who speaks."""
    role = said.get("role", str)
    named = role not in ("user", "assistant")
    return Turn(
        said.get("id", str), said.get("text", str), "user" if named else role, role if named else None
    )


def _question(row: Entry, session_of: dict[str, str]) -> Question:
    evidence = row.texts("evidence")
    unknown = [name for name in evidence if name not in session_of]
    if unknown or not evidence:
        raise ValueError(f"{row.place}: evidence names {shown(unknown)}, which is no message")
    return Question(
        text=row.get("question", str),
        at=_day(row, "asked"),
        category="one message" if len(evidence) == 1 else "several messages",
        turns=frozenset(evidence),
        sessions=frozenset(session_of[name] for name in evidence),
    )


def _day(row: Entry, name: str) -> datetime:
    try:
        return datetime.strptime(row.get(name, str), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{row.place}: {name} is no day like '2026-01-09'") from None
