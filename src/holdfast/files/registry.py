"""The list of bound directories on this machine, in the user's own folder.

The database has the binding, too, but it may be shared by several machines, and a path is valid on one.
"""

import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from holdfast.app import paths

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Binding:
    """A directory of this machine and its space."""

    path: str
    db: str
    space: str


class Registry:
    """The list of bound directories, read again when it was changed."""

    def __init__(self) -> None:
        self._seen: tuple[int, int, int] | None = None
        self._bindings: list[Binding] = []

    def read(self) -> list[Binding]:
        """The bindings; none if the list is damaged."""
        try:
            found = os.stat(paths.directories())
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if seen != self._seen:
                listed = json.loads(Path(paths.directories()).read_text(encoding="utf-8"))
                self._bindings = [Binding(**entry) for entry in listed]
                self._seen = seen
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError) as trouble:
            _log.warning("%s can't be read: %s", paths.directories(), trouble)
            return []
        return self._bindings

    def add(self, binding: Binding) -> None:
        self._save([*(one for one in self.read() if one.path != binding.path), binding])

    def remove(self, path: str) -> None:
        self._save([one for one in self.read() if one.path != path])

    def _save(self, bindings: list[Binding]) -> None:
        listed = json.dumps([asdict(binding) for binding in bindings], indent=2, ensure_ascii=False)
        paths.write_private(paths.directories(), f"{listed}\n".encode())
