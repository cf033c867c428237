"""Reads LongMemEval (github.com/xiaowu0162/LongMemEval): questions, each with its own pile of chats."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.conversations import Conversation, Loaded, Meeting, Question, Turn
from bench.public_files import Entry, entries, objects, shown

_WEEKDAY = re.compile(r" \(\w+\)")
_PILE = ("haystack_session_ids", "haystack_dates", "haystack_sessions")


def load(path: Path) -> Loaded:
    """The cases of a file in LongMemEval's own format or as JSON lines, gzipped or not.

    Raises: ValueError, with the place of what is wrong; OSError.
    """
    return Loaded("longmemeval", tuple(map(_conversation, entries(path))))


def _conversation(entry: Entry) -> Conversation:
    if "haystack_sessions" not in entry.fields:
        expected = "LongMemEval's longmemeval_s.json is expected"
        raise ValueError(f"{entry.place}: haystack_sessions is missing: {expected}")
    sizes = [len(entry.get(name, list)) for name in _PILE]
    if len(set(sizes)) > 1:
        each = ", ".join(f"{size} {name}" for name, size in zip(_PILE, sizes, strict=True))
        raise ValueError(f"{entry.place}: a session has no id, date or messages: there are {each}")
    name, gold = entry.get("question_id", str), set[str]()
    meetings = tuple(_meetings(entry, gold))
    sessions = frozenset(entry.texts("answer_session_ids")) & {meeting.name for meeting in meetings}
    # Nothing that was said answers these: the set's authors leave them out of what retrieval is measured by.
    nothing_answers = name.endswith("_abs")
    question = Question(
        text=entry.get("question", str),
        at=_moment(entry.get("question_date", str), f"{entry.place}, question_date"),
        category="abstention" if nothing_answers else entry.get("question_type", str),
        turns=frozenset(gold),
        sessions=sessions,
        apart=nothing_answers,
    )
    return Conversation(name, meetings, (question,) if sessions else (), left_out=int(not sessions))


def _meetings(entry: Entry, gold: set[str]) -> Iterator[Meeting]:
    """The sessions; the turns that hold the answer go into `gold`."""
    names, dates = entry.texts("haystack_session_ids"), entry.texts("haystack_dates")
    for number, messages in enumerate(entry.get("haystack_sessions", list), start=1):
        place = f"{entry.place}, session {number}"
        if not isinstance(messages, list):
            raise ValueError(f"{place}: {shown(messages)} is no list of messages")
        turns = []
        for count, row in enumerate(objects(messages, f"{place}, message"), start=1):
            turn = Turn(f"{number}:{count}", row.get("content", str), row.get("role", str))
            turns.append(turn)
            if row.fields.get("has_answer"):
                gold.add(turn.id)
        yield Meeting(names[number - 1], _moment(dates[number - 1], place), tuple(turns))


def _moment(text: str, place: str) -> datetime:
    try:
        return datetime.strptime(_WEEKDAY.sub("", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{place}: {shown(text)} is no time like '2023/05/30 (Tue) 23:40'") from None
