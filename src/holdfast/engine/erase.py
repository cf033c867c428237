"""erase: removes a memory and every trace of it permanently."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.memory import Memory, Repetition, Source, Tombstone, Version
from holdfast.engine.consolidate import merged_into, proposals_about
from holdfast.engine.intake import text_hash
from holdfast.engine.ports import Transaction
from holdfast.engine.reading_queue import forget_answers
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import NotFound


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erase removes, and what remains out of reach, such as backups."""

    memories: tuple[str, ...]
    versions: int
    links: int
    messages: int  # cited messages that lose their text
    receipts: int  # stored briefs and recalls that lose theirs
    left: tuple[str, ...] = ()


def erasure(memory_ids: Sequence[str], *, ctx: SpaceContext) -> Erasure:
    """What an erase would remove.

    Raises: NotFound.
    """
    with ctx.read() as tx:
        memory_ids = _with_copies(memory_ids, tx)
        traces = [_Trace(memory_id, tx) for memory_id in memory_ids]
        return Erasure(
            memories=tuple(memory_ids),
            versions=sum(len(trace.texts) for trace in traces),
            links=sum(len(tx.links.of(trace.id)) for trace in traces),
            messages=len({message for trace in traces for message in trace.messages}),
            receipts=len({use.receipt for trace in traces for use in tx.receipts.uses(trace.id)}),
        )


def erase(memory_ids: Sequence[str], *, ctx: SpaceContext, source: Source) -> Erasure:
    """Removes memories with their versions, links, vectors, journal texts, stored briefs, and the text of the
    messages that they were taken from. Only a keyed hash stays, so that they are not stored again.

    Raises: NotFound; then nothing was erased.
    """
    planned = erasure(memory_ids, ctx=ctx)
    texts: list[str] = []
    silenced: dict[str, None] = {}
    with ctx.write() as tx:
        now = ctx.now()
        memory_ids = _with_copies(memory_ids, tx)
        for memory_id in memory_ids:
            trace = _Trace(memory_id, tx)
            texts += trace.texts
            texts += _said(trace.messages, tx)
            silenced |= dict.fromkeys(trace.messages)
            _remove(trace, tx, source, now)
        bound = tx.files.bound()
    left = ctx.store.scrub(texts, memory_ids, ctx.space, tuple(silenced))
    if bound is not None:
        left.append(f"the history of {bound.path}, if it is in git or another archive")
    return replace(planned, left=tuple(left))


def _with_copies(memory_ids: Sequence[str], tx: Transaction) -> tuple[str, ...]:
    """The memories, and those that were merged into or out of them, which say the same."""
    found = dict.fromkeys(memory_ids)
    coming = list(memory_ids)
    while coming:
        memory_id = coming.pop()
        copies = (*merged_into(memory_id, tx), *proposals_about(memory_id, tx))
        coming += [copy.id for copy in copies if copy.id not in found]
        found |= dict.fromkeys(copy.id for copy in copies)
    return tuple(found)


class _Trace:
    """All texts of one memory; also if its row is gone and only tombstones contain text."""

    def __init__(self, memory_id: str, tx: Transaction) -> None:
        self.id = memory_id
        self.memory: Memory | None = tx.memories.get(memory_id)
        wordings: list[Version | Repetition] = [*tx.versions.of(memory_id), *tx.repetitions.of(memory_id)]
        self.tombstones = tx.tombstones.of(memory_id)
        kept = [tombstone.content for tombstone in self.tombstones if tombstone.content]
        if self.memory is None and not kept:
            raise NotFound(f"there is no memory {memory_id!r} in space {tx.space.name!r}: nothing was erased")
        self.texts = list(dict.fromkeys([wording.content for wording in wordings] + kept))
        # The messages that it was taken from, and those that repeated it.
        cited = {wording.source.message for wording in wordings if wording.source.message}
        cited |= {each.message for each in tx.citations.of_memory(memory_id) if not each.reworded}
        self.messages = sorted(cited | set(tx.sessions.saying(self.texts)))


def _remove(trace: _Trace, tx: Transaction, source: Source, now: datetime) -> None:
    for content in trace.texts:
        tx.tombstones.add(
            Tombstone(
                hash=text_hash(content, tx.space.key, trace.memory.private_to if trace.memory else None),
                reason="erased",
                memory=trace.id,
                category=None,
                subject=None,
                content=None,
                created_at=now,
            )
        )
    silence(trace.messages, tx)
    tx.receipts.strike(trace.id)
    tx.calls.strike(trace.id)
    tx.files.strike(trace.id)
    tx.words.drop(trace.id)
    tx.memories.remove(trace.id)
    if trace.memory is not None:
        tx.journal.write("erased", source=source, now=now, before=trace.memory)
    tx.journal.forget_text(trace.id)


def silence(message_ids: Sequence[str], tx: Transaction) -> None:
    """Removes the text of messages, and their index entries and vectors."""
    tx.sessions.silence(message_ids)
    tx.receipts.strike_messages(message_ids)
    tx.message_vectors.drop(message_ids)
    tx.message_words.drop(*message_ids)
    tx.citations.remove(message_ids)
    forget_answers(tx, message_ids)


def _said(message_ids: Sequence[str], tx: Transaction) -> list[str]:
    return [message.content for message in tx.sessions.messages_by_id(message_ids) if message.content]
