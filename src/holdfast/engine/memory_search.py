"""The memories that may answer a question, and what speaks for each: by meaning and by words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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
from holdfast.domain.terms import TextTerms, held
from holdfast.engine.embedding import text_of
from holdfast.engine.find import believed_at
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery

CANDIDATES = 100  # by meaning and by words each
WIDER = 4  # times as many, when too few of them are admitted
FEW = 2_000  # admitted ones that are looked at one by one
PAST = 100  # wordings of the past that get a vector for one question


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


def search(asked: PreparedQuery, where: Filter, tx: Transaction, enough: int) -> list[FoundMemory]:
    """The most relevant that `where` admits: `enough` of them, if there are as many candidates."""
    question = asked.question
    counts = tx.words.frequencies(question.terms)
    known = [term for term in question.terms if counts[term]]
    wordings, cosines = _candidates(asked, known, where, tx, enough)
    holds = {owner: held(text) for owner, text in wordings.items()}
    total = tx.words.total()
    telling = Telling.of(question.terms, counts, total)
    weighed = _weighed(holds, cosines, telling)
    best = nlargest(enough, weighed, key=lambda owner: sum(weighed[owner].values()))
    # Only now are rows read in full: most candidates are told apart by their words and cosines alone.
    memories = {memory.id: memory for memory in tx.memories.many(best)}
    found = _found({owner: weighed[owner] for owner in best}, memories, cosines)
    return _read(asked, found, cosines, telling, total)


def count_elsewhere(asked: PreparedQuery, where: Filter, tx: Transaction, threshold: float | None) -> int:
    """How many memories of other projects answer as well: of the nearest candidates, without reading them."""
    terms = asked.question.terms
    counts = tx.words.frequencies(terms)
    by_words = tx.words.matching([term for term in terms if counts[term]], CANDIDATES)
    cosines = _cosines(asked, tx, CANDIDATES, by_words)
    near = list(dict.fromkeys([*by_words, *(cosines or ())]))
    wordings = tx.memories.wordings(replace(where, project=None, other_projects=True), among=near)
    outside = wordings.keys() - tx.memories.wordings(where, among=list(wordings)).keys()
    if not outside:
        return 0
    holds = {owner: held(text) for owner, text in wordings.items()}
    telling = Telling.of(terms, counts, tx.words.total())
    weighed = _weighed({one: holds[one] for one in outside}, cosines, telling)
    least = floor(by_meaning=cosines is not None) if threshold is None else threshold
    return sum(sum(parts.values()) >= least for parts in weighed.values())


def search_past(asked: PreparedQuery, where: Filter, moment: datetime, tx: Transaction) -> list[FoundMemory]:
    """The same among what was believed at a past moment."""
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
    """The candidates with what a reader says of the best of them, where meaning and a reader can be had."""
    if cosines is None or not found:
        return found
    helpful = asked.read([statement(each.memory) for each in found[:READ]])
    if helpful is None:
        return found
    told = [odds(probability) for probability in helpful]
    near = [cosines.get(each.memory.id, 0.0) for each in found[:READ]]
    words = max(share(telling, held(said(each.memory))) for each in found[:READ])
    least = floor_of(list(zip(near, told, strict=True)), words, among)
    weakest = min(told)  # what was not read is no better than the worst that was
    for place, each in enumerate(found):
        helps = HELPS * (told[place] if place < READ else weakest)
        each.evidence = {**each.evidence, "helps": helps}
        each.relevance += helps
        each.floor = least
    return sorted(found, key=lambda each: -each.relevance)


def statement(memory: Memory) -> str:
    """What a reader reads of a memory."""
    return f"{memory.subject}. {memory.content}" if memory.subject else memory.content


def _past_cosines(
    asked: PreparedQuery, past: Mapping[str, Memory], tx: Transaction
) -> dict[str, float] | None:
    """Of what is worded as it was then by its vectors; of the latest others by vectors made for it now."""
    as_now = {one.id for one in tx.memories.many(list(past)) if text_of(one) == text_of(past[one.id])}
    found = _cosines(asked, tx, 0, as_now)
    if found is None:
        return None
    others = [memory for owner, memory in past.items() if owner not in found]
    latest = nlargest(PAST, others, key=lambda memory: memory.updated_at)
    made = asked.cosines_of([text_of(memory) for memory in latest]) if latest else []
    return found | {memory.id: cosine for memory, cosine in zip(latest, made or [], strict=False)}


def _candidates(
    asked: PreparedQuery, words: Sequence[str], where: Filter, tx: Transaction, enough: int
) -> tuple[dict[str, str], dict[str, float] | None]:
    """Wordings from all sides, with the cosines of those that have a vector; none without meaning.

    Where most candidates are not admitted, more are taken; where those are not enough either, all that are
    admitted are looked at if they are few. So a filter hides nothing but what it should.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    size = CANDIDATES
    while True:
        by_words = dict.fromkeys(tx.words.matching(words, size))
        found |= tx.memories.wordings(where, among=[one for one in by_words if one not in seen])
        cosines = _cosines(asked, tx, size, found.keys())
        seen |= by_words.keys()
        if by_meaning := [one for one in cosines or () if one not in seen]:
            found |= tx.memories.wordings(where, among=by_meaning)
            seen.update(by_meaning)
        all_seen = len(by_words) < size and (cosines is None or len(cosines) < size)
        if len(found) >= enough or all_seen:
            return found, cosines
        if size > CANDIDATES:
            few = tx.memories.wordings(where, limit=FEW + 1)
            if len(few) <= FEW:
                return few, _cosines(asked, tx, 0, few.keys())
        size *= WIDER


def _cosines(
    asked: PreparedQuery, tx: Transaction, limit: int, also: Collection[str]
) -> dict[str, float] | None:
    found = asked.cosines(tx.memory_vectors, limit, also, forms=1)
    return None if found is None else {owner: cosine for owner, (cosine,) in found.items()}


def _weighed(
    holds: Mapping[str, TextTerms], cosines: Mapping[str, float] | None, telling: Telling
) -> dict[str, Mapping[str, float]]:
    """What speaks for each candidate that anything speaks for; no row was read for it yet."""
    found: dict[str, Mapping[str, float]] = {}
    for owner, held_by_it in holds.items():
        cosine = cosines.get(owner) if cosines is not None else None
        if cosine is not None:
            parts = evidence(held_by_it, telling, cosine)
        elif cosines is not None:  # not embedded yet, beside others that are
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
