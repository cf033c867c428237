"""Backups: every space in one archive, made under load, put back without losing what is newer."""

from collections.abc import Iterator, Sequence
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
    archives: Sequence[Archive],
    *,
    store: Store,
    clock: Clock,
    judge: Judge | None = None,
    replace: bool = False,
) -> list[PutBack]:
    """Makes spaces what they were in a backup; what was deleted here meanwhile stays deleted.

    Raises: Conflict, before anything is touched, when a space holds what the backup does not, unless `replace`.
    """
    if not replace:
        for archive in archives:
            _refuse_fuller(archive, store)
    return [_put_back(archive, store, clock, judge or TextJudge()) for archive in archives]


def _refuse_fuller(archive: Archive, store: Store) -> None:
    header = archive.header
    here = store.space(header.space)
    if here is None:
        return
    with store.read(header.space) as tx:
        changes = tx.dump.last_seq()
    # Under another key it is another store's space, so that none of its changes are in the backup.
    newer = changes - archive.last_seq if here.key == header.key else changes
    if newer > 0:
        raise Conflict(
            f"space {header.space!r} holds {newer} change{'s' if newer > 1 else ''} that the backup does not: "
            "make a backup of it first, then add --replace; nothing was put back"
        )


def _put_back(archive: Archive, store: Store, clock: Clock, judge: Judge) -> PutBack:
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
        # Tombstones stay, so that what was deleted since does not come back with the old rows.
        tx.dump.clear(keep=("tombstones",))
        return PutBack(header.space, take_rows(archive, tx, judge))
