"""What a file looked like, so that a change can be told without reading it."""

import os
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A regular file, and what it looked like."""

    path: str
    state: str  # another one whenever the file was changed
    size: int
    changed_ns: int  # when, by the file system's clock


@dataclass(frozen=True, slots=True)
class Listing:
    """What stands in a directory: files that may be notes, and what is left alone, with the reason."""

    files: dict[str, FileStamp] = field(default_factory=dict)
    left_alone: dict[str, str] = field(default_factory=dict)
    index: list[FileStamp] = field(default_factory=list)  # the index, if it is there
    leftovers: list[str] = field(default_factory=list)  # of writes that are under way, or were cut off

    def snapshot(self) -> tuple[str, ...]:
        """Another one whenever something in the directory was changed."""
        return tuple(sorted(f"{seen.path}\0{seen.state}" for seen in (*self.files.values(), *self.index)))


def seen_as(path: str, found: os.stat_result) -> FileStamp:
    return FileStamp(path, state_of(found), found.st_size, max(found.st_mtime_ns, found.st_ctime_ns))


def state_of(found: os.stat_result) -> str:
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"


def written_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns
