"""Scores messages for a question: each by itself, by its neighbours, by its speaker and its time.

Pure: a message comes with its cosines. A message often only makes sense after the one before, so it gets a
share of its neighbours' meaning and words, and of its session's. The weights were fitted on our own sessions
over months, of two users and of two pairs of friends (training/data); LoCoMo only measures.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from holdfast.domain.memory import Message
from holdfast.domain.ranking import (
    SHARE,
    Telling,
    discount,
    share,
    shared_words,
)
from holdfast.domain.terms import TextTerms, held, stems
from holdfast.language.named_days import nearness
from holdfast.language.question import ParsedQuestion

AS_SAID = 0.63  # the cosine with the question as the speaker would have said it
AS_ASKED = 0.34  # the cosine with the question as it is
MEANING = AS_SAID + AS_ASKED  # if both are the same
WORD = 0.068  # a shared word as rare as can be
NEAR = 0.04  # a word in a neighbouring message
SESSION_BEST = 0.056  # the best words of one message of the session
SESSION_COVER = 0.048  # a word of the question anywhere in the session
SPEAKER = 0.16  # said by the person that the question is about
DATE = 0.45  # said on the days that the question names
BRIEF = 0.30  # the loss of a message without words: "Thanks!" states no fact
TIME_WORD = 0.20  # "when" asks for a message that names a time

_TYPICAL_LENGTH = 40  # words of a typical message, between friends' and an assistant's
_FULL_LENGTH = 40  # words; a message as long loses nothing
_LOST = [BRIEF * (math.log1p(words) / math.log1p(_FULL_LENGTH) - 1) for words in range(_FULL_LENGTH + 1)]
_AROUND = ((-1, 1.0), (1, 0.5), (-2, 0.5), (2, 0.5))  # an answer follows its question
_NEIGHBOUR = 0.45  # a neighbour's share of the meaning
# A message has more evidence than a memory: session, neighbours, speaker. This maps it to
# the scale of memories, so that both can be listed together: of 200 memories and 419 messages in one space,
# questions to either find theirs nearly as well as alone.
_SPOKEN = 0.66
_LONGER = 0.25  # what that share usually adds to the length of the vectors' sum

_TIME = frozenset(
    stems(
        "yesterday today tonight tomorrow last next ago week weekend month year recently since morning "
        "monday tuesday wednesday thursday friday saturday sunday "
        "january february march april june july august september october november december"
    )
) | frozenset(str(year) for year in range(2000, 2100))

# How far the best message must be above the floor: there are far more messages than memories, so
# something is always similar. If none is, no message is returned.
_TO_BEGIN_WITH = 0.10
#: The least relevance of a message that counts as an answer.
FLOOR = 0.36

_OWN = ("meaning", "words")
PARTS = (*_OWN, "neighbours", "session", "speaker", "date", "time", "brevity")  # as they are reported

Place = tuple[str, int]  # session and number


@dataclass(slots=True)
class ScoredMessage:
    """A message with its own evidence; evidence of 0 is left out."""

    message: Message
    holds: TextTerms
    words: float  # of the question, weighed
    parts: dict[str, float]

    @property
    def place(self) -> Place:
        return self.message.session, self.message.number


def heard(
    messages: Iterable[Message],
    cosines: Mapping[str, Sequence[float]],
    question: ParsedQuestion,
    telling: Telling,
) -> dict[Place, ScoredMessage]:
    """The messages by place, with their evidence; `cosines` has one for each form of the question."""
    people = tuple(saying.person for saying in question.meant.sayings)
    who, days, asks_when = question.meant, question.days, question.asks_when
    found = {}
    for message in messages:
        holds = held(message.content or "")
        shared = shared_words(telling, holds)
        words = shared * discount(holds.length, _TYPICAL_LENGTH) if shared else 0.0
        parts = {"brevity": _LOST[min(holds.length, _FULL_LENGTH)]}
        by_form = cosines.get(message.id)
        if by_form is not None:
            parts["meaning"] = _meaning(by_form, message.speaker, people) if people else MEANING * by_form[0]
            if shared:
                parts["words"] = WORD * words
        elif shared:
            parts["words"] = share(telling, holds, _TYPICAL_LENGTH) * FLOOR / SHARE
        if who.said_by(message):
            parts["speaker"] = SPEAKER
        if days and (near := nearness(message.said_at.date(), days)):
            parts["date"] = DATE * near
        if asks_when and not _TIME.isdisjoint(holds.stems):
            parts["time"] = TIME_WORD
        found[message.session, message.number] = ScoredMessage(message, holds, words, parts)
    return found


def promising(told: Mapping[Place, ScoredMessage], most: int) -> list[Place]:
    """The best messages by their own evidence; only these need neighbours."""
    if len(told) <= most:
        return list(told)
    return nlargest(most, told, key=lambda place: sum(told[place].parts.values()))


def neighbours(places: Iterable[Place]) -> set[Place]:
    """The places before and after these."""
    return {(session, number + step) for session, number in places for step in (-1, 1)}


def lenders(told: Mapping[Place, ScoredMessage], places: Iterable[Place], telling: Telling) -> set[Place]:
    """The messages whose evidence counts for those at `places`, these included."""
    wanted = set(places)
    around = {(session, number + step) for session, number in wanted for step, _ in _AROUND}
    sessions = {session for session, _ in wanted}
    worded = [each for each in told.values() if each.words and each.message.session in sessions]
    speaking: set[Place] = set()
    counted: set[tuple[str, str]] = set()
    for each in sorted(worded, key=lambda one: -one.words):
        session = each.message.session
        new = {(session, base) for base in telling.words if base in each.holds.stems} - counted
        if new:  # the best message of a session counts, and those that have more of the words
            speaking.add(each.place)
            counted |= new
    return wanted | (around & told.keys()) | speaking


@dataclass(frozen=True, slots=True)
class MessageScore:
    """The evidence for a message, with its neighbours and session."""

    evidence: Mapping[str, float]  # all of it, on the scale of memories
    own: float  # of its own meaning and words, which is compared with the floor


def weighed(
    told: Mapping[Place, ScoredMessage], wanted: Iterable[Place], telling: Telling, *, by_meaning: bool = True
) -> dict[Place, MessageScore]:
    """The evidence for each of the `wanted`, with that of its neighbours, if known, and its session.

    Without vectors it is a share of the question's words.
    """
    sessions = _by_session(told.values(), telling)
    scale = 1.0 if by_meaning else SHARE / FLOOR
    unit = scale * _SPOKEN
    found = {}
    for place in wanted:
        session, number = place
        around = [(other, share) for step, share in _AROUND if (other := told.get((session, number + step)))]
        parts = {
            **told[place].parts,
            "neighbours": NEAR * sum([share * other.words for other, share in around]),
            "session": sessions[session],
        }
        if "meaning" in parts:
            parts["meaning"] = _with_neighbours(told, place)
        own = scale * sum([parts.get(name, 0.0) for name in _OWN])
        found[place] = MessageScore({name: unit * parts[name] for name in PARTS if parts.get(name)}, own)
    return found


def _meaning(cosines: Sequence[float], speaker: str | None, people: Sequence[str]) -> float:
    """The cosines with the question as it is, and as this speaker would have said it, combined."""
    as_said = max([cosines[1 + 2 * at + (speaker != person)] for at, person in enumerate(people)])
    return AS_SAID * as_said + AS_ASKED * cosines[0]


def _with_neighbours(told: Mapping[Place, ScoredMessage], place: Place) -> float:
    total, length = told[place].parts["meaning"], 1.0
    for step in (-1, 1):
        other = told.get((place[0], place[1] + step))
        if other is not None and "meaning" in other.parts:
            total += _NEIGHBOUR * other.parts["meaning"]
            length += _LONGER
    return total / length


def _by_session(told: Iterable[ScoredMessage], telling: Telling) -> dict[str, float]:
    """The words of the question in the best message of each session, and how many of them the session has."""
    best: dict[str, float] = {}
    covered: dict[str, set[str]] = {}
    for each in told:
        session = each.message.session
        best[session] = max(best.get(session, 0.0), each.words)
        if each.words:
            stems = each.holds.stems
            covered.setdefault(session, set()).update([base for base in telling.words if base in stems])
    return {
        session: SESSION_BEST * score
        + SESSION_COVER * sum([telling.words[base] for base in covered.get(session, ())])
        for session, score in best.items()
    }


def floor(*, by_meaning: bool) -> float:
    """The minimum relevance of an answer."""
    return FLOOR if by_meaning else SHARE


def to_begin_with(*, by_meaning: bool) -> float:
    """How far the best message has to be above the floor; the others need not be."""
    return _TO_BEGIN_WITH if by_meaning else _TO_BEGIN_WITH * SHARE / FLOOR
