"""erase leaves no byte behind in any file of ours, and touches nobody else's memories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from holdfast import Memories
from holdfast.domain.memory import State
from holdfast.domain.outcomes import settled
from holdfast.domain.query import Filter
from holdfast.language.comparison import Statement, Verdict
from holdfast.store import sqlite
from holdfast.store.database import Database
from tests.requirements_ledger import requirement

MEMORIES, FEW = 25, 5  # one of each kind
EVERY_STATE: tuple[State, ...] = ("active", "inactive", "waiting", "forgotten")


@dataclass
class Planted:
    """Memories full of canaries, each in a field of its own, among neighbours that hold none."""

    ids: list[str] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def canary(self) -> str:
        self.canaries.append(f"quokka{next(self._numbers):04d}wombat")
        return self.canaries[-1]


class Credulous:
    """A judge that takes everything for the same."""

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        return [Verdict(relation="same", certain=True, similarity=0.9) for _ in pairs]


def plant(memories: Memories, amount: int = FEW) -> Planted:
    planted = Planted()
    for number in range(amount):
        planted.ids.append(plant_one(memories, planted, number))
        memories.remember(f"Neighbour {number} stays where it is", subject=f"n{number}", tags=["kept"])
    return planted


def plant_one(memories: Memories, planted: Planted, number: int) -> str:
    canary = planted.canary
    session, project = f"run-{number}", canary()
    agent = memories.speaking_as("user", session=session)
    said = memories.say(session, "user", f"I was told of {canary()} by somebody")
    memory = settled(
        agent.remember(
            f"First wording with {canary()} in it",
            subject=canary(),
            summary=f"in short {canary()}",
            project=project,
            tags=[canary(), "plain"],
            message=said.id,
            key=canary(),
            doubtful=f"because of {canary()}" if number % 5 == 4 else None,
        )
    )
    assert memory is not None
    second = canary()
    memories.revise(memory.id, f"Second wording with {second} in it")
    if number % 5 == 0:  # counted as a repetition, whatever it says
        swallowing = Memories.of(memories.store, memories.space, judge=Credulous())
        swallowing.remember(f"Another wording with {canary()} in it", subject=memory.subject, project=project)
    agent.recall(f"what about {second}", project=project)
    agent.brief(project=project)
    canary_of_link = memories.remember(f"A neighbour that is linked, number {number}", subject=f"l{number}")
    memories.link(memory.id, canary_of_link.memory.id)  # type: ignore[union-attr]
    if number % 5 == 2:
        memories.forget(memory.id)
    return memory.id


def traces(folder: Path, canaries: list[str]) -> dict[str, int]:
    """How many canaries each file still holds, whatever their case."""
    found = {}
    for file in sorted(folder.iterdir()):
        if file.is_file():
            content = file.read_bytes().lower()
            found[file.name] = sum(canary.encode() in content for canary in canaries)
    return found


def neighbours(memories: Memories, planted: Planted) -> list[str]:
    """Everything that belongs to a memory without canaries."""
    rows = [json.loads(line) for line in memories.export()][1:-1]
    names = {
        "versions": ("memory_id",),
        "memories": ("id",),
        "journal": ("memory_id",),
        "links": ("from_id", "to_id"),
    }
    return [
        json.dumps(row)
        for row in rows
        if row["table"] in names
        and not any(row["row"][column] in planted.ids for column in names[row["table"]])
    ]


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    """Alone in its folder, so that every file in it is ours."""
    folder = tmp_path / "store"
    folder.mkdir()
    return folder / "holdfast.db"


@requirement("trust.export-erase")
def test_no_byte_of_200_canaries_stays_in_any_file(store_file: Path) -> None:
    with Memories.open(str(store_file)) as memories:
        planted = plant(memories, MEMORIES)
        before = neighbours(memories, planted)
        stored = b"".join(file.read_bytes() for file in store_file.parent.iterdir())
        announced = memories.erasure(*planted.ids)

        report = memories.erase(*planted.ids)

        while_open = traces(store_file.parent, planted.canaries)
        assert neighbours(memories, planted) == before
    after = traces(store_file.parent, planted.canaries)
    assert len(planted.canaries) == 8 * MEMORIES + 2 * (MEMORIES // 5) > 200
    assert all(canary.encode() in stored for canary in planted.canaries)
    assert report.left == ()
    assert (announced.memories, announced.versions, announced.messages) == (
        report.memories,
        2 * MEMORIES + MEMORIES // 5,
        MEMORIES,
    )
    assert sum(while_open.values()) == 0, while_open
    assert sum(after.values()) == 0, after
    assert len(before) > 3 * MEMORIES


def test_with_scrubbing_switched_off_the_canaries_are_found(
    store_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database, "scrub", lambda *_: [])
    with Memories.open(str(store_file)) as memories:
        planted = plant(memories)
        memories.erase(*planted.ids)

        assert sum(traces(store_file.parent, planted.canaries).values()) > 0


@requirement("trust.export-erase")
def test_copies_made_before_a_migration_are_cleaned_too(store_file: Path) -> None:
    copy = store_file.with_name(f"{store_file.name}.before-0000.bak")
    unfinished = store_file.with_name(f"{store_file.name}.before-0000.bak.part")
    with Memories.open(str(store_file)) as memories:
        planted = plant(memories)
        before = neighbours(memories, planted)
        assert isinstance(memories.store, Database)
        with memories.store.engine.connect() as connection:
            sqlite.copy_to(connection, copy)
        unfinished.write_bytes(copy.read_bytes()[:50_000])
        stored = traces(store_file.parent, planted.canaries)

        report = memories.erase(*planted.ids)

    after = traces(store_file.parent, planted.canaries)
    assert stored[copy.name] == len(planted.canaries)
    assert report.left == ()
    assert sum(after.values()) == 0, after
    with Memories.open(str(copy)) as memories:
        assert neighbours(memories, planted) == before
        assert memories.recall("linked neighbour").hits


@requirement("trust.export-erase")
def test_an_erase_next_to_a_reader_names_the_log_and_the_next_one_empties_it(store_file: Path) -> None:
    with Memories.open(str(store_file)) as memories:
        planted = plant(memories)
        later = settled(memories.remember("Something else to erase later", subject="later"))
        assert later is not None
        with memories.store.read("default") as tx:
            tx.memories.count(Filter())

            report = memories.erase(*planted.ids)

        next_report = memories.erase(later.id)

        assert [f"{store_file.name}-wal" in left for left in report.left[:1]] == [True]
        assert next_report.left == ()
        assert sum(traces(store_file.parent, planted.canaries).values()) == 0


@requirement("trust.export-erase", "asst.postgres")
def test_on_a_server_the_rows_are_gone_and_the_report_names_what_it_can_not_reach(postgres_url: str) -> None:
    with Memories.open(postgres_url) as memories:
        planted = plant(memories)
        before = neighbours(memories, planted)
        stored = cells_with(postgres_url, "quokka")

        report = memories.erase(*planted.ids)

        assert neighbours(memories, planted) == before
    assert stored > 8 * FEW
    assert cells_with(postgres_url, "quokka") == 0
    assert "write-ahead log" in " ".join(report.left)
    assert "backups" in " ".join(report.left)


def cells_with(url: str, word: str) -> int:
    """In how many values of all tables the word stands."""
    engine = create_engine(url)
    found = 0
    with engine.connect() as connection:
        for table in inspect(connection).get_table_names():
            query = text(f'SELECT count(*) FROM "{table}" AS one WHERE one::text ILIKE :word')
            found += connection.execute(query, {"word": f"%{word}%"}).scalar_one()
    engine.dispose()
    return found


@requirement("trust.export-erase")
def test_what_was_erased_is_refused_but_nothing_of_it_can_be_read(store_file: Path) -> None:
    with Memories.open(str(store_file)) as memories:
        planted = plant(memories)
        memories.erase(*planted.ids)

        again = memories.remember("Second wording with quokka0007wombat in it")
        exported = "".join(memories.export())

        assert type(again).__name__ == "Refused"
        assert "quokka" not in exported
        assert memories.find(Filter(states=EVERY_STATE)).total == 2 * FEW
