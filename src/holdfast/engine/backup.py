"""Backups: all spaces in one archive, made while others write; a restore doesn't lose newer changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.domain.space import Space
from holdfast.engine.archive import Archive, lines
from holdfast.engine.ports import Clock, Judge, Store, Transaction
from holdfast.engine.restore import Imported, take_rows
from holdfast.engine.token_archive import token_lines
from holdfast.errors import Conflict, Unavailable
from holdfast.language.judge import PairJudge as ExactJudge


@dataclass(frozen=True, slots=True)
class PutBack:
    """What a restore did to one space of a backup."""

    space: str
    imported: Imported


def backup_lines(store: Store, *, damaged_too: bool = False) -> Iterator[str]:
    """All spaces as the lines of one archive, each as of one moment, and the tokens.

    Raises: Unavailable, if a text does not match its checksum, unless `damaged_too`.
    """
    for space in store.spaces():
        with store.read(space.name) as tx:
            damaged = () if damaged_too else tx.integrity.damaged_texts()
            if damaged:
                raise Unavailable(
                    f"space {space.name!r} has damaged texts ({', '.join(damaged[:5])})",
                    command="`holdfast doctor --repair` repairs what it can; --anyway backs up as is",
                )
            yield from lines(tx)
    yield from token_lines(store)


def put_back(
    archives: Sequence[Archive],
    *,
    store: Store,
    clock: Clock,
    judge: Judge | None = None,
    replace: bool = False,
) -> list[PutBack]:
    """Restores spaces from a backup; what was deleted since the backup stays deleted.

    Raises: Conflict, before anything is changed, if a space has changes that the backup lacks, unless
    `replace`.
    """
    if not replace:
        for archive in archives:
            if store.space(archive.header.space) is not None:
                with store.read(archive.header.space) as tx:
                    _refuse_fuller(archive, tx)
    return [_put_back(archive, store, clock, judge or ExactJudge(), replace) for archive in archives]


def _refuse_fuller(archive: Archive, tx: Transaction) -> None:
    changes = tx.journal.last()
    # With another key it is the space of another store: none of its changes are in the backup.
    newer = changes - archive.last_seq if tx.space.key == archive.header.key else changes
    if newer > 0:
        raise Conflict(
            f"space {tx.space.name!r} has {newer} change{'s' * (newer > 1)} newer than the backup: "
            "back it up first",
            command="then add --replace",
        )


def _put_back(archive: Archive, store: Store, clock: Clock, judge: Judge, replace: bool) -> PutBack:
    header = archive.header
    if store.space(header.space) is None:
        store.create_space(
            Space(
                name=header.space,
                profile=header.profile,
                profile_text=header.profile_text,
                key=header.key,
                created_at=clock(),
                keeps_messages=header.keeps_messages,
            )
        )
    with store.write(header.space) as tx:
        if not replace:
            _refuse_fuller(archive, tx)  # again: others may have written since the first check
        # Tombstones stay, so that the old rows don't bring back what was deleted since.
        tx.dump.clear(keep=("tombstones",))
        return PutBack(header.space, take_rows(archive, tx, judge))
