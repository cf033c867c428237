"""A cache that is bounded by what it weighs: a thousand long texts take more memory than a thousand notes.

Two halves instead of an order of use: what was asked for since the last full half moves on with the new one,
the rest is let go of at once. Asking costs one look into a dictionary, which counts where every search asks
hundreds of times.
"""

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


def weighed_cache(
    most: int, weight: Callable[[Answer], int]
) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Keeps a function's answers as long as they weigh at most `most` together."""

    def around(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
        halves = _Halves(most // 2, weight)

        @wraps(function)
        def asked(text: str) -> Answer:
            found = halves.new.get(text)
            if found is None:
                found = halves.old.get(text)
                if found is None:
                    found = function(text)
                halves.keep(text, found)
            return found

        return asked

    return around


class _Halves(Generic[Answer]):
    def __init__(self, most: int, weight: Callable[[Answer], int]) -> None:
        self.new: dict[str, Answer] = {}
        self.old: dict[str, Answer] = {}
        self._most = most
        self._weight = weight
        self._weighs = 0
        self._lock = Lock()

    def keep(self, text: str, answer: Answer) -> None:
        weight = self._weight(answer)
        if weight > self._most:
            return
        with self._lock:
            if self._weighs + weight > self._most:
                self.old, self.new, self._weighs = self.new, {}, 0
            if text not in self.new:
                self.new[text] = answer
                self._weighs += weight
