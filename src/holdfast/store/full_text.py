"""What both full-text indexes share: which words a memory is found by."""

from holdfast.domain.memory import Memory
from holdfast.domain.ranking import said
from holdfast.domain.terms import stems


def indexed(memory: Memory) -> list[str]:
    """The stems of all that a memory says of itself."""
    return stems(said(memory))
