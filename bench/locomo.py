"""Reads LoCoMo (github.com/snap-research/locomo, data/locomo10.json): long talks of two people."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.conversations import Conversation, Loaded, Meeting, Question, Turn
from bench.public_files import Entry, entries, objects, shown

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_MOMENT = "%I:%M %p on %d %B, %Y"
_SESSION = re.compile(r"session_(\d+)")
# Some evidence holds several ids in one text, or ids with a stray colon or zero.
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def load(path: Path) -> Loaded:
    """The conversations of a file in LoCoMo's own format, gzipped or not.

    Raises: ValueError, with the place of what is wrong; OSError.
    """
    return Loaded("locomo", tuple(map(_conversation, entries(path))))


def _conversation(entry: Entry) -> Conversation:
    if "conversation" not in entry.fields or "qa" not in entry.fields:
        raise ValueError(f"{entry.place}: conversation or qa is missing: LoCoMo's locomo10.json is expected")
    talk = Entry(f"{entry.place}, conversation", entry.get("conversation", dict))
    numbers = sorted(int(found[1]) for name in talk.fields if (found := _SESSION.fullmatch(name)))
    if not numbers:
        raise ValueError(f"{talk.place}: there is no session_1")
    meetings = tuple(_meeting(talk, number) for number in numbers)
    ids = [turn.id for meeting in meetings for turn in meeting.turns]
    if len(set(ids)) < len(ids):
        twice = next(turn for turn in ids if ids.count(turn) > 1)
        raise ValueError(f"{talk.place}: dia_id {twice} is there twice")
    # The set does not say when its questions were asked: after all that was said.
    at = max(meeting.at for meeting in meetings) + timedelta(days=1)
    asked = [_question(row, meetings, at) for row in entry.inside("qa", "question")]
    with_evidence = tuple(question for question in asked if question.turns)
    return Conversation(
        name=str(entry.fields.get("sample_id") or entry.place),
        meetings=meetings,
        questions=with_evidence,
        left_out=len(asked) - len(with_evidence),
    )


def _meeting(talk: Entry, number: int) -> Meeting:
    name, dated = f"session_{number}", f"session_{number}_date_time"
    said = talk.get(dated, str)
    try:
        at = datetime.strptime(said, _MOMENT).replace(tzinfo=UTC)
    except ValueError:
        wrong = f"{talk.place}: {dated} is {shown(said)}, not like '1:56 pm on 8 May, 2023'"
        raise ValueError(wrong) from None
    turns = objects(talk.get(name, list), f"{talk.place}, {name}, turn")
    return Meeting(f"D{number}", at, tuple(map(_turn, turns)))


def _turn(row: Entry) -> Turn:
    # A picture is what its caption says of it.
    caption = row.get("blip_caption", str) if row.fields.get("blip_caption") else None
    text = row.get("text", str) + (f" [shares {caption}]" if caption else "")
    return Turn(id=row.get("dia_id", str), text=text, role="user", speaker=row.get("speaker", str))


def _question(row: Entry, meetings: tuple[Meeting, ...], at: datetime) -> Question:
    number = row.get("category", int)
    if number not in CATEGORIES:
        raise ValueError(f"{row.place}: category {number} is none of 1 to 5")
    evidence = _EVIDENCE.findall(" ".join(row.texts("evidence")))
    named = {f"D{int(session)}:{int(turn)}" for session, turn in evidence}
    session_of = {turn.id: meeting.name for meeting in meetings for turn in meeting.turns}
    gold = frozenset(named & session_of.keys())
    return Question(
        text=row.get("question", str),
        at=at,
        category=CATEGORIES[number],
        turns=gold,
        sessions=frozenset(session_of[turn] for turn in gold),
        apart=CATEGORIES[number] == "adversarial",  # its evidence belongs to the other speaker
    )
