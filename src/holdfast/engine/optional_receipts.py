"""Answers that are given although nothing can be written: a full or read-only disk keeps no agent waiting."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from holdfast.domain.history import ReceiptItem
from holdfast.domain.ranking import Hit, MemoryHit
from holdfast.errors import Unavailable

_log = logging.getLogger(__name__)


@contextmanager
def without_receipt(space: str) -> Iterator[None]:
    """Leaves out what the block would write when the store takes no writes now."""
    try:
        yield
    except Unavailable as trouble:
        _log.warning("space %s: answered without a receipt: %s", space, trouble)


def receipt_items(hits: Sequence[Hit]) -> tuple[ReceiptItem, ...]:
    """What a receipt keeps of hits."""
    return tuple(
        ReceiptItem(memory=hit.memory.id, version=hit.memory.version, score=hit.score, parts=dict(hit.parts))
        if isinstance(hit, MemoryHit)
        else ReceiptItem(message=hit.message.id, score=hit.score, parts=dict(hit.parts))
        for hit in hits
    )
