"""Backups: every space in one archive, made under load, put back without losing what is newer."""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.domain.compare import TextJudge
from holdfast.engine.archive import Archive, lines
from holdfast.engine.imports import Imported, take_rows
from holdfast.engine.ports import Clock, Judge, Space, Store
from holdfast.errors import Conflict


@dataclass(frozen=True, slots=True)
class PutBack:
    """What became of one space of a backup."""

    space: str
    imported: Imported


def backup_lines(store: Store) -> Iterator[str]:
    """All spaces as lines of one archive, each as it stands at one moment."""
    for space in store.spaces():
        with store.read(space.name) as tx:
            yield from lines(tx)


def put_back(
    archive: Archive, *, store: Store, clock: Clock, judge: Judge | None = None, replace: bool = False
) -> PutBack:
    """Makes a space what it was in the backup; what was deleted here meanwhile stays deleted.

    Raises: Conflict, when the space holds changes that the backup does not, unless `replace`.
    """
    header = archive.header
    if store.space(header.space) is None:
        store.create_space(
            Space(
                name=header.space,
                profile=header.profile,
                profile_text=header.profile_text,
                key=header.key,
                created_at=clock(),
            )
        )
    with store.write(header.space) as tx:
        newer = tx.dump.last_seq() - archive.last_seq
        if newer > 0 and not replace:
            raise Conflict(
                f"space {header.space!r} has changed {newer} times since the backup: "
                "add --replace to go back to the backup all the same, or make a backup of it first"
            )
        # Tombstones stay, so that what was deleted since does not come back with the old rows.
        tx.dump.clear(keep=("tombstones",))
        return PutBack(header.space, take_rows(archive, tx, judge or TextJudge()))
