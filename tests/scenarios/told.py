"""Short ways to say things in scenarios."""

from typing import Any

from holdfast import Memories, Memory
from holdfast.domain.outcomes import Outcome, settled


def kept(outcome: Outcome) -> Memory:
    """The memory that an outcome settled in; a scenario that expects one fails here otherwise."""
    memory = settled(outcome)
    assert memory is not None, outcome
    return memory


def add(memories: Memories, content: str, **given: Any) -> Memory:
    return kept(memories.remember(content, **given))


def now(memories: Memories, memory: Memory) -> Memory:
    """The memory as it is stored at this moment."""
    return memories.show(memory.id).memory
