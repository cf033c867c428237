"""The store: opens a database, hands out transactions, and keeps both databases' differences to itself."""

# budget: one method for each of the Store port's

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine

from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.domain.space import Space
from holdfast.errors import Conflict, HoldfastError, Unavailable, no_space
from holdfast.store import migrate, postgres, sqlite
from holdfast.store.error_texts import REFUSALS, TROUBLES, refused, unavailable
from holdfast.store.spaces import SpaceTable, TokenTable, leave_tokens
from holdfast.store.sqlite_driver import encrypts
from holdfast.store.transaction import Caches, SpaceTransaction
from holdfast.store.types import DamagedValue

if TYPE_CHECKING:
    from holdfast.store.browsers import BrowserTable
    from holdfast.store.near_index import Built
    from holdfast.store.replica import Replica

#: What comes of a value that is not of its column's kind, wherever it is first used.
_MISREAD = (TypeError, ValueError, AttributeError)


class Database:
    """A SQLite file or a PostgreSQL database with our schema in it."""

    def __init__(
        self, engine: Engine, *, path: Path | None = None, file: sqlite.OpenFile | None = None
    ) -> None:
        self.engine = engine
        self.path = path
        self._file = file
        self.watchers: list[Callable[[str], None]] = []  # told which space was written to, after the commit
        self._lock = sqlite.WriteLock(path) if path else None
        self._caches = Caches()
        self.replica: Replica | None = None
        self.tokens = TokenTable(self._looking, self._changing)

    @classmethod
    def open(cls, target: str, *, replica: str | None = None) -> "Database":
        """The database at `target`, a file path or a postgresql:// URL, at this release's schema.

        A file is made and brought up to date by itself; a server waits for `migrate`, and may have a
        `replica` for reads. Raises: Unavailable, NewerSchema, Invalid.
        """
        database = cls._connect(target)
        with database._closed_on_trouble():
            found = database._revision()
            if found != migrate.HEAD:
                if database.path is None:
                    raise Unavailable(
                        f"{database.where()} is not at this release's schema",
                        command="run `holdfast migrate`",
                    )
                database._migrate_file()
            if replica and database.path is None:
                from holdfast.store.replica import Replica

                database.replica = Replica(replica, primary=database._looking)
        return database

    @classmethod
    def migrated(cls, target: str) -> tuple["Database", str | None]:
        """The same, but a server's schema is brought up to date as well; with the revision it was at."""
        database = cls._connect(target)
        with database._closed_on_trouble():
            found = database._revision()
            if found != migrate.HEAD:
                if database.path is None:
                    migrate.upgrade(database.engine)
                else:
                    database._migrate_file()
        return database, found

    @classmethod
    def _connect(cls, target: str) -> "Database":
        target = target.removeprefix("sqlite:///")
        if "://" in target:
            return cls(postgres.open_engine(postgres.server_url(target)))
        path = Path(target).expanduser().absolute()
        try:
            engine, file = sqlite.open_engine(path)
            if sqlite.foreign(path):
                raise Unavailable(f"{path} belongs to another program", command="name another file with --db")
        except TROUBLES as error:
            raise unavailable(error, str(path)) from error
        return cls(engine, path=path, file=file)

    def index_large_spaces(self) -> list["Built"]:
        """Gives large spaces on a server an index for search by meaning, as the owner of the tables may."""
        if self.path is not None:
            return []
        from holdfast.store.near_index import renew

        with self._closed_on_trouble():
            return list(renew(self.engine))

    def distribute(self, shards: int | None) -> list[str]:
        """Spreads a server's tables over its nodes; those that were not. Raises: Invalid, Unavailable."""
        from holdfast.store import citus

        with self._closed_on_trouble():
            return citus.spread(self.engine, shards)

    @property
    def browsers(self) -> "BrowserTable":
        from holdfast.store.browsers import BrowserTable

        return BrowserTable(self._looking, self._changing)

    @property
    def encrypted(self) -> bool:
        """Whether it is a file that is encrypted with a key of ours."""
        return self.path is not None and encrypts

    def where(self) -> str:
        """The place in words, without a password."""
        return str(self.path) if self.path else self.engine.url.render_as_string(hide_password=True)

    def check(self) -> None:
        """Raises: Unavailable, when the database file was removed or replaced since it was opened."""
        if self._file is not None:
            self._file.check()

    @contextmanager
    def read(
        self, space: str, *, replica: bool = False, reader: Reader = ALL_MEMORIES
    ) -> Iterator[SpaceTransaction]:
        """A consistent view of one space for `reader`, from the `replica` if one shows all of it.

        Raises: NotFound, Unavailable, ReplicaAway.
        """
        if replica and self.replica is not None:
            with self.replica.showing(space) as there:
                if there is not None:
                    yield self._in(space, there, reader)
                    return
        with self._troubles(), self.engine.connect() as connection:
            if self.path is None:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                self._enter(space, connection)
                yield self._in(space, connection, reader)

    @contextmanager
    def write(
        self, space: str, *, urgent: bool = False, reader: Reader = ALL_MEMORIES
    ) -> Iterator[SpaceTransaction]:
        """One writer in a space at a time; commits when the block ends, or changes nothing.

        Who is urgent passes other writers of this process. Raises: NotFound, Unavailable.
        """
        with self._troubles(), self.writing(urgent=urgent):
            with self.engine.connect() as connection:
                connection.execution_options(holdfast_write=True)
                with connection.begin():
                    self._enter(space, connection)
                    SpaceTable(connection).lock(space, counted=self.path is None)
                    yield (transaction := self._in(space, connection, reader))
                    transaction.ranks.settle()
                    transaction.usage.settle()
            self.check()  # what was committed into a file without a name is not acknowledged
            if self.path and sqlite.log_size(self.path) > sqlite.LOG_LIMIT:
                from holdfast.store.copy_follower import checkpoint

                # The change is committed: trouble from here on must not look like a failed write.
                with suppress(*TROUBLES), self.engine.connect() as connection:
                    checkpoint(self.path, partial(sqlite.checkpoint, connection))
        self._tell_watchers(space)

    def spaces(self) -> list[Space]:
        with self._looking() as connection:
            return SpaceTable(connection).all()

    def space(self, name: str) -> Space | None:
        with self._looking() as connection:
            return SpaceTable(connection).get(name)

    def create_space(self, space: Space) -> None:
        """Raises: Conflict, when the name is taken."""
        with self._changing() as connection:
            self._enter(space.name, connection)
            if not SpaceTable(connection).add(space):
                raise Conflict(f"space {space.name!r} already exists: choose another name")

    def save_space(self, space: Space) -> None:
        """Stores what may change of a space.

        Raises: NotFound.
        """
        with self._changing() as connection:
            self._enter(space.name, connection)
            SpaceTable(connection).lock(space.name, counted=self.path is None)
            if not SpaceTable(connection).save(space):
                raise no_space(space.name)

    def delete_space(self, name: str) -> None:
        """Removes a space with everything in it, searchable words included."""
        from holdfast.store.full_text import MEMORIES, MESSAGES
        from holdfast.store.full_text_sqlite import SqliteFullText

        with self._changing() as connection:
            for index in (MEMORIES, MESSAGES) if self.path else ():
                SqliteFullText[Any](connection, name, index, self._caches.totals).clear()
            leave_tokens(connection, name)
            SpaceTable(connection).remove(name)
        self._tell_watchers(name)

    def scrub(
        self, texts: Sequence[str], memory_ids: Sequence[str], space: str, message_ids: Sequence[str] = ()
    ) -> list[str]:
        """Removes what deleting rows leaves behind; answers what is left that can't be reached from here."""
        from holdfast.store import copy_follower, scrub

        with self._troubles(), self.writing():
            self.check()
            if self.path is None:
                return postgres.vacuum(self.engine)
            gone = scrub.Gone(space, tuple(memory_ids), tuple(message_ids))
            files = partial(scrub.scrub_files, self.engine, self.path, texts=texts, gone=gone)
            erased = bool(memory_ids or message_ids)
            return copy_follower.erase_from_copy(self, files, older_too=erased)

    def followed(self) -> bool | None:
        """Whether the continuous copy has a follower; none where there is no copy."""
        from holdfast.store.copy_follower import is_followed

        return is_followed(self.path) if self.path else None

    def close(self) -> None:
        """Lets go of the database, without waiting for anybody.

        The last connection of all checkpoints; SQLite locks the file for that, so that no other is open then.
        """
        self.engine.dispose()
        if self.replica is not None:
            self.replica.close()

    def _enter(self, space: str, connection: Connection) -> None:
        """Tells the server, which shows a transaction the rows of this space alone."""
        if self.path is None:
            postgres.enter(space, connection)

    def _in(self, space: str, connection: Connection, reader: Reader) -> SpaceTransaction:
        found = SpaceTable(connection).get(space)
        if found is None:
            raise no_space(space)
        return SpaceTransaction(connection, found, self._caches, reader)

    def _revision(self) -> str | None:
        """The schema that is there; none for a new database.

        Raises: NewerSchema.
        """
        is_new = self.path is not None and self.path.stat().st_size == 0
        # Of many processes that open a new file, one at a time may switch it to a write-ahead log.
        with self.writing() if is_new else nullcontext():
            found = self._asked_revision()
        migrate.refuse_unknown(found, self.where())
        return found

    def _asked_revision(self) -> str | None:
        with self.engine.connect() as connection:
            return migrate.revision(connection)

    def _migrate_file(self) -> None:
        assert self.path is not None
        with self.writing():
            found = self._asked_revision()  # another process may have been faster
            if found == migrate.HEAD:
                return
            if found is not None:
                copy = self.path.with_name(f"{self.path.name}.before-{found}.bak")
                with self.engine.connect() as connection:
                    sqlite.copy_to(connection, copy)
            migrate.upgrade(self.engine)

    def writing(self, *, urgent: bool = False) -> AbstractContextManager[None]:
        """Holds the write lock of a file."""
        return self._lock.held(urgent=urgent) if self._lock else nullcontext()

    @contextmanager
    def _looking(self) -> Iterator[Connection]:
        with self._troubles(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        with self._troubles(), self.writing(), self.engine.connect() as connection:
            connection.execution_options(holdfast_write=True)
            with connection.begin():
                yield connection
            self.check()

    def _tell_watchers(self, space: str) -> None:
        for watcher in self.watchers:
            watcher(space)

    @contextmanager
    def _closed_on_trouble(self) -> Iterator[None]:
        try:
            with self._troubles():
                yield
        except HoldfastError:
            self.close()
            raise

    @contextmanager
    def _troubles(self) -> Iterator[None]:
        try:
            yield
        except REFUSALS as error:
            if (refusal := refused(error)) is None:
                raise unavailable(error, self.where()) from error
            raise refusal from error
        except TROUBLES as error:
            raise unavailable(error, self.where()) from error
        except _MISREAD as error:
            if self._holds_other_kinds():
                raise unavailable(DamagedValue(), self.where()) from error
            raise

    def _holds_other_kinds(self) -> bool:
        """Whether values of the file are not what they were written as."""
        if self.path is None:
            return False
        with self.engine.connect() as connection:
            from holdfast.store import health

            return bool(health.of_another_kind(sqlite.driver_of(connection)))
