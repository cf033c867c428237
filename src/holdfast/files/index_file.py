"""The index of a bound directory: what it says, and whether somebody else wrote it."""

import hashlib

from holdfast.domain.file_paths import INDEX
from holdfast.domain.space import Bound
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid, NotFound
from holdfast.files import memory_paths
from holdfast.files.memory_paths import MemoryFile
from holdfast.files.safe_directory import SafeDirectory


class IndexFile:
    """The index on disk, compared with what was last written."""

    def __init__(self, ctx: SpaceContext, root: SafeDirectory, bound: Bound) -> None:
        self._ctx = ctx
        self._root = root
        self._last_hash = bound.index_hash
        self._shared = bound.layout == "shared"

    def is_ours(self) -> bool:
        """Whether the index is what we last wrote."""
        current = self._current()
        return current is not None and self._last_hash == _hash(current)

    def foreign_lines(self) -> list[str]:
        """The lines that somebody added, and that would be lost when the index is written again."""
        current = self._current()
        if current is None or self._shared or self.is_ours():
            return []
        return memory_paths.foreign_lines(current, self._ctx.profile)

    def write(self, found: list[MemoryFile]) -> tuple[str, bool]:
        """Writes the index if it has to change: the hash of its text, and whether it was written."""
        current = self._current()
        shown = [place for place in found if place.memory is not None]
        if self._shared:
            text = memory_paths.shared_index(current, shown)
        else:
            text = memory_paths.index_of(shown, self._ctx)
        if text != current:
            self._root.write(INDEX, text.encode())
        return _hash(text), text != current

    def _current(self) -> str | None:
        try:
            return self._root.read(INDEX, 1 << 22)[0].decode(errors="replace")
        except (NotFound, Invalid):
            return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
