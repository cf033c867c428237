"""How well a memory answers a question: meaning, words and ideas, then importance, recency and confidence.

Pure: cosines, counts and moments are passed in. All evidence is in units of one cosine, so that its sum can
be held against one floor. What speaks for a message besides stands in `message_ranking`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory, Message, Session
from holdfast.domain.profile import Policy
from holdfast.domain.terms import Held, Term

AS_SAID = 0.75  # the cosine with the question as the speaker would have put it
AS_ASKED = 0.40  # the cosine with the question as it stands
MEANING = AS_SAID + AS_ASKED  # where both are the same
WORD = 0.17  # a shared word as rare as can be
IDEA = 0.17  # the same idea in another word

# BM25 with a word's presence instead of its count: in short texts counts add nothing.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.3
_TYPICAL_LENGTH = 12  # words of a memory
_MOST_TERMS = 12  # of a question
_SMALLEST_SPACE = 50  # texts; in fewer every word looks rare

#: Relevance under which nothing is answered, and what a question about the world at large must have more.
FLOOR = 0.41
GENERAL = 0.30
#: Without meaning: the share of a question, weighed by how rare its words are, that a text has to hold.
SHARE = 0.25

#: Up to here relevance is the sum of what speaks for an answer; above it, the sum comes ever nearer to 1.
_PLAIN = 0.8

FRESH = timedelta(days=7)
STALE = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that recall found, its score and the parts of the score."""

    memory: Memory
    score: float
    parts: Mapping[str, float]  # the factors that make the score; "message": it stands where its message does
    evidence: Mapping[str, float]  # what makes the relevance
    matched: str = "text"  # by "meaning", or by "text" alone
    cites: Message | None = None  # what it was taken from


@dataclass(frozen=True, slots=True)
class MessageHit:
    """Something said that recall found."""

    message: Message
    session: Session | None
    score: float
    parts: Mapping[str, float]
    evidence: Mapping[str, float]
    matched: str = "text"


Hit = MemoryHit | MessageHit


@dataclass(frozen=True, slots=True)
class Telling:
    """The terms of a question, and how much each stem and idea tells in one set of texts, from 0 to 1."""

    terms: Sequence[Term]
    words: Mapping[str, float]  # by stem; one that stands in two terms counts twice
    ideas: Mapping[int, float]

    @classmethod
    def of(
        cls, terms: Sequence[Term], counts: Mapping[str, int], total: int, found: Iterable[Held]
    ) -> "Telling":
        """From how many of all texts hold each stem, and from what those that were found hold.

        Ideas are not indexed: how many of the candidates have one tells well enough how much it says.
        """
        # A long text shares something with everything: beyond a question's length each term counts less.
        weight = min(1.0, _MOST_TERMS / max(len(terms), 1))
        words: dict[str, float] = {}
        for base in (base for term in terms for base in term.stems):
            words[base] = words.get(base, 0.0) + weight * rarity(counts[base], total)
        wanted = frozenset(idea for term in terms for idea in term.ideas)
        having = Counter(idea for holds in found for idea in holds.ideas & wanted) if wanted else Counter()
        return cls(terms, words, {idea: weight * rarity(having[idea], total) for idea in wanted})


def said(memory: Memory) -> str:
    """All that a memory can be found by."""
    return findable(memory.subject, memory.summary, memory.content, memory.tags)


def findable(subject: str | None, summary: str | None, content: str, tags: Sequence[str]) -> str:
    """The same of a memory's parts."""
    return " ".join([part for part in (subject, summary, content, *tags) if part])


def rarity(count: int, texts: int) -> float:
    """1 for a word that nothing holds, near 0 for one that most texts hold; one scale for every space."""
    total = max(texts, _SMALLEST_SPACE)
    most = math.log(1 + (total + 0.5) / 0.5)
    return math.log(1 + (total - min(count, total) + 0.5) / (count + 0.5)) / most


def discount(length: int, typical: float) -> float:
    """What a shared word counts in a text of `length` words: less in a longer one."""
    longer = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / max(typical, 1.0)
    return (_SATURATION + 1) / (1 + _SATURATION * longer)


def shared_words(telling: Telling, holds: Held) -> float:
    """The words of the question that a text holds, weighed by how much they tell."""
    stems = holds.stems
    return sum([weight for base, weight in telling.words.items() if base in stems])


def shared_ideas(telling: Telling, holds: Held) -> float:
    """Ideas that a text has in other words, by term: the rarest in full, the next by half, and so on.

    Words that share several ideas are closer than words that share one.
    """
    ideas = telling.ideas
    if not ideas or holds.ideas.isdisjoint(ideas):
        return 0.0
    found = 0.0
    for term in telling.terms:
        if term.ideas and holds.stems.isdisjoint(term.stems):
            close = 0.0
            for told in sorted([ideas[idea] for idea in term.ideas & holds.ideas]):
                close = told + close / 2
            found += close
    return found


def evidence(holds: Held, telling: Telling, cosine: float) -> dict[str, float]:
    """What speaks for a memory that holds this."""
    shared = shared_words(telling, holds)
    return {
        "meaning": MEANING * cosine,
        "words": WORD * shared * discount(holds.length, _TYPICAL_LENGTH) if shared else 0.0,
        "ideas": IDEA * shared_ideas(telling, holds),
    }


def share(telling: Telling, holds: Held, typical: float = _TYPICAL_LENGTH) -> float:
    """Where meaning can't be had: the share of the question's words that a text holds, from 0 to 1."""
    total = sum(telling.words.values())
    if not total:
        return 0.0
    return shared_words(telling, holds) * min(discount(holds.length, typical), 1.0) / total


def on_the_scale_of_meaning(share: float) -> float:
    """The share of a text that has no vector yet, beside others that have: enough stays enough."""
    return share * FLOOR / SHARE


def covers(telling: Telling, holds: Held) -> bool:
    """Whether a text has each of the question's terms, by word or by idea.

    Such a question is not about the world at large: that would name something that nobody here spoke of.
    """
    return all(
        not holds.stems.isdisjoint(term.stems) or not holds.ideas.isdisjoint(term.ideas)
        for term in telling.terms
    )


def floor(*, by_meaning: bool, general: bool) -> float:
    """The least relevance that counts as an answer."""
    return FLOOR + GENERAL * general if by_meaning else SHARE


def bounded(evidence: float, *, by_meaning: bool) -> float:
    """The relevance, from 0 to 1, that the sum of all evidence comes to; more evidence is always more.

    Without meaning it is a share, which is bounded as it is.
    """
    if not by_meaning:
        return min(evidence, 1.0)
    room = 1 - _PLAIN
    return evidence if evidence <= _PLAIN else 1 - room * math.exp((_PLAIN - evidence) / room)


def recency(memory: Memory, now: datetime) -> float:
    """1.0 for a week, then falling in a straight line to 0.5 at ninety days."""
    age = now - memory.updated_at
    if age <= FRESH:
        return 1.0
    return max(0.5, 1.0 - 0.5 * ((age - FRESH) / (STALE - FRESH)))


def factors(memory: Memory, relevance: float, policy: Policy, now: datetime) -> dict[str, float]:
    """Every factor of a memory's score that the profile weighs."""
    found = {"relevance": round(relevance, 4), "recency": round(recency(memory, now), 4)}
    if policy.weighs_importance:
        found["importance"] = round(memory.importance / 3, 4)
    if policy.weighs_confidence:
        found["confidence"] = memory.confidence
    return found


def score(parts: Mapping[str, float]) -> float:
    return round(math.prod(parts.values()), 4)
