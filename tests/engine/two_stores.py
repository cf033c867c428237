"""Two spaces that play two machines: each with a clock of its own, kept in step through archives."""

from __future__ import annotations

import itertools
import json
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from holdfast.domain.health import Damage
from holdfast.domain.memory import Memory, State
from holdfast.domain.merge import SYNCED
from holdfast.domain.query import Filter
from holdfast.engine.memories import Memories
from holdfast.engine.ports import Store
from holdfast.engine.restore import Imported
from holdfast.engine.spaces import create_space
from holdfast.testing import DEFAULT_START, FixedClock
from tests.engine.scripted_judge import ScriptedJudge

ALPHABET = string.digits + string.ascii_letters
#: What is each machine's own: work that it has to do, and where files lie on its disk.
OWN = ("jobs", "files")
_numbers = itertools.count(1)


@dataclass
class Machine:
    """One of the two: a space, and its clock."""

    memories: Memories
    clock: FixedClock

    def tick(self, **by: float) -> None:
        """Never the same moment on both: the clocks of two machines do not agree to the microsecond."""
        self.clock.advance(seconds=2, **by)

    def take(self, other: Machine) -> Imported:
        """Imports what the other one exports now."""
        return self.take_lines(list(other.memories.export()))

    def take_lines(self, lines: Sequence[str]) -> Imported:
        self.tick()
        [imported] = self.memories.import_archive(lines)
        return imported

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for line in self.memories.export():
            entry = json.loads(line)
            if "table" in entry:
                found.setdefault(entry["table"], []).append(entry["row"])
        return found

    def says(self) -> list[str]:
        """All that the space says, without what only this machine needs."""
        told = []
        for table, rows in self.rows().items():
            for row in rows:
                if table in OWN or row.get("action") == SYNCED:
                    continue
                kept = {name: value for name, value in row.items() if name not in ("seq", "ordered_at")}
                told.append(json.dumps([table, kept], sort_keys=True, ensure_ascii=False))
        return sorted(told)

    def find(self, *states: State) -> list[Memory]:
        return list(self.memories.find(Filter(states=states or ("active", "inactive"))).memories)

    def damage(self) -> Damage:
        with self.memories.store.read(self.memories.space) as tx:
            return tx.integrity.damage()


def ids_of(letter: str) -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"{letter}{next(numbers):07d}"


def two_machines(store: Store, profile: str, *, apart: bool = False) -> tuple[Machine, Machine]:
    """Two new spaces; the second begins with the archive of the first, unless they are made `apart`."""
    pair = []
    number = next(_numbers)
    for letter, late in (("a", 0), ("b", 1)):
        clock = FixedClock(DEFAULT_START + timedelta(seconds=late))
        name = f"{profile}-{letter}{number}"
        create_space(name, store=store, clock=clock, profile=profile)
        memories = Memories.of(store, name, clock=clock, ids=ids_of(letter), judge=ScriptedJudge())
        pair.append(Machine(memories, clock))
    one, other = pair
    if not apart:
        other.take(one)
    return one, other


def in_step(one: Machine, other: Machine) -> None:
    """One exchange in each direction."""
    other.take(one)
    one.take(other)
