"""Fills a space with as many memories as wanted, through the rows that archives are put back by.

The texts are not judged against each other, as `remember` would: that is what makes a million feasible. All
that belongs to a memory is there: its version, its journal entry, its words and its vector.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bench.speed.corpus import Corpus, Fact
from holdfast.domain.memory import Draft
from holdfast.domain.query import Filter
from holdfast.engine.embedding import embed_missing
from holdfast.engine.remember import remember
from holdfast.engine.space_context import SpaceContext

_BLOCK = 1_000  # memories in one transaction
_TABLES = ("memories", "versions", "journal")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

Rows = Mapping[str, Mapping[str, Any]]
Told = Callable[[int], None]  # how many are there by now


def fill(ctx: SpaceContext, corpus: Corpus, size: int, told: Told = lambda done: None) -> None:
    """Brings a space to `size` memories with their vectors; goes on where an earlier run ended."""
    done = _count(ctx)
    if done == 0:
        remember(draft_of(corpus.fact(0)), ctx=replace(ctx, embedder=None))
        done = 1
    rows = _rows_of_the_first(ctx)
    while done < size:
        upto = min(size, done + _BLOCK)
        with ctx.store.write(ctx.space) as tx:
            last = tx.journal.last()
            for number in range(done, upto):
                seq = last + 1 + number - done
                for table, row in _rows_of(number, seq, corpus.fact(number), rows).items():
                    tx.dump.insert(table, row)
            tx.dump.reindex([memory_id(number) for number in range(done, upto)])
        done = upto
        embed_missing(ctx, limit=_BLOCK)
        told(done)


def memory_id(number: int) -> str:
    """The id of a memory that was filled in."""
    digits = ""
    for _ in range(7):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return f"z{digits}"


def draft_of(fact: Fact) -> Draft:
    return Draft(content=fact.content, category=fact.category)


def _count(ctx: SpaceContext) -> int:
    with ctx.store.read(ctx.space) as tx:
        return tx.memories.count(Filter())


def _rows_of_the_first(ctx: SpaceContext) -> Rows:
    """The rows that the product itself wrote for a memory: what the others are copies of."""
    with ctx.store.read(ctx.space) as tx:
        return {table: next(tx.dump.rows(table)) for table in _TABLES}


def _rows_of(number: int, seq: int, fact: Fact, first: Rows) -> dict[str, dict[str, Any]]:
    own: dict[str, dict[str, Any]] = {
        "memories": {
            "id": memory_id(number),
            "content": fact.content,
            "category": fact.category,
        },
        "versions": {"memory_id": memory_id(number), "content": fact.content},
        "journal": {"memory_id": memory_id(number), "seq": seq},
    }
    return {table: {**first[table], **own[table]} for table in _TABLES}
