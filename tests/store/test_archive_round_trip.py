"""export, import, export: the same bytes, on either database and across them."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import Memories
from holdfast.app.wiring import open_store, utc_now
from holdfast.engine.archive import read
from holdfast.engine.backup import backup_lines, put_back
from holdfast.engine.spaces import create_space
from holdfast.errors import Invalid
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.store.full_space import fill

FILLED = {
    "sessions",
    "messages",
    "memories",
    "versions",
    "citations",
    "repetitions",
    "links",
    "receipts",
    "receipt_items",
    "tombstones",
    "events",
    "cooldowns",
    "jobs",
    "spend",
    "journal",
    "calls",
    "files",
}


def exported(url: str) -> list[str]:
    with Memories.open(url) as memories:
        return list(memories.export())


def imported(lines: list[str], url: str) -> list[str]:
    """What the store at `url` exports after it has taken the archive in."""
    with Memories.open(url) as memories:
        memories.import_archive(lines)
        return list(memories.export())


@requirement("trust.export-erase")
@pytest.mark.parametrize("way", ["sqlite to postgresql", "postgresql to sqlite"])
def test_an_export_is_the_same_bytes_after_a_trip_through_the_other_database(
    new_sqlite_database: NewDatabase, new_postgresql_database: NewDatabase, way: str
) -> None:
    here, there = new_sqlite_database, new_postgresql_database
    if way == "postgresql to sqlite":
        here, there = there, here
    start = here()
    fill(start)
    lines = exported(start)

    at_the_other = imported(lines, there())
    back = imported(at_the_other, here())

    assert {json.loads(line)["table"] for line in lines[1:-1]} == FILLED
    assert at_the_other == lines
    assert back == lines


@requirement("trust.export-erase")
def test_both_databases_export_the_same_history_as_the_same_bytes(
    new_sqlite_database: NewDatabase, new_postgresql_database: NewDatabase
) -> None:
    one, other = new_sqlite_database(), new_postgresql_database()
    fill(one)
    fill(other)

    rows = [exported(url)[1:-1] for url in (one, other)]

    assert without_hashes(rows[0]) == without_hashes(rows[1])


def without_hashes(lines: list[str]) -> list[dict[str, object]]:
    """Rows without what a space's own key makes different everywhere."""
    rows = [json.loads(line) for line in lines]
    for row in rows:
        row["row"].pop("hash", None)
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


@requirement("trust.export-erase")
def test_an_import_restores_every_field(new_database: NewDatabase) -> None:
    start, end = new_database(), new_database()
    fill(start)
    with Memories.open(start) as before, Memories.open(end) as after:
        after.import_archive(before.export())
        ids = [memory.id for memory in before.find().memories]

        assert ids
        assert before.find().memories == after.find().memories
        for memory_id in ids:
            assert before.why(memory_id) == after.why(memory_id)
        assert after.recall("green tea").memories[0].memory.subject == "Ada"


@requirement("trust.export-erase")
def test_taking_the_same_archive_in_twice_changes_nothing(new_database: NewDatabase) -> None:
    start, end = new_database(), new_database()
    fill(start)
    lines = exported(start)
    once = imported(lines, end)

    assert imported(lines, end) == once


@requirement("trust.backup")
def test_a_backup_of_several_spaces_puts_each_back(new_database: NewDatabase) -> None:
    start, end = new_database(), new_database()
    fill(start)
    store = open_store(start)
    create_space("ops", store=store, clock=utc_now, profile="ops")
    Memories.of(store, "ops").remember("Takes 60s to start", category="timing", subject="jellyfin")
    lines = list(backup_lines(store))
    store.close()

    target = open_store(end)
    told = put_back(list(read(lines)), store=target, clock=utc_now)

    assert [part.space for part in told] == ["default", "ops"]
    assert list(backup_lines(target)) == lines
    target.close()


@requirement("trust.export-erase")
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=4))
def test_any_text_survives_export_and_import(new_sqlite_database: NewDatabase, texts: list[str]) -> None:
    start, end = new_sqlite_database(), new_sqlite_database()
    with Memories.open(start) as memories:
        for number, content in enumerate(texts):
            with suppress(Invalid):
                memories.remember(f"{number} {content}", subject=f"s{number}", tags=[content])
        lines = list(memories.export())
        contents = [memory.content for memory in memories.find().memories]

    again = imported(lines, end)

    assert again == lines
    with Memories.open(end) as memories:
        assert [memory.content for memory in memories.find().memories] == contents
