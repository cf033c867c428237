"""Searches memories by meaning and by words, and computes the evidence for each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nlargest

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, admits
from holdfast.domain.ranking import (
    HELPS,
    READ,
    Telling,
    evidence,
    floor,
    floor_of,
    odds,
    on_the_scale_of_meaning,
    said,
    share,
)
from holdfast.domain.reading_plan import ReadingPlan, Unread
from holdfast.domain.terms import TextTerms, held
from holdfast.engine.embedding import text_of
from holdfast.engine.find import believed_at
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery

CANDIDATES = 50  # by meaning and by words each: of 300 to 800 memories the best 20 are the same as with 100
WIDER = 8  # times as many, if too few match
FEW = 2_000  # matches that are ranked one by one
PAST = 100  # past versions that are embedded for one query


@dataclass(slots=True)
class FoundMemory:
    """A candidate with its evidence."""

    memory: Memory
    relevance: float
    evidence: Mapping[str, float]
    floor: float  # the least relevance that counts as an answer

    @property
    def by_meaning(self) -> bool:
        return "meaning" in self.evidence

    def answers(self, weight: float = 1.0) -> bool:
        return weight * self.relevance >= self.floor


@dataclass(slots=True)
class MemoryCandidates:
    """The nearest memories, before their rows are read."""

    telling: Telling
    total: int  # memories of the space
    wordings: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)  # of other projects, otherwise matching
    cosines: Mapping[str, float] | None = None  # of those with a vector; None without an embedder

    def count_elsewhere(self, threshold: float | None) -> int:
        """How many memories of other projects are relevant, too."""
        holds = {owner: held(text) for owner, text in self.elsewhere.items()}
        weighed = _weighed(holds, self.cosines, self.telling)
        least = floor(by_meaning=self.cosines is not None) if threshold is None else threshold
        return sum(sum(parts.values()) >= least for parts in weighed.values())


def search(asked: PreparedQuery, where: Filter, tx: Transaction, enough: int) -> list[FoundMemory]:
    """The most relevant memories that match `where`, at least `enough` if there are as many candidates."""
    return best_of(candidates(asked, where, tx, enough), asked, tx, enough)


def best_of(near: MemoryCandidates, asked: PreparedQuery, tx: Transaction, enough: int) -> list[FoundMemory]:
    """The `enough` most relevant candidates."""
    holds = {owner: held(text) for owner, text in near.wordings.items()}
    weighed = _weighed(holds, near.cosines, near.telling)
    best = nlargest(enough, weighed, key=lambda owner: sum(weighed[owner].values()))
    # Rows are read only now: words and cosines suffice for most candidates.
    memories = {memory.id: memory for memory in tx.memories.many(best)}
    found = _found({owner: weighed[owner] for owner in best}, memories, near.cosines)
    return _read(asked, found, near.cosines, near.telling, near.total)


def search_past(asked: PreparedQuery, where: Filter, moment: datetime, tx: Transaction) -> list[FoundMemory]:
    """As `search`, among the memories as they were at a past moment."""
    past = {memory.id: memory for memory in believed_at(moment, tx) if admits(where, memory)}
    holds = {owner: held(said(memory)) for owner, memory in past.items()}
    terms = asked.question.terms
    counts = {term: sum(term in each.stems for each in holds.values()) for term in terms}
    telling = Telling.of(terms, counts, len(past))
    cosines = _past_cosines(asked, past, tx)
    weighed = _weighed(holds, cosines, telling)
    found = sorted(_found(weighed, past, cosines), key=lambda each: -each.relevance)
    return _read(asked, found, cosines, telling, len(past))


def _read(
    asked: PreparedQuery,
    found: list[FoundMemory],
    cosines: Mapping[str, float] | None,
    telling: Telling,
    among: int,
) -> list[FoundMemory]:
    """The candidates with the estimates of the built-in model for the best of them, if it is available."""
    if cosines is None or asked.builtin_model is None or not found:
        return found
    best = found[:READ]
    near = [cosines.get(each.memory.id, 0.0) for each in best]
    words = max(share(telling, held(said(each.memory))) for each in best)
    known = [
        Unread(each.relevance, cosine, each.evidence["words"])
        for each, cosine in zip(best, near, strict=True)
    ]
    plan = ReadingPlan(known, lambda told: floor_of(list(zip(near, told, strict=True)), words, among))
    while (place := plan.next()) is not None:
        helpful = asked.read([statement(best[place].memory)])
        if helpful is None:
            return found
        plan.read(place, odds(helpful[0]))
    least, weakest = plan.floor, min(plan.odds)  # what was not considered is not better than the worst
    for place, each in enumerate(found):
        helps = HELPS * (plan.odds[place] if place < READ else weakest)
        each.evidence = {**each.evidence, "helps": helps}
        each.relevance += helps
        each.floor = least
    return sorted(found, key=lambda each: -each.relevance)


def statement(memory: Memory) -> str:
    """The text of a memory that the built-in model reads."""
    return f"{memory.subject}. {memory.content}" if memory.subject else memory.content


def _past_cosines(
    asked: PreparedQuery, past: Mapping[str, Memory], tx: Transaction
) -> dict[str, float] | None:
    """Cosines of past memories: from stored vectors if unchanged, else from vectors made for the latest."""
    as_now = {one.id for one in tx.memories.many(list(past)) if text_of(one) == text_of(past[one.id])}
    found = _cosines(asked, tx, 0, as_now)
    if found is None:
        return None
    others = [memory for owner, memory in past.items() if owner not in found]
    latest = nlargest(PAST, others, key=lambda memory: memory.updated_at)
    made = asked.cosines_of([text_of(memory) for memory in latest]) if latest else []
    return found | {memory.id: cosine for memory, cosine in zip(latest, made or [], strict=False)}


def candidates(asked: PreparedQuery, where: Filter, tx: Transaction, enough: int) -> MemoryCandidates:
    """Candidates by meaning and by words.

    If `where` excludes most of them, all that it matches are ranked if they are few, and else more are taken.
    So a filter hides no other hit.
    """
    terms = asked.question.terms
    counts = tx.words.frequencies(terms)
    words = [term for term in terms if counts[term]]
    total = tx.words.total()
    found = MemoryCandidates(Telling.of(terms, counts, total), total)
    seen: set[str] = set()
    size = CANDIDATES
    while True:
        by_words = dict.fromkeys(tx.words.matching(words, size))
        found.cosines = _cosines(asked, tx, size, by_words)
        near = [one for one in dict.fromkeys([*by_words, *(found.cosines or ())]) if one not in seen]
        _sort(near, where, found, tx)
        seen.update(near)
        all_seen = len(by_words) < size and (found.cosines is None or len(found.cosines) < size)
        if len(found.wordings) >= enough or all_seen:
            return found
        if len(found.wordings) * total <= len(seen) * FEW:  # by what was seen, few are admitted
            few = tx.memories.wordings(where, limit=FEW + 1)
            if len(few) <= FEW:
                found.wordings = {owner: each.text for owner, each in few.items()}
                found.cosines = _cosines(asked, tx, 0, [*few, *found.elsewhere])
                return found
        size *= WIDER


def _sort(near: Sequence[str], where: Filter, found: MemoryCandidates, tx: Transaction) -> None:
    """Adds the matches of `where`, and those that only their project excludes."""
    anywhere = where if where.other_projects else replace(where, project=None, other_projects=True)
    for owner, (text, project) in tx.memories.wordings(anywhere, among=near).items():
        here = where.other_projects or project in (None, where.project)
        (found.wordings if here else found.elsewhere)[owner] = text


def _cosines(
    asked: PreparedQuery, tx: Transaction, limit: int, also: Collection[str]
) -> dict[str, float] | None:
    found = asked.cosines(tx.memory_vectors, limit, also, forms=1)
    return None if found is None else {owner: cosine for owner, (cosine,) in found.items()}


def _weighed(
    holds: Mapping[str, TextTerms], cosines: Mapping[str, float] | None, telling: Telling
) -> dict[str, Mapping[str, float]]:
    """The evidence for each candidate that has any; no row has been read yet."""
    found: dict[str, Mapping[str, float]] = {}
    for owner, held_by_it in holds.items():
        cosine = cosines.get(owner) if cosines is not None else None
        if cosine is not None:
            parts = evidence(held_by_it, telling, cosine)
        elif cosines is not None:  # not embedded yet
            parts = {"words": on_the_scale_of_meaning(share(telling, held_by_it))}
        else:
            parts = {"words": share(telling, held_by_it)}
        if sum(parts.values()) > 0:
            found[owner] = parts
    return found


def _found(
    weighed: Mapping[str, Mapping[str, float]],
    memories: Mapping[str, Memory],
    cosines: Mapping[str, float] | None,
) -> list[FoundMemory]:
    """The candidates with their rows, in their order."""
    least = floor(by_meaning=cosines is not None)
    return [
        FoundMemory(memories[owner], sum(parts.values()), parts, least) for owner, parts in weighed.items()
    ]
