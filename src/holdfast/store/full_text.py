"""What both full-text indexes share: which words of a memory are indexed, and under which mark."""

from holdfast.domain.memory import Memory
from holdfast.domain.words import words


def indexed(memory: Memory) -> list[str]:
    """The words that a memory is found by, each under its space's mark."""
    mark = prefix(memory.space)
    parts = (memory.subject or "", memory.summary or "", memory.content, " ".join(memory.tags))
    return [mark + word for word in words(" ".join(parts))]


def prefix(space: str) -> str:
    """A space's mark on its words: letters and digits only, and no mark begins another."""
    return space.replace("z", "zz").replace("-", "zh").replace("_", "zu") + "zq"
