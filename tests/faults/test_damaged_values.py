"""Single values that can't have been written so: what comes out is an answer or an error of the product."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import HoldfastError, Memories, Unavailable
from tests.faults.test_damaged_files import text_of, use
from tests.requirements_ledger import requirement

NOTES = 8
TABLES = "SELECT name FROM pragma_table_list WHERE type = 'table'"
ALWAYS_READ = {"spaces", "heads"}
Value = str | bytes | int | float | None


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("healthy") / "holdfast.db"
    with Memories.open(str(file)) as memories:
        for number in range(NOTES):
            memories.remember(f"{text_of(number % 3)} {number}", subject=f"s{number}", tags=["kept"])
        memories.brief()
    return file


def columns(file: Path) -> list[tuple[str, str]]:
    """Every column of every table of ours that holds something."""
    with closing(sqlite3.connect(file)) as database:
        tables = [name for (name,) in database.execute(TABLES)]
        filled = [
            name
            for name in tables
            if not name.startswith("sqlite_") and database.execute(f'SELECT 1 FROM "{name}"').fetchone()
        ]
        return [
            (table, column)
            for table in filled
            for (column,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,))
        ]


def another_kind(value: Value) -> Value:
    if isinstance(value, str):
        return b"\xff\xfe"
    return "x" if isinstance(value, bytes) else "not so"


def nearly_the_same(chance: random.Random) -> Callable[[Value], Value]:
    def harmed(value: Value) -> Value:
        if isinstance(value, str) and value:
            at = chance.randrange(len(value))
            return value[:at] + chr(ord(value[at]) ^ 1 << chance.randrange(7)) + value[at + 1 :]
        if isinstance(value, bytes):
            return value[:-1]
        return value + (1 << chance.randrange(40)) if isinstance(value, int | float) else value

    return harmed


def harmed_copies(
    healthy: Path, folder: Path, harm: Callable[[Value], Value], only: set[str] | None = None
) -> Iterator[tuple[str, Path]]:
    """A copy for every column whose values can be harmed, and the column's name."""
    for table, column in columns(healthy):
        if only is not None and table not in only:
            continue
        file = folder / f"{table}.{column}.db"
        shutil.copyfile(healthy, file)
        with closing(sqlite3.connect(file)) as database:
            database.execute("PRAGMA ignore_check_constraints = ON")
            database.create_function("harmed", 1, harm)
            try:
                database.execute(f'UPDATE "{table}" SET "{column}" = harmed("{column}")')
            except sqlite3.Error:  # two rows would be one, or the column takes no other kind
                continue
            database.commit()
        yield f"{table}.{column}", file


def outcomes(copies: Iterator[tuple[str, Path]]) -> dict[str, str]:
    """What using each copy came to; any exception but the product's own goes through."""
    found = {}
    for name, file in copies:
        try:
            use(file)
            found[name] = "answered"
        except HoldfastError as error:
            found[name] = "damaged" if "damaged" in str(error) else "told"
    return found


@requirement("trust.durable")
def test_values_of_another_kind_where_every_call_reads_are_told(healthy: Path, tmp_path: Path) -> None:
    found = outcomes(harmed_copies(healthy, tmp_path, another_kind, only=ALWAYS_READ))

    assert len(found) > 8
    assert found["spaces.key"] == "damaged"
    assert found["spaces.created_at"] == "damaged"


@requirement("trust.durable")
def test_a_key_with_one_wrong_digit_is_told_before_anything_is_compared_by_it(
    healthy: Path, tmp_path: Path
) -> None:
    file = tmp_path / "holdfast.db"
    shutil.copyfile(healthy, file)
    with closing(sqlite3.connect(file)) as database:
        database.execute("UPDATE spaces SET key = 'g' || substr(key, 2)")
        database.commit()

    with pytest.raises(Unavailable, match="the file is damaged"):
        use(file)


@pytest.mark.faults
@requirement("trust.durable")
def test_harm_to_any_column_never_brings_the_product_down(healthy: Path, tmp_path: Path) -> None:
    for harm in (another_kind, *(nearly_the_same(random.Random(seed)) for seed in range(5))):
        folder = tmp_path / str(id(harm))
        folder.mkdir()

        found = outcomes(harmed_copies(healthy, folder, harm))

        assert len(found) > 50
        assert "damaged" in found.values()
        shutil.rmtree(folder)
