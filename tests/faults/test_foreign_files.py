"""Files that are not ours, or not for this release: refused in one line, and left as they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast import Memories, Unavailable
from holdfast.errors import NewerSchema
from tests.requirements_ledger import requirement


def sql(file: Path, *statements: str) -> None:
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def text_file(file: Path) -> None:
    file.write_text("Dear diary, this is no database at all.\n" * 50)


def short_text_file(file: Path) -> None:
    file.write_text("hello")


def foreign_database(file: Path) -> None:
    sql(file, "CREATE TABLE customers (name TEXT)", "INSERT INTO customers VALUES ('Ada')")


def foreign_database_with_alembic(file: Path) -> None:
    sql(
        file,
        "CREATE TABLE alembic_version (version_num TEXT)",
        "INSERT INTO alembic_version VALUES ('0001')",
        "CREATE TABLE memories (id TEXT)",
    )


def newer_version(file: Path) -> None:
    Memories.open(str(file)).close()
    sql(file, "UPDATE alembic_version SET version_num = '9999'")


def newer_version_with_a_new_table(file: Path) -> None:
    Memories.open(str(file)).close()
    sql(
        file,
        "UPDATE alembic_version SET version_num = '0042'",
        "CREATE TABLE dreams (space TEXT, id TEXT)",
        "INSERT INTO dreams VALUES ('default', 'x')",
    )


REFUSED: dict[Callable[[Path], None], str] = {
    text_file: "is not a Holdfast database",
    short_text_file: "is not a Holdfast database",
    foreign_database: "belongs to another program",
    foreign_database_with_alembic: "belongs to another program",
    newer_version: "written by a newer Holdfast (schema 9999",
    newer_version_with_a_new_table: "written by a newer Holdfast (schema 0042",
}


@requirement("trust.durable")
@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_file_that_is_not_for_us_is_refused_in_one_line_and_stays(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    file = tmp_path / "holdfast.db"
    make(file)
    before = (file.read_bytes(), file.stat().st_ino)

    with pytest.raises(Unavailable) as caught:
        Memories.open(str(file))

    assert REFUSED[make] in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, NewerSchema) == make.__name__.startswith("newer")
    assert (file.read_bytes(), file.stat().st_ino) == before


def test_a_database_of_another_program_that_is_in_use_keeps_its_log(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.db"
    other = sqlite3.connect(file)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("CREATE TABLE customers (name TEXT)")
    log = tmp_path / "holdfast.db-wal"
    before = log.read_bytes()

    with pytest.raises(Unavailable, match="another program"):
        Memories.open(str(file))

    assert log.read_bytes() == before
    other.close()


def test_an_empty_file_becomes_a_new_store(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.db"
    file.touch()

    with Memories.open(str(file)) as memories:
        assert memories.find().total == 0


def test_a_folder_in_place_of_the_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="this is a folder, not a file"):
        Memories.open(str(tmp_path))
