"""Whether a backup can be restored: it is, into an empty store, and the rows are compared table by table."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.engine.archive import Archive, read_all
from holdfast.engine.archive_lines import line_of
from holdfast.engine.backup import backup_lines, put_back
from holdfast.engine.ports import Clock, Store
from holdfast.engine.token_archive import TokenArchive, restore_tokens


@dataclass(frozen=True, slots=True)
class Sum:
    """The number of rows and the hash of all rows."""

    rows: int
    sha256: str | None


NOTHING = Sum(0, None)


@dataclass(frozen=True, slots=True)
class TableCheck:
    """One table of a space (none: the tokens) in the backup, and as it was restored."""

    space: str | None
    table: str
    backup: Sum
    restored: Sum

    @property
    def equal(self) -> bool:
        return self.backup == self.restored


@dataclass(frozen=True, slots=True)
class Verification:
    """What a trial restore found."""

    tables: tuple[TableCheck, ...]
    damaged: tuple[str, ...]  # memories whose text does not match its checksum

    @property
    def ok(self) -> bool:
        return not self.damaged and all(table.equal for table in self.tables)


_Sums = dict[tuple[str | None, str], tuple[int, str]]


def verify(parts: Sequence[Archive | TokenArchive], *, store: Store, clock: Clock) -> Verification:
    """Restores a backup into `store`, which is empty, and compares counts and checksums of every table."""
    archives = [part for part in parts if isinstance(part, Archive)]
    put_back(archives, store=store, clock=clock)
    spaces = [archive.header.space for archive in archives]
    for part in parts:
        if isinstance(part, TokenArchive):
            restore_tokens(part, spaces, store=store)
    damaged: list[str] = []
    for name in spaces:
        with store.read(name) as tx:
            damaged += tx.integrity.damaged_texts()
    expected, found = _sums(parts), _sums(list(read_all(backup_lines(store, damaged_too=True))))
    keys = dict.fromkeys((*expected, *found))
    tables = (TableCheck(*key, expected.get(key, NOTHING), found.get(key, NOTHING)) for key in keys)
    return Verification(tuple(tables), tuple(damaged))


def _sums(parts: Sequence[Archive | TokenArchive]) -> dict[tuple[str | None, str], Sum]:
    """By space and table."""
    sums: dict[tuple[str | None, str], Sum] = {}
    for part in parts:
        if isinstance(part, TokenArchive):
            sums[None, "tokens"] = _sum(part.rows)
            continue
        header = part.header
        settings = [header.profile, header.profile_text, header.key, header.keeps_messages]
        sums[header.space, "spaces"] = _sum([{"space": settings}])
        sums |= {(header.space, table): _sum(rows) for table, rows in part.rows.items()}
    return sums


def _sum(rows: Sequence[dict[str, Any]]) -> Sum:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(line_of(row).encode())
    return Sum(len(rows), digest.hexdigest())
