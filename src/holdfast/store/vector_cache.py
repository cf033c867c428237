"""Vectors of the spaces that were searched last, kept in memory by one process for all of its threads.

Knows neither numpy nor the database: it holds what a search loaded, and lets go of the oldest when it is too
much.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Protocol

MOST_BYTES = 256 * 1024 * 1024

#: Space, kind of owner, model.
Key = tuple[str, str, str]


class Loaded(Protocol):
    """Vectors in memory, as of some state of the space; never changed once it is kept."""

    @property
    def size_in_bytes(self) -> int: ...


class VectorCache:
    """What is loaded, by space, kind and model."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._loaded: OrderedDict[Key, Loaded] = OrderedDict()
        self._locks: dict[Key, threading.Lock] = {}
        self._damaged: dict[Key, set[str]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def updating(self, key: Key) -> Iterator[None]:
        """One thread at a time brings what is loaded under `key` up to date."""
        with self._lock:
            own = self._locks.setdefault(key, threading.Lock())
        with own:
            yield

    def get(self, key: Key) -> Loaded | None:
        with self._lock:
            loaded = self._loaded.get(key)
            if loaded is not None:
                self._loaded.move_to_end(key)
            return loaded

    def put(self, key: Key, loaded: Loaded) -> None:
        """Keeps it as the latest, which stays however large it is; the oldest go when all are too large."""
        with self._lock:
            self._loaded[key] = loaded
            self._loaded.move_to_end(key)
            while len(self._loaded) > 1 and self._size() > self._most:
                self._loaded.popitem(last=False)

    def note_damage(self, key: Key, owner: str) -> None:
        """Remembers that a vector of this owner could not be read."""
        with self._lock:
            self._damaged.setdefault(key, set()).add(owner)

    def damaged(self, key: Key) -> list[str]:
        """The owners whose vectors could not be read, until they are mended."""
        with self._lock:
            return sorted(self._damaged.get(key, ()))

    def mended(self, space: str, kind: str, owners: Collection[str]) -> None:
        with self._lock:
            for key, damaged in self._damaged.items():
                if key[:2] == (space, kind):
                    damaged.difference_update(owners)

    def forget(self, key: Key) -> None:
        with self._lock:
            self._loaded.pop(key, None)

    @property
    def size_in_bytes(self) -> int:
        with self._lock:
            return self._size()

    def _size(self) -> int:
        return sum(loaded.size_in_bytes for loaded in self._loaded.values())
