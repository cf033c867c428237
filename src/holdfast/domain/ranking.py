"""How well a memory answers a question, by its words; and what else weighs in.

Pure: counts and moments are passed in. Search by meaning joins here as another part of the score.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory
from holdfast.domain.profile import Policy
from holdfast.domain.words import words

# The usual constants of BM25: how soon repetition stops counting, and how much long texts are held back.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75
_TYPICAL_LENGTH = 12  # words of a memory

_SMALLEST_SPACE = 50

FRESH = timedelta(days=7)
STALE = timedelta(days=90)

#: Words that stand in most questions and tell nothing about what is asked.
STOP_WORDS = frozenset(
    (
        "a about an and any are as at be been but by can could did do does for from had has have how i if in "
        "into is it its me my no not of on or our should so than that the their them then there these they "
        "this those to us was we were what when where which who whom whose why will with would you your"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that recall found, its score and the parts of the score."""

    memory: Memory
    score: float
    parts: Mapping[str, float]
    matched: str = "text"


def asked_words(query: str) -> list[str]:
    """The words of a question that can find something; all of them when none else is left."""
    found = list(dict.fromkeys(words(query)))
    telling = [word for word in found if word not in STOP_WORDS]
    return telling or found


def relevance(memory: Memory, asked: Sequence[str], rarity: Mapping[str, float]) -> float:
    """From 0 to 1: the share of the question, weighed by how rare its words are, that the memory holds."""
    parts = (memory.subject or "", memory.summary or "", memory.content, " ".join(memory.tags))
    held = words(" ".join(parts))
    longer = _LENGTH_WEIGHT * len(held) / _TYPICAL_LENGTH + 1 - _LENGTH_WEIGHT
    found = 0.0
    for word in asked:
        count = held.count(word)
        found += rarity[word] * min(count * (_SATURATION + 1) / (count + _SATURATION * longer), 1.0)
    total = sum(rarity[word] for word in asked)
    return found / total if total else 0.0


def rarity_of(counts: Mapping[str, int], memories: int) -> dict[str, float]:
    """What each word is worth: more the fewer memories hold it."""
    # In a handful of memories every word looks common or unheard of; reckon as if there were a few more.
    total = max(memories, _SMALLEST_SPACE)
    return {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def recency(memory: Memory, now: datetime) -> float:
    """1.0 for a week, then falling in a straight line to 0.5 at ninety days."""
    age = now - memory.updated_at
    if age <= FRESH:
        return 1.0
    return max(0.5, 1.0 - 0.5 * ((age - FRESH) / (STALE - FRESH)))


def scored(memory: Memory, relevant: float, policy: Policy, now: datetime) -> Hit:
    """The hit with every factor that the profile weighs."""
    parts = {"relevance": round(relevant, 4), "recency": round(recency(memory, now), 4)}
    if policy.weighs_importance:
        parts["importance"] = round(memory.importance / 3, 4)
    if policy.weighs_confidence:
        parts["confidence"] = memory.confidence
    return Hit(memory, round(math.prod(parts.values()), 4), parts)
