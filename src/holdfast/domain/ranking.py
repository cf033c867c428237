"""How well a memory answers a question: meaning, words and ideas, then importance, recency and confidence.

Pure: cosines, counts and moments are passed in. The weights of the three evidences are in units of one
cosine, so that their sum can be held against one floor.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory
from holdfast.domain.profile import Policy
from holdfast.domain.terms import Held, Term, held
from holdfast.domain.words import words

MEANING = 1.15  # the cosine of question and memory
WORD = 0.17  # a shared word as rare as can be
IDEA = 0.20  # the same idea in another word

# BM25 with a word's presence instead of its count: in short texts counts add nothing.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.3
_TYPICAL_LENGTH = 12  # words of a memory
_SMALLEST_SPACE = 50  # memories; in fewer every word looks rare

#: Relevance under which nothing is answered, and what a question about the world at large must have more.
FLOOR = 0.37
GENERAL = 0.30
#: Without meaning: the share of a question, weighed by how rare its words are, that a memory has to hold.
SHARE = 0.25

FRESH = timedelta(days=7)
STALE = timedelta(days=90)

_QUESTION_WORDS = frozenset(
    "what when where which who whom whose why how is are was were do does did can could will would".split()
)
_CHORES = frozenset(
    "tell sort convert translate summarise summarize explain define calculate spell count".split()
)
_POINTING = frozenset(
    "i me my mine we us our ours you your here this that today tonight tomorrow now again".split()
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that recall found, its score and the parts of the score."""

    memory: Memory
    score: float
    parts: Mapping[str, float]  # the factors that make the score
    evidence: Mapping[str, float]  # what makes the relevance
    matched: str = "text"  # by "meaning", or by "text" alone


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for, and how rare each of its stems and ideas is in the space, from 0 to 1."""

    terms: Sequence[Term]
    rarity: Mapping[str, float]
    idea_rarity: Mapping[int, float]
    general: bool


def said(memory: Memory) -> str:
    """All that a memory can be found by."""
    parts = (memory.subject or "", memory.summary or "", memory.content, " ".join(memory.tags))
    return " ".join(part for part in parts if part)


def relevance(memory: Memory, question: Asked, cosine: float | None) -> tuple[float, dict[str, float]]:
    """How much of the question the memory answers, with the evidence apart.

    Without a cosine it is the share of the question's words that the memory holds, from 0 to 1.
    """
    holds = held(said(memory))
    longer = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * holds.length / _TYPICAL_LENGTH
    discount = (_SATURATION + 1) / (1 + _SATURATION * longer)
    shared = _shared_words(question, holds)
    if cosine is None:
        total = sum(question.rarity[base] for term in question.terms for base in term.stems)
        share = shared * min(discount, 1.0) / total if total else 0.0
        return share, {"words": round(share, 4)}
    parts = {
        "meaning": MEANING * cosine,
        "words": WORD * shared * discount,
        "ideas": IDEA * _shared_ideas(question, holds),
    }
    return sum(parts.values()), {name: round(part, 4) for name, part in parts.items()}


def rarity(count: int, memories: int) -> float:
    """1 for a word that nothing holds, near 0 for one that most memories hold; one scale for every space."""
    total = max(memories, _SMALLEST_SPACE)
    most = math.log(1 + (total + 0.5) / 0.5)
    return math.log(1 + (total - min(count, total) + 0.5) / (count + 0.5)) / most


def floor_for(question: Asked, *, by_meaning: bool) -> float:
    """The least relevance that counts as an answer."""
    if not by_meaning:
        return SHARE
    return FLOOR + GENERAL * question.general


def on_the_scale_of_meaning(share: float) -> float:
    """The share of a memory that has no vector yet, beside others that have: enough stays enough."""
    return share * FLOOR / SHARE


def is_general(text: str) -> bool:
    """Whether this is a question or a chore in which no word points at the asker's own world."""
    first = words(text)[:1]
    asks = bool(first) and (first[0] in _QUESTION_WORDS or first[0] in _CHORES)
    return asks and _POINTING.isdisjoint(words(text))


def recency(memory: Memory, now: datetime) -> float:
    """1.0 for a week, then falling in a straight line to 0.5 at ninety days."""
    age = now - memory.updated_at
    if age <= FRESH:
        return 1.0
    return max(0.5, 1.0 - 0.5 * ((age - FRESH) / (STALE - FRESH)))


def scored(
    memory: Memory, relevant: float, policy: Policy, now: datetime, evidence: Mapping[str, float]
) -> Hit:
    """The hit with every factor that the profile weighs, and the evidence for its relevance."""
    factors = {"relevance": round(relevant, 4), "recency": round(recency(memory, now), 4)}
    if policy.weighs_importance:
        factors["importance"] = round(memory.importance / 3, 4)
    if policy.weighs_confidence:
        factors["confidence"] = memory.confidence
    matched = "meaning" if "meaning" in evidence else "text"
    return Hit(memory, round(math.prod(factors.values()), 4), factors, evidence, matched)


def _shared_words(question: Asked, holds: Held) -> float:
    return sum(question.rarity[base] for term in question.terms for base in term.stems if base in holds.stems)


def _shared_ideas(question: Asked, holds: Held) -> float:
    """Ideas that the memory has in other words, each term once."""
    found = 0.0
    for term in question.terms:
        if holds.stems.isdisjoint(term.stems):
            found += max((question.idea_rarity[idea] for idea in term.ideas & holds.ideas), default=0.0)
    return found
