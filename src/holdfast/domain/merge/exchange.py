"""What two stores know of one space, before it is one: rows of both sides, and the changes in one order."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from holdfast.domain.merge.entries import JournalChange, Row, Rows, StoreRows, united
from holdfast.domain.profile import Profile


@dataclass(frozen=True)
class Exchange:
    """Both sides of a merge. Tombstones of both are hashed with the same key, which `hash_of` uses."""

    mine: StoreRows
    theirs: StoreRows
    profile: Profile
    hash_of: Callable[[str], str]

    @classmethod
    def of(cls, mine: Rows, theirs: Rows, profile: Profile, hash_of: Callable[[str], str]) -> "Exchange":
        return cls(StoreRows.of(mine), StoreRows.of(theirs), profile, hash_of)

    @property
    def sides(self) -> tuple[StoreRows, StoreRows]:
        return self.mine, self.theirs

    def rows(self, table: str) -> Iterator[Row]:
        """The rows of both sides; those that are on both come twice."""
        yield from self.mine.table(table)
        yield from self.theirs.table(table)

    @cached_property
    def erased(self) -> frozenset[str]:
        """The memories that were erased in either store."""
        named = {row["memory_id"] for row in self.rows("journal") if row["action"] == "erased"}
        named |= {row["memory_id"] for row in self.rows("tombstones") if row["reason"] == "erased"}
        return frozenset(named - {None})

    @cached_property
    def changes(self) -> list[JournalChange]:
        return united(self.mine, self.theirs, self.erased)

    @cached_property
    def by_memory(self) -> dict[str, list[JournalChange]]:
        found: defaultdict[str, list[JournalChange]] = defaultdict(list)
        for change in self.changes:
            if change.memory is not None:
                found[change.memory].append(change)
        return dict(found)

    @cached_property
    def gone(self) -> frozenset[str]:
        """The memories whose rows either store removed: they don't come back."""
        removed = {change.memory for change in self.changes if change.removes}
        return frozenset(one for one in removed | self.erased if one is not None)

    @cached_property
    def undone(self) -> dict[str, str]:
        """The sessions that were undone, and when."""
        notes = [each.row for each in self.changes if each.row["action"] == "undone"]
        return {row["note"]: row["created_at"] for row in notes if row["memory_id"] is None}
