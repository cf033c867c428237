"""Short ways to say things in scenarios."""

from collections.abc import Iterable
from typing import Any

from holdfast import Memories, Memory
from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Outcome, settled
from holdfast.engine import changes
from holdfast.engine.intake import sanitize


def kept(outcome: Outcome) -> Memory:
    """The memory that an outcome settled in; a scenario that expects one fails here otherwise."""
    memory = settled(outcome)
    assert memory is not None, outcome
    return memory


def add(memories: Memories, content: str, **given: Any) -> Memory:
    return kept(memories.remember(content, **given))


def fill(memories: Memories, drafts: Iterable[Draft | str]) -> list[Memory]:
    """Adds them all at once, as they are and compared with nothing: for a scenario among many others."""
    ctx = memories._ctx
    whole = [Draft(content=draft) if isinstance(draft, str) else draft for draft in drafts]
    with memories.store.write(memories.space) as tx:
        return changes.add_all(tx, ctx, [sanitize(draft, ctx.profile) for draft in whole], now=ctx.now())


def now(memories: Memories, memory: Memory) -> Memory:
    """The memory as it is stored at this moment."""
    return memories.show(memory.id).memory
