"""What both full-text indexes share: which words a memory is found by."""

from holdfast.domain.memory import Memory
from holdfast.domain.words import words


def indexed(memory: Memory) -> list[str]:
    """The words of all that a memory says of itself."""
    parts = (memory.subject or "", memory.summary or "", memory.content, " ".join(memory.tags))
    return words(" ".join(parts))
