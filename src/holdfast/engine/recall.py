"""recall: the memories that answer a question, by meaning and by words; nothing, when nothing does."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.history import Receipt, ReceiptItem
from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter, admits
from holdfast.domain.ranking import (
    Asked,
    Hit,
    floor_for,
    is_general,
    on_the_scale_of_meaning,
    rarity,
    relevance,
    said,
    scored,
)
from holdfast.domain.terms import Term, asked, held
from holdfast.domain.text import clean
from holdfast.engine.desk import Desk
from holdfast.engine.embedding import embed_missing, query_vector
from holdfast.engine.find import believed_at
from holdfast.engine.intake import safe
from holdfast.engine.ports import Transaction
from holdfast.engine.sessions import known_session, project_of
from holdfast.errors import Invalid, Unavailable

BY_WORDS = 200  # candidates from either side
BY_MEANING = 200
EMBEDDED_FIRST = 2_000  # memories without a vector that a question waits for; the rest follow with `tend`
_NO_TEXT = "0" * 64
_MOST_QUERY = 10_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found, best first, and how many fell just below the threshold."""

    hits: tuple[Hit, ...]
    below: int
    matched: str = "text"  # "meaning", when meaning could be searched; else "text"


@dataclass(frozen=True, slots=True)
class _Candidates:
    memories: Sequence[Memory]
    question: Asked
    cosines: Mapping[str, float] | None


def recall(
    query: str,
    *,
    desk: Desk,
    where: Filter | None = None,
    project: str | None = None,
    limit: int = 5,
    threshold: float | None = None,
    as_of: datetime | None = None,
    session: str | None = None,
) -> Recall:
    """The memories that answer `query`; nothing, when nothing does.

    Of the project (the session's, when none is named) and of none, unless `where` says otherwise.
    `threshold` takes the place of the calibrated floor. Counts an access of each hit and, in a session,
    leaves a receipt.
    Raises: Invalid.
    """
    if not clean(query).strip():
        raise Invalid("the question is empty: say what to look for", field="query")
    if limit < 1:
        raise Invalid(f"limit {limit} is too low: give 1 or more", field="limit")
    query = safe(query[:_MOST_QUERY])
    # A past moment is searched by words: vectors are those of present wordings.
    vector = _meaning(query, desk) if as_of is None else None
    with desk.store.read(desk.space) as tx:
        where = where or Filter(project=project or project_of(session, tx), other_projects=False)
        found = _past(query, where, as_of, tx) if as_of else _candidates(query, where, vector, tx, desk)
    hits = _ranked(found, desk, as_of or desk.now())
    floor = (
        floor_for(found.question, by_meaning=found.cosines is not None) if threshold is None else threshold
    )
    above = [hit for hit in hits if hit.parts["relevance"] >= floor]
    answer = Recall(
        tuple(above[:limit]), len(hits) - len(above), "text" if found.cosines is None else "meaning"
    )
    if as_of is None and answer.hits:
        _note(query, answer, session, desk)
    return answer


def _meaning(query: str, desk: Desk) -> bytes | None:
    """The question's vector, once what was written lately has its vectors too."""
    try:
        embed_missing(desk, limit=EMBEDDED_FIRST)
    except Unavailable as trouble:
        _log.warning("search by meaning is not complete: %s", trouble)
    return query_vector(desk, query)


def _candidates(query: str, where: Filter, vector: bytes | None, tx: Transaction, desk: Desk) -> _Candidates:
    wanted = asked(query)
    bases = list(dict.fromkeys(base for term in wanted for base in term.stems))
    counts = tx.words.frequencies(bases)
    rare_first = sorted((base for base in bases if counts[base]), key=lambda base: (counts[base], base))
    ids = dict.fromkeys(tx.words.matching(rare_first, BY_WORDS))
    cosines = None
    if vector is not None and desk.embedder is not None:
        try:
            cosines = tx.vectors.nearest(vector, desk.embedder.name, BY_MEANING, also=ids.keys())
            ids |= dict.fromkeys(cosines)
        except Unavailable as trouble:
            _log.warning("search by meaning is not available: %s", trouble)
    memories = [
        memory for memory in map(tx.memories.get, ids) if memory is not None and admits(where, memory)
    ]
    total = tx.memories.count(Filter())
    return _Candidates(memories, _asked(query, wanted, counts, memories, total), cosines)


def _past(query: str, where: Filter, as_of: datetime, tx: Transaction) -> _Candidates:
    past = [memory for memory in believed_at(as_of, tx) if admits(where, memory)]
    wanted = asked(query)
    holds = [held(said(memory)) for memory in past]
    counts = {base: sum(base in each.stems for each in holds) for term in wanted for base in term.stems}
    return _Candidates(past, _asked(query, wanted, counts, past, len(past)), None)


def _asked(
    query: str, terms: Sequence[Term], counts: Mapping[str, int], found: Sequence[Memory], total: int
) -> Asked:
    # Ideas are not indexed; how many of the candidates have one tells well enough how much it says.
    asked_for = {idea for term in terms for idea in term.ideas}
    having = Counter(idea for memory in found for idea in held(said(memory)).ideas & asked_for)
    return Asked(
        terms,
        {base: rarity(count, total) for base, count in counts.items()},
        {idea: rarity(having[idea], total) for idea in asked_for},
        is_general(query),
    )


def _ranked(found: _Candidates, desk: Desk, now: datetime) -> list[Hit]:
    hits = []
    for memory in found.memories:
        cosine = None if found.cosines is None else found.cosines.get(memory.id)
        relevant, evidence = relevance(memory, found.question, cosine)
        if cosine is None and found.cosines is not None:
            relevant = on_the_scale_of_meaning(relevant)
        if relevant > 0:
            hits.append(scored(memory, relevant, desk.profile.policy, now, evidence))
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.created_at, hit.memory.id))


def _note(query: str, found: Recall, session: str | None, desk: Desk) -> None:
    now = desk.now()
    with desk.store.write(desk.space) as tx:
        tx.memories.touch([hit.memory.id for hit in found.hits], now)
        if session is None:
            return
        known_session(tx, Source(session=session), now)
        tx.receipts.add(
            Receipt(
                id=desk.new_id(),
                kind="recall",
                session=session,
                query=query,
                text=None,
                sha256=_NO_TEXT,
                tokens=0,
                left_out=found.below,
                created_at=now,
                items=receipt_items(found.hits),
            )
        )


def receipt_items(hits: Sequence[Hit]) -> tuple[ReceiptItem, ...]:
    """What a receipt keeps of hits."""
    return tuple(
        ReceiptItem(memory=hit.memory.id, version=hit.memory.version, score=hit.score, parts=dict(hit.parts))
        for hit in hits
    )
