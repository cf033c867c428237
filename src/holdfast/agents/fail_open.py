"""The one place that keeps any failure of the memory from breaking the program that uses it."""

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def unbroken(work: Callable[[], Result], failed: Callable[[Exception], None]) -> Result | None:
    """The result of `work`; None if it failed, and `failed` gets the error."""
    try:
        return work()
    except Exception as error:  # broad: a door's boundary; whatever breaks in the memory, the host goes on
        failed(error)
        return None
