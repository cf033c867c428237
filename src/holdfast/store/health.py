"""Looks at a database without changing it: place, size, schema, integrity.

SQLite takes a value of any kind in any column, so only damage leaves another there: one flipped bit makes a
text into bytes. Nobody looks for that while all goes well; it is asked where reading went wrong, and by
`holdfast doctor`.
"""

from contextlib import closing
from pathlib import Path

from sqlalchemy import Boolean, Float, Integer, LargeBinary, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql.schema import Column
from sqlalchemy.types import TypeDecorator

from holdfast.domain.health import Health
from holdfast.store import citus, migrate, postgres, sqlite
from holdfast.store.error_texts import unavailable
from holdfast.store.schema import metadata
from holdfast.store.sqlite_driver import sqlite3

_KINDS = (  # what SQLite calls the kinds of a column
    (LargeBinary, ("blob",)),
    (Boolean | Integer, ("integer",)),
    (Float, ("real", "integer")),
)


def examine(target: str) -> Health:
    """What can be seen of the database at `target`, a file path or a postgresql:// URL.

    Raises: Unavailable, Invalid.
    """
    target = target.removeprefix("sqlite:///")
    if "://" in target:
        return _server(target)
    path = Path(target).expanduser().absolute()
    try:
        return _file(path)
    except OSError as error:
        raise unavailable(error, str(path)) from None


def _file(path: Path) -> Health:
    if not path.exists():
        return Health(
            where=str(path), kind="sqlite", exists=False, version=sqlite3.sqlite_version, head=migrate.HEAD
        )
    seen = path.stat()
    revision, damage = _inside(path)
    return Health(
        where=str(path),
        kind="sqlite",
        version=sqlite3.sqlite_version,
        size=seen.st_size,
        mode=seen.st_mode & 0o777,
        log_size=sqlite.log_size(path),
        revision=revision,
        head=migrate.HEAD,
        damage=damage,
    )


def _inside(path: Path) -> tuple[str | None, tuple[str, ...]]:
    """The schema's revision, and what the integrity check complains about."""
    try:
        with closing(sqlite.opened_to_read(path, 5.0)) as connection:
            checked = [str(row[0]) for row in connection.execute("PRAGMA quick_check(10)")]
            ours = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
            row = None
            if connection.execute(ours).fetchone():
                row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            if row and row[0] == migrate.HEAD:
                checked += [
                    f"{column} has a value of the wrong type" for column in of_another_kind(connection)
                ]
    except sqlite3.DatabaseError as error:
        return None, (str(error),)
    return (str(row[0]) if row else None), tuple(line for line in checked if line != "ok")


def of_another_kind(connection: sqlite3.Connection) -> list[str]:
    """The columns that hold such a value, as table.column.

    Raises: sqlite3.Error.
    """
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    found = []
    for table in metadata.sorted_tables:
        if table.name not in there:
            continue
        columns = list(table.columns)
        wrong = ", ".join(f"max({_is_wrong(column)})" for column in columns)
        answer = connection.execute(f'SELECT {wrong} FROM "{table.name}"').fetchone()
        found += [f"{table.name}.{column.name}" for column, bad in zip(columns, answer, strict=True) if bad]
    return found


def _is_wrong(column: Column[object]) -> str:
    kind = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    allowed = next((names for family, names in _KINDS if isinstance(kind, family)), ("text",))
    kinds = ", ".join(f"'{name}'" for name in (*allowed, "null"))
    return f'typeof("{column.name}") NOT IN ({kinds})'


def _server(target: str) -> Health:
    engine = postgres.open_engine(postgres.server_url(target))
    where = engine.url.render_as_string(hide_password=True)
    try:
        with engine.connect() as connection:
            return Health(
                where=where,
                kind="postgresql",
                version=str(connection.execute(text("SHOW server_version")).scalar_one()),
                size=connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one(),
                revision=migrate.revision(connection),
                head=migrate.HEAD,
                beyond_row_security=postgres.beyond_row_security(connection),
                cluster=citus.cluster(connection),
            )
    except SQLAlchemyError as error:
        raise unavailable(error, where) from error
    finally:
        engine.dispose()
