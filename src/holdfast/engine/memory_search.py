"""The memories that may answer a question, and what speaks for each: by meaning and by words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, admits
from holdfast.domain.ranking import (
    Telling,
    covers,
    evidence,
    floor,
    on_the_scale_of_meaning,
    said,
    share,
)
from holdfast.domain.terms import Held, held, kindred
from holdfast.engine.asking import Asked
from holdfast.engine.find import believed_at
from holdfast.engine.ports import Transaction

CANDIDATES = 100  # by meaning, by words, and by ideas each
KINDRED = 8  # other words that each term is looked up by
WIDER = 4  # times as many, when too few of them are admitted
FEW = 2_000  # admitted ones that are looked at one by one


@dataclass(slots=True)
class FoundMemory:
    """A candidate."""

    memory: Memory
    relevance: float
    evidence: Mapping[str, float]
    floor: float  # the least relevance that counts as an answer

    @property
    def by_meaning(self) -> bool:
        return "meaning" in self.evidence

    def answers(self, weight: float = 1.0) -> bool:
        return weight * self.relevance >= self.floor


def search(asked: Asked, where: Filter, tx: Transaction, enough: int) -> list[FoundMemory]:
    """The candidates that `where` admits, at least `enough` if there are as many."""
    question = asked.question
    bases = list(dict.fromkeys(base for term in question.terms for base in term.stems))
    counts = tx.words.frequencies(bases)
    known = [base for base in bases if counts[base]]
    ideas = kindred(question.terms, KINDRED) if asked.meaning is not None else []
    memories, cosines = _candidates(asked, known, ideas, where, tx, enough)
    holds = [held(said(memory)) for memory in memories]
    telling = Telling.of(question.terms, counts, tx.words.total(), holds)
    return _weighed(memories, holds, cosines, telling, general=question.general)


def search_past(asked: Asked, where: Filter, moment: datetime, tx: Transaction) -> list[FoundMemory]:
    """The same among what was believed at a past moment, by words: vectors are those of present wordings."""
    past = [memory for memory in believed_at(moment, tx) if admits(where, memory)]
    holds = [held(said(memory)) for memory in past]
    terms = asked.question.terms
    counts = {base: sum(base in each.stems for each in holds) for term in terms for base in term.stems}
    return _weighed(past, holds, None, Telling.of(terms, counts, len(past), holds), general=False)


def _candidates(
    asked: Asked, words: Sequence[str], ideas: Sequence[str], where: Filter, tx: Transaction, enough: int
) -> tuple[list[Memory], dict[str, float] | None]:
    """Memories from all sides, with the cosines of those that have a vector; none without meaning.

    Where the first candidates are mostly not admitted, all that are admitted are looked at if they are few;
    else more candidates are taken, so that a filter hides nothing but what it should.
    """
    found: dict[str, Memory] = {}
    seen: set[str] = set()
    size = CANDIDATES
    while True:
        by_words = dict.fromkeys([*tx.words.matching(words, size), *tx.words.matching(ideas, size)])
        cosines = _cosines(asked, tx, size, by_words.keys())
        fresh = [one for one in by_words | dict.fromkeys(cosines or ()) if one not in seen]
        seen.update(fresh)
        found |= {memory.id: memory for memory in tx.memories.many(fresh) if admits(where, memory)}
        all_seen = len(by_words) < size and (cosines is None or len(cosines) < size)
        if len(found) >= enough or all_seen:
            return list(found.values()), cosines
        if size == CANDIDATES:
            few = tx.memories.find(where, limit=FEW + 1)
            if len(few) <= FEW:
                return few, _cosines(asked, tx, 0, [memory.id for memory in few])
        size *= WIDER


def _cosines(asked: Asked, tx: Transaction, limit: int, also: Collection[str]) -> dict[str, float] | None:
    found = asked.cosines(tx.memory_vectors, limit, also, forms=1)
    return None if found is None else {owner: cosine for owner, (cosine,) in found.items()}


def _weighed(
    memories: Sequence[Memory],
    held_by_each: Sequence[Held],
    cosines: Mapping[str, float] | None,
    telling: Telling,
    *,
    general: bool,
) -> list[FoundMemory]:
    found = []
    for memory, holds in zip(memories, held_by_each, strict=True):
        cosine = cosines.get(memory.id) if cosines is not None else None
        if cosine is not None:
            parts = evidence(holds, telling, cosine)
        elif cosines is not None:  # not embedded yet, beside others that are
            parts = {"words": on_the_scale_of_meaning(share(telling, holds))}
        else:
            parts = {"words": share(telling, holds)}
        relevance = sum(parts.values())
        if relevance > 0:
            least = floor(by_meaning=cosines is not None, general=general and not covers(telling, holds))
            found.append(FoundMemory(memory, relevance, parts, least))
    return found
