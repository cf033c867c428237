"""The one place where a memory that fails in any way is kept from breaking the program that it serves."""

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def unbroken(work: Callable[[], Result], failed: Callable[[Exception], None]) -> Result | None:
    """What `work` gives; none, when it failed, and `failed` is told what it was."""
    try:
        return work()
    except Exception as trouble:  # broad: a door's boundary; whatever breaks in the memory, the host goes on
        failed(trouble)
        return None
