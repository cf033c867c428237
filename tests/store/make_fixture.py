"""Writes a database of the present revision as SQL: `python -m tests.store.make_fixture`.

Run it once when a revision lands; a file under fixtures/ is never changed after that. One statement a row, so
that it reads well in a diff; the full-text table is written as rows too, its inner tables are made anew.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.store.full_space import fill
from tests.store.some_vectors import Hashing

FIXTURES = Path(__file__).parent / "fixtures"


def dump(file: Path) -> Iterator[str]:
    with closing(sqlite3.connect(file)) as connection:
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        yield f"PRAGMA application_id = {owner};"
        made = connection.execute(
            "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
            "AND name NOT LIKE 'memory_words_%' AND name NOT LIKE 'message_words_%' ORDER BY rowid"
        ).fetchall()
        yield from (f"{sql};" for _, _, sql in made)
        for table in (name for name, kind, _ in made if kind == "table" and not name.endswith("_terms")):
            yield from _rows(connection, table)


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    if table in ("memory_words", "message_words"):
        columns.insert(0, "rowid")
    quoted = " || ', ' || ".join(f'quote("{column}")' for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    for (values,) in connection.execute(f'SELECT {quoted} FROM "{table}" ORDER BY 1'):
        yield f'INSERT INTO "{table}" ({names}) VALUES ({values});'


def embed(file: Path) -> None:
    """Vectors too, short ones."""
    from holdfast.app.wiring import context_for, open_store
    from holdfast.engine.embedding import embed_missing
    from holdfast.testing import FixedClock

    store = open_store(str(file))
    embed_missing(
        context_for("default", store, clock=FixedClock(), embedder=Hashing(dimensions=4)), limit=1_000
    )
    store.close()


def load(revision: str, file: Path) -> None:
    """A database of an older revision, as its release left it."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        script = (FIXTURES / f"{revision}.sql").read_text(encoding="utf-8")
        connection.executescript(f"BEGIN;\n{script}COMMIT;\n")


def main() -> None:
    from holdfast.store.migrate import HEAD

    FIXTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "holdfast.db"
        os.environ["HOLDFAST_EMBEDDER"] = "none"  # whatever is set here: vectors are made below
        fill(str(file))
        embed(file)
        text = "\n".join(dump(file)) + "\n"
    (FIXTURES / f"{HEAD}.sql").write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote {HEAD}.sql, {len(text.splitlines())} lines\n")


if __name__ == "__main__":
    main()
