"""What the verbs for files answer."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file in a list."""

    path: str
    name: str
    description: str | None
    type: str  # the category; what has none stands under the profile's own word for it
    updated_at: datetime | None
    size: int  # bytes of its text
    memory_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file that was read: its whole text, and the body alone."""

    path: str
    text: str
    content: str
    memory: Memory | None  # none: a file that says nothing

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What became of a write. `waiting`: it went to the inbox instead, `told` says why."""

    path: str
    created: bool
    memory: Memory | None
    waiting: bool = False
    told: str | None = None
