"""The servers of a Citus cluster on this machine: killed, started again as they were, and one more."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from sqlalchemy import URL, NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from tests.web.service.two_services import until


class LocalNode:
    """A server that runs on this machine."""

    def __init__(self, url: URL) -> None:
        self.url = url.set(drivername="postgresql+psycopg")
        self.name = f"{url.host}:{url.port}"
        postmaster = self._asked("SELECT pg_read_file('postmaster.pid')")
        self._pid = int(postmaster.split()[0])
        self.directory = Path(self._asked("SHOW data_directory"))
        process = Path(f"/proc/{self._pid}")
        self.command = (process / "cmdline").read_bytes().decode().rstrip("\0").split("\0")
        entries = (process / "environ").read_bytes().decode().rstrip("\0").split("\0")
        self.environment = dict(entry.split("=", 1) for entry in entries)
        self.user = process.stat().st_uid

    def kill(self) -> None:
        """Ends it at once, as in a crash; its other processes see that and end too."""
        os.kill(self._pid, signal.SIGKILL)
        until(lambda: not self.answers())

    def start(self) -> None:
        """Starts it again, as often as it takes until the processes that were left have ended."""
        until(lambda: self.answers() or self._begins())
        until(self.answers)
        self._pid = int(self._asked("SELECT pg_read_file('postmaster.pid')").split()[0])

    def answers(self) -> bool:
        try:
            return self._asked("SELECT 'yes'") == "yes"
        except OperationalError:
            return False

    def _begins(self) -> bool:
        """Lets pg_ctl start it and wait, so that it is no child of ours."""
        control = [str(Path(self.command[0]).with_name("pg_ctl")), "-w", "-D", str(self.directory), "start"]
        return self._run([*control, "-l", str(self.directory.with_suffix(".log"))])

    def _run(self, command: list[str]) -> bool:
        """Whether it ended well."""
        user = self.user if os.getuid() == 0 else None
        quiet = subprocess.DEVNULL
        done = subprocess.run(
            command, env=self.environment, user=user, cwd="/", stdout=quiet, stderr=quiet, check=False
        )
        return done.returncode == 0

    def _asked(self, question: str) -> str:
        engine = create_engine(self.url, poolclass=NullPool)
        with engine.connect() as connection:
            return str(connection.execute(text(question)).scalar_one())


class OneMore(LocalNode):
    """A new server beside another one, with its settings; gone after `close`."""

    def __init__(self, like: LocalNode) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = like.url.set(port=port)
        self.name = f"{self.url.host}:{port}"
        self._home = Path(tempfile.mkdtemp(prefix="holdfast-node-"))
        os.chown(self._home, like.user, -1)
        self.directory, self.user, self.environment = self._home / "data", like.user, like.environment
        self.command = [like.command[0], "-D", str(self.directory)]
        initdb = str(Path(like.command[0]).with_name("initdb"))
        superuser = ["-U", str(like.url.username), "-A", "trust"]
        assert self._run([initdb, "-D", str(self.directory), *superuser, "-E", "UTF8"])
        settings = (like.directory / "postgresql.conf").read_text()
        (self.directory / "postgresql.conf").write_text(f"{settings}\nport = {port}\n")
        database, self.url = self.url.database, self.url.set(database="postgres")
        self.start()
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {database}"))
        self.url = self.url.set(database=database)
        for extension in ("citus", "vector"):
            engine = create_engine(self.url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
            with engine.connect() as connection:
                connection.execute(text(f"CREATE EXTENSION {extension}"))

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)
