"""Scores a memory for a query: meaning and words, then importance, recency and confidence.

All evidence is in units of one cosine, so that the sum can be compared with one floor.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import mul
from typing import Literal, NamedTuple

from holdfast.domain.history import ReceiptItem
from holdfast.domain.memory import Memory, Message, Session
from holdfast.domain.profile import Policy
from holdfast.domain.terms import TextTerms

MEANING = 1.15  # a cosine of 1
WORD = 0.10  # a shared word as rare as can be
HELPS = 0.10  # the reader model's result, in log odds

#: Candidates that a reader may read, the best by meaning and words.
READ = 8
# Whether a prompt is answered at all is told by all that was read together: fitted on the validation part of
# the training data, in stores of 60 to 5,000 memories, where 87% of the prompts without one stay silent.
_PROMPT_MEANING = 0.5
_PROMPT_HELPS = 0.1
_SHARPNESS = 3.0
_ANSWERED_FROM = 0.52
_SMALL_STORE = 60  # memories, where that is enough
_BY_CHANCE = 0.035  # more for each e-fold more memories: among more of them, more sound near by chance
_WORDED = 0.75  # the share of the query's words that is enough by itself, for keyword queries
ANSWER = 0.0  # the least relevance of an answer then
_NO_ANSWER = 1.5  # and where nothing is answered
MAX_ODDS = 5.8

# BM25 with a word's presence instead of its count: in short texts counts add nothing.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.3
_TYPICAL_LENGTH = 12  # words of a memory
_MAX_TERMS = 12  # of a question
_SMALLEST_SPACE = 50  # texts; in fewer every word looks rare

#: Relevance under which nothing is answered that was not read.
FLOOR = 0.50
#: What a line of a prompt's block needs besides: of three fortnights of the training data 25% of such lines
#: help, 12% of all that answer; 84% of the prompts with which nothing helps get none, 65% without it.
PROMPT_FLOOR = 0.35
#: Without meaning: the share of a question, weighed by how rare its words are, that a text has to hold.
SHARE = 0.25

#: Between these two, relevance is the plain sum; outside it approaches 0 or 1.
_LOW, _PLAIN = 0.01, 0.8

FRESH = timedelta(days=7)
STALE = timedelta(days=90)


Matched = Literal["meaning", "text"]


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that recall found, with its source message, its score and the parts of the score."""

    memory: Memory
    cites: Message | None = field(default=None, kw_only=True)  # what it was taken from
    score: float
    parts: Mapping[str, float]  # the factors of the score; "message": ranked where its message is
    evidence: Mapping[str, float]  # what makes the relevance
    matched: Matched = "text"  # by meaning, or by text alone


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that recall found, with its session."""

    message: Message
    session: Session | None
    score: float
    parts: Mapping[str, float]
    evidence: Mapping[str, float]
    matched: Matched = "text"


Hit = MemoryHit | MessageHit


def owner(hit: Hit) -> str:
    """The id of what was found."""
    return hit.memory.id if isinstance(hit, MemoryHit) else hit.message.id


@dataclass(frozen=True, slots=True)
class Telling:
    """The weight of each term of a query in one set of texts, from 0 to 1."""

    words: Mapping[str, float]

    @classmethod
    def of(cls, terms: Sequence[str], counts: Mapping[str, int], total: int) -> "Telling":
        """From the number of texts that contain each term."""
        # A long text shares something with everything: beyond a question's length each term counts less.
        weight = min(1.0, _MAX_TERMS / max(len(terms), 1))
        return cls({term: weight * rarity(counts[term], total) for term in terms})


class Wording(NamedTuple):
    """All that a memory can be found by, and its project."""

    text: str
    project: str | None


def said(memory: Memory) -> str:
    """The text of a memory that search uses."""
    return findable(memory.subject, memory.summary, memory.content, memory.tags)


def findable(subject: str | None, summary: str | None, content: str, tags: Sequence[str]) -> str:
    """The same for the fields of a memory."""
    return " ".join([part for part in (subject, summary, content, *tags) if part])


def rarity(count: int, texts: int) -> float:
    """1 for a word in no text, near 0 for one in most texts; the same scale for every space."""
    total = max(texts, _SMALLEST_SPACE)
    most = math.log(1 + (total + 0.5) / 0.5)
    return math.log(1 + (total - min(count, total) + 0.5) / (count + 0.5)) / most


def discount(length: int, typical: float) -> float:
    """The weight of a shared word in a text of `length` words: less in a longer one."""
    longer = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / max(typical, 1.0)
    return (_SATURATION + 1) / (1 + _SATURATION * longer)


def shared_words(telling: Telling, holds: TextTerms) -> float:
    """The words of the query that a text contains, weighted."""
    stems = holds.stems
    return sum([weight for base, weight in telling.words.items() if base in stems])


def evidence(holds: TextTerms, telling: Telling, cosine: float) -> dict[str, float]:
    """The evidence for a memory with these words."""
    shared = shared_words(telling, holds)
    return {
        "meaning": MEANING * cosine,
        "words": WORD * shared * discount(holds.length, _TYPICAL_LENGTH) if shared else 0.0,
    }


def logistic(bias: float, weights: Sequence[float], evidence: Sequence[float]) -> float:
    """The probability of a logistic regression."""
    return 1 / (1 + math.exp(-bias - sum(map(mul, weights, evidence))))


def log_odds(probability: float) -> float:
    """The logarithm of the odds of a probability, cut off at 0.001 and 0.999."""
    probability = min(max(probability, 0.001), 0.999)
    return math.log(probability / (1 - probability))


def odds(probability: float) -> float:
    """The logarithm of the odds, within bounds."""
    bounded_odds = math.log(max(probability, 1e-9) / max(1 - probability, 1e-9))
    return min(max(bounded_odds, -MAX_ODDS), MAX_ODDS)


def floor_of(read: Sequence[tuple[float, float]], words: float = 0.0, among: int = _SMALL_STORE) -> float:
    """The minimum relevance of an answer, from the cosine and the odds of each candidate.

    One certain candidate is enough, or several likely ones; a prompt that no memory is about has neither.
    `words` is the largest share of the query's words in one candidate, `among` the number of memories that
    the candidates were selected from.
    """
    told = [_SHARPNESS * (_PROMPT_MEANING * cosine + _PROMPT_HELPS * each) for cosine, each in read]
    if not told:
        return _NO_ANSWER
    # With fewer candidates than usual their number means less.
    fewer = math.log(READ / len(told)) / 2
    together = (math.log(sum(map(math.exp, told))) + fewer) / _SHARPNESS
    least = _ANSWERED_FROM + _BY_CHANCE * math.log(max(among, 1) / _SMALL_STORE)
    return ANSWER if together > least or words >= _WORDED else _NO_ANSWER


def share(telling: Telling, holds: TextTerms, typical: float = _TYPICAL_LENGTH) -> float:
    """Without meaning: the share of the query's words in a text, from 0 to 1."""
    total = sum(telling.words.values())
    if not total:
        return 0.0
    return shared_words(telling, holds) * min(discount(holds.length, typical), 1.0) / total


def on_the_scale_of_meaning(share: float) -> float:
    """The share of a text without a vector, next to others with one: enough stays enough."""
    return share * FLOOR / SHARE


def floor(*, by_meaning: bool) -> float:
    """The least relevance that counts as an answer."""
    return FLOOR if by_meaning else SHARE


def bounded(evidence: float, *, by_meaning: bool) -> float:
    """The relevance, from 0 to 1, of the sum of all evidence. Without meaning it is a share already."""
    if not by_meaning:
        return min(evidence, 1.0)
    if evidence < _LOW:
        return _LOW * math.exp((evidence - _LOW) / _LOW)
    room = 1 - _PLAIN
    return evidence if evidence <= _PLAIN else 1 - room * math.exp((_PLAIN - evidence) / room)


def recency(memory: Memory, now: datetime) -> float:
    """1.0 for a week, then falling in a straight line to 0.5 at ninety days."""
    age = now - memory.updated_at
    if age <= FRESH:
        return 1.0
    return max(0.5, 1.0 - 0.5 * ((age - FRESH) / (STALE - FRESH)))


def factors(memory: Memory, relevance: float, policy: Policy, now: datetime) -> dict[str, float]:
    """All factors of a memory's score that the profile weighs."""
    found = {"relevance": round(relevance, 4), "recency": round(recency(memory, now), 4)}
    if policy.weighs_importance:
        found["importance"] = round(memory.importance / 3, 4)
    if policy.weighs_confidence:
        found["confidence"] = memory.confidence
    return found


def score(parts: Mapping[str, float]) -> float:
    return round(math.prod(parts.values()), 4)


def listing_order(hit: Hit) -> tuple[float, bool, datetime, str]:
    """The sort key: best first."""
    if isinstance(hit, MemoryHit):
        return -hit.score, False, hit.memory.created_at, hit.memory.id
    message = hit.message
    return -hit.score, True, message.said_at, message.id


def receipt_items(hits: Sequence[Hit]) -> tuple[ReceiptItem, ...]:
    """The hits as a receipt records them."""
    return tuple(
        ReceiptItem(memory=hit.memory.id, version=hit.memory.version, score=hit.score, parts=dict(hit.parts))
        if isinstance(hit, MemoryHit)
        else ReceiptItem(message=hit.message.id, score=hit.score, parts=dict(hit.parts))
        for hit in hits
    )
