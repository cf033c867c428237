"""What a session read and was given, to tell what its agent merely repeats.

An agent that copies a page or a tool's output into a marker vouches for nothing, and what it was told from
memory is no news. Compares words, not meaning. Knows nothing of streams or storage.
"""

import re
from collections.abc import Hashable

from holdfast.domain.render import plain
from holdfast.domain.text import normal_form

_MOST = 64_000_000  # characters that are kept of one session
_SHORT = 3  # words; a text of fewer must stand alone, not inside of others

# What stands between words where text is carried in other formats: escapes of JSON, tags of HTML.
_WRAPPING = re.compile(r"(?<!\\)\\++[nrtu\"'/]|<[^<>]{0,200}>")
# What our own blocks write behind a memory.
_WEIGHT = re.compile(r"(?<!\s)\s*+\((?:confidence: [\d.]+|from \w+)\)")


class Echoes:
    """Of one session, in the order in which things were read."""

    def __init__(self) -> None:
        self._read: list[str] = []
        self._seen: set[Hashable] = set()
        self._size = 0
        self._given: set[tuple[str, str, str]] = set()

    @property
    def overflowed(self) -> bool:
        """Whether the session read more than can be kept: then nobody knows what it repeats."""
        return self._size > _MOST

    def read(self, text: str) -> None:
        """Takes note of what came from outside: tool output, pages, other agents, hooks."""
        if self.overflowed or not text or hash(text) in self._seen:
            return
        self._seen.add(hash(text))
        folded = f" {normal_form(_WRAPPING.sub(' ', text))} "
        self._size += len(folded)
        self._read.append(folded)

    def give(self, name: str, subject: str | None, text: str) -> None:
        """Takes note of a memory, or an example of one, that the session was told."""
        self._given.add(_key(name, subject, text))

    def was_read(self, text: str) -> bool:
        """Whether these words stood in something that the session read, or may have."""
        if self.overflowed:
            return True
        words = normal_form(_WRAPPING.sub(" ", text))
        if not words:
            return False
        wanted = f" {words} " if words.count(" ") < _SHORT - 1 else words
        return any(wanted in each for each in self._read)

    def was_given(self, name: str, subject: str | None, text: str) -> bool:
        """Whether this is what the session was told, word for word."""
        return _key(name, subject, text) in self._given


def _key(name: str, subject: str | None, text: str) -> tuple[str, str, str]:
    return name, normal_form(subject or ""), normal_form(_WEIGHT.sub("", plain(text)))
