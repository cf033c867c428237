"""The store: opens a database, hands out transactions, and keeps both databases' differences to itself."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from holdfast.engine.ports import Space
from holdfast.errors import Conflict, NotFound, Unavailable
from holdfast.store import migrate, postgres, scrub, sqlite
from holdfast.store.spaces import SpaceTable
from holdfast.store.transaction import SpaceTransaction
from holdfast.store.trouble import unavailable


class Database:
    """A SQLite file or a PostgreSQL database with our schema in it."""

    def __init__(self, engine: Engine, *, path: Path | None = None) -> None:
        self.engine = engine
        self.path = path
        self._lock = sqlite.WriteLock(path) if path else None

    @classmethod
    def open(cls, target: str) -> "Database":
        """The database at `target`, a file path or a postgresql:// URL, at this release's schema.

        A file is made and brought up to date by itself; a server waits for `migrate`.
        Raises: Unavailable, NewerSchema, Invalid.
        """
        database = cls._connect(target)
        with database._troubles():
            with database._connected() as connection:
                if database.path and sqlite.foreign(connection):
                    raise Unavailable(
                        f"{database.where()} belongs to another program: name another file with --db"
                    )
                found = migrate.revision(connection)
            migrate.refuse_newer(found, database.where())
            if found != migrate.HEAD:
                if database.path is None:
                    raise Unavailable(
                        f"{database.where()} is not at this release's schema: run `holdfast migrate`"
                    )
                database._migrate_file()
        return database

    @classmethod
    def migrated(cls, target: str) -> tuple["Database", str | None]:
        """The same, but a server's schema is brought up to date as well; with the revision it was at."""
        database = cls._connect(target)
        with database._troubles():
            with database._connected() as connection:
                found = migrate.revision(connection)
            migrate.refuse_newer(found, database.where())
            if database.path is None and found != migrate.HEAD:
                migrate.upgrade(database.engine)
        if database.path is not None:
            database.close()
            return cls.open(target), found
        return database, found

    @classmethod
    def _connect(cls, target: str) -> "Database":
        target = target.removeprefix("sqlite:///")
        if "://" in target:
            return cls(postgres.open_engine(postgres.server_url(target)))
        path = Path(target).expanduser().absolute()
        try:
            return cls(sqlite.open_engine(path), path=path)
        except OSError as error:
            raise unavailable(error, str(path)) from None

    def where(self) -> str:
        """The place in words, without a password."""
        return str(self.path) if self.path else self.engine.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self, space: str) -> Iterator[SpaceTransaction]:
        """A consistent view of one space.

        Raises: NotFound, Unavailable.
        """
        with self._troubles(), self._connected() as connection:
            if self.path is None:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield self._in(space, connection)

    @contextmanager
    def write(self, space: str) -> Iterator[SpaceTransaction]:
        """One writer in a space at a time; commits when the block ends, or changes nothing.

        Raises: NotFound, Unavailable.
        """
        with self._troubles(), self._writing():
            with self._connected() as connection:
                connection.execution_options(holdfast_write=True)
                with connection.begin():
                    SpaceTable(connection).lock(space)
                    yield self._in(space, connection)
            self._checkpoint_when_long()

    def spaces(self) -> list[Space]:
        with self._troubles(), self._connected() as connection, connection.begin():
            return SpaceTable(connection).all()

    def space(self, name: str) -> Space | None:
        with self._troubles(), self._connected() as connection, connection.begin():
            return SpaceTable(connection).get(name)

    def create_space(self, space: Space) -> None:
        """Raises: Conflict, when the name is taken."""
        with self._changing() as connection:
            if not SpaceTable(connection).add(space):
                raise Conflict(f"space {space.name!r} exists already: choose another name")

    def delete_space(self, name: str) -> None:
        """Removes a space with everything in it, searchable words included."""
        with self._changing() as connection:
            if self.path:
                docs = "SELECT doc FROM memory_docs WHERE space = :name"
                words = text(f"DELETE FROM memory_words WHERE rowid IN ({docs})")
                connection.execute(words, {"name": name})
            SpaceTable(connection).remove(name)

    def scrub(self, texts: Sequence[str], memory_ids: Sequence[str], space: str) -> list[str]:
        """Removes what deleting rows leaves behind; answers what is left that can't be reached from here."""
        with self._troubles(), self._writing():
            if self.path is None:
                return scrub.postgres(self.engine)
            return scrub.sqlite_files(self.engine, self.path, texts=texts, memory_ids=memory_ids, space=space)

    def close(self) -> None:
        """Lets go of the database. The last connection of all checkpoints, so it closes under the lock."""
        if self.path is None or not self.path.exists():
            self.engine.dispose()
            return
        try:
            with self._writing():
                self.engine.dispose()
        except (Unavailable, OSError):
            self.engine.dispose()

    def _in(self, space: str, connection: Connection) -> SpaceTransaction:
        found = SpaceTable(connection).get(space)
        if found is None:
            raise NotFound(f"there is no space {space!r}: create it with `holdfast space create {space}`")
        return SpaceTransaction(connection, found)

    def _migrate_file(self) -> None:
        assert self.path is not None
        with self._writing():
            with self._connected() as connection:
                found = migrate.revision(connection)  # another process may have been faster
            if found == migrate.HEAD:
                return
            if found is not None:
                self._copy_aside(found)
            migrate.upgrade(self.engine)
            with self._connected() as connection:
                connection.exec_driver_sql(f"PRAGMA application_id = {sqlite.APPLICATION_ID}")

    def _copy_aside(self, found: str) -> None:
        """A copy of the file as it was, beside it, before a migration touches it."""
        assert self.path is not None
        with self._connected() as connection:
            sqlite.checkpoint(connection)
        copy = self.path.with_name(f"{self.path.name}.before-{found}.bak")
        shutil.copyfile(self.path, copy)
        os.chmod(copy, 0o600)

    def _writing(self) -> AbstractContextManager[None]:
        return self._lock.held() if self._lock else nullcontext()

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        with self._troubles(), self._writing(), self._connected() as connection:
            connection.execution_options(holdfast_write=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    def _checkpoint_when_long(self) -> None:
        if self.path and sqlite.log_size(self.path) > sqlite.LOG_LIMIT:
            with self._connected() as connection:
                sqlite.checkpoint(connection)

    @contextmanager
    def _troubles(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except (SQLAlchemyError, OSError) as error:
            raise unavailable(error, self.where()) from error
