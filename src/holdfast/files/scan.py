"""One scan of a bound directory: changed files, and the result of the sync."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.domain.memory import Source
from holdfast.domain.space import FileRow
from holdfast.files.safe_directory import FileStamp, Listing

if TYPE_CHECKING:
    from holdfast.files.write_back import WriteBack

BY_HAND = Source(origin="file")
GONE = "the directory does not exist"
EMPTY = "all of its files are gone"
#: What the command line says after the question, for a space.
ASKS_COMMAND = (
    "`holdfast files sync --space {} --write-back` restores the files, "
    "`--accept-empty` deletes their memories, `holdfast files unbind` unbinds the directory"
)


def asks_about(why: str, path: str) -> str:
    """The question to the user, in words for every interface."""
    return f"{why}: {path}. Nothing was deleted. Restore the files, or delete their memories"


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A file that is new or changed since the last sync; or why it can't be imported."""

    seen: FileStamp
    hash: str
    text: str | None
    wrong: str | None = None


@dataclass(slots=True)
class SyncReport:
    """The result of a sync, by path."""

    taken: list[str] = field(default_factory=list)  # changed by hand
    new: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)  # deleted by hand
    conflicts: list[str] = field(default_factory=list)  # changed on both sides: the file's text waits
    redacted: list[str] = field(default_factory=list)  # a secret was taken out of the file
    by_lines: list[str] = field(default_factory=list)  # the heading is no YAML, and was read line by line
    refused: dict[str, tuple[str, str]] = field(default_factory=dict)  # path: its state, and why
    written: list[str] = field(default_factory=list)  # by us
    removed: list[str] = field(default_factory=list)
    asks: str | None = None  # nothing was done: a person has to decide first
    unfinished: bool = False  # there were more files than were asked for: the rest comes with the next look

    @property
    def quiet(self) -> bool:
        """Whether no edits were imported."""
        return not (self.taken or self.new or self.renamed or self.gone or self.conflicts or self.redacted)


@dataclass(slots=True)
class Progress:
    """What the slices of one sync keep for the next one, so that not each lists the whole directory."""

    looked: dict[str, str] = field(default_factory=dict)  # states of files that were read when settled
    refused: dict[str, tuple[str, str]] = field(default_factory=dict)
    listing: Listing | None = None  # none: list the directory anew
    rows: dict[str, FileRow] = field(default_factory=dict)
    seq: int = 0  # the space's last change when the rows were read
    write_back: WriteBack | None = None  # what was imported is shown in files next
