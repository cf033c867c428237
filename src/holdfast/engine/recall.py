"""recall: the memories that answer a question. By words for now; each hit says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.history import Receipt, ReceiptItem
from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter, admits
from holdfast.domain.ranking import Hit, asked_words, rarity_of, relevance, scored
from holdfast.domain.text import clean
from holdfast.engine.desk import Desk
from holdfast.engine.find import believed_at
from holdfast.engine.intake import safe
from holdfast.engine.ports import Transaction
from holdfast.engine.sessions import known_session, project_of
from holdfast.errors import Invalid

CANDIDATES = 400
THRESHOLD = 0.25  # of a question's weight that a memory has to hold to count as an answer
_NO_TEXT = "0" * 64
_MOST_QUERY = 10_000


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found, best first, and how many fell just below the threshold."""

    hits: tuple[Hit, ...]
    below: int
    matched: str = "text"


def recall(
    query: str,
    *,
    desk: Desk,
    where: Filter | None = None,
    project: str | None = None,
    limit: int = 5,
    threshold: float = THRESHOLD,
    as_of: datetime | None = None,
    session: str | None = None,
) -> Recall:
    """The memories that answer `query`; nothing, when nothing does.

    Of the project (the session's, when none is named) and of none, unless `where` says otherwise.
    Counts an access of each hit and, in a session, leaves a receipt.
    Raises: Invalid.
    """
    if not clean(query).strip():
        raise Invalid("the question is empty: say what to look for", field="query")
    if limit < 1:
        raise Invalid(f"limit {limit} is too low: give 1 or more", field="limit")
    query = safe(query[:_MOST_QUERY])
    now = desk.now()
    with desk.store.read(desk.space) as tx:
        where = where or Filter(project=project or project_of(session, tx), other_projects=False)
        candidates, counts, total = _candidates(query, where, as_of, tx)
    rarity = rarity_of(counts, total)
    hits = []
    for memory in candidates:
        relevant = relevance(memory, list(counts), rarity)
        if relevant > 0:
            hits.append(scored(memory, relevant, desk.profile.policy, as_of or now))
    hits.sort(key=lambda hit: (-hit.score, hit.memory.created_at, hit.memory.id))
    above = [hit for hit in hits if hit.parts["relevance"] >= threshold]
    found = Recall(tuple(above[:limit]), len(hits) - len(above))
    if as_of is None and found.hits:
        _note(query, found, session, desk)
    return found


def _candidates(
    query: str, where: Filter, as_of: datetime | None, tx: Transaction
) -> tuple[list[Memory], dict[str, int], int]:
    """Memories that hold a word of the question, how many hold each word, and how many there are."""
    asked = asked_words(query)
    if as_of is not None:
        past = [memory for memory in believed_at(as_of, tx) if admits(where, memory)]
        counts = {word: sum(relevance(m, [word], {word: 1.0}) > 0 for m in past) for word in asked}
        return past, counts, len(past)
    counts = tx.words.frequencies(asked)
    rare_first = sorted((word for word in asked if counts[word]), key=lambda word: (counts[word], word))
    ids = tx.words.matching(rare_first, CANDIDATES)
    found = [memory for memory in map(tx.memories.get, ids) if memory is not None and admits(where, memory)]
    return found, counts, tx.memories.count(Filter())


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
