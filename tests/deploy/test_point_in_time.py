"""The drill of the guide on PostgreSQL: archive the log, lose the server, go back to before a mistake."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from holdfast import Memories
from holdfast.app.wiring import migrate, open_store
from holdfast.engine.administration import Administration
from holdfast.engine.tokens import grant_of
from tests.postgres import FAST, OwnServer
from tests.requirements_ledger import requirement

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "operations.md").read_text(encoding="utf-8")
PLACE = "/srv/holdfast"  # of the archive and the base backup, in the guide
PATIENCE = 60.0  # seconds for the server to archive its log


def settings(before: str) -> str:
    """The settings that the guide shows below a sentence."""
    found = re.search(re.escape(before) + r".*?```ini\n(.*?)```", GUIDE, re.DOTALL)
    assert found is not None
    return found.group(1)


@contextmanager
def archiving() -> Iterator[tuple[OwnServer, Path]]:
    """A server with the settings of the guide, and the folder that stands for /srv/holdfast."""
    place = Path("/nowhere")
    server = OwnServer(FAST)
    try:
        place = server.beside("srv")
        (place / "archive").mkdir()
        shutil.chown(place / "archive", place.owner())
        with (server.directory / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(settings("Archive the log").replace(PLACE, str(place)))
        server.stop()
        server.restart()
        yield server, place
    finally:
        server.close()
        shutil.rmtree(place, ignore_errors=True)


def wait_until_archived(url: str) -> None:
    """Ends the current file of the log, and waits for it in the archive."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        ended = connection.execute(text("SELECT pg_walfile_name(pg_switch_wal())")).scalar_one()
        deadline = time.monotonic() + PATIENCE
        archived = text("SELECT last_archived_wal >= :ended FROM pg_stat_archiver")
        while not connection.execute(archived, {"ended": ended}).scalar():
            assert time.monotonic() < deadline, "the server does not archive its log"
            time.sleep(0.05)
    engine.dispose()


@pytest.mark.slow
@pytest.mark.postgres
@requirement("trust.point-in-time")
def test_a_lost_server_is_restored_to_the_moment_before_a_mistake() -> None:
    with archiving() as (server, place):
        url = server.url.render_as_string(hide_password=False)
        migrate(url)
        with Memories.open(url) as memories:
            memories.remember("Written before the base backup", subject="first")
            secret = Administration(memories.store).create_token("read").secret
            source = server.url.set(drivername="postgresql").render_as_string(hide_password=False)
            options = ["--checkpoint=fast", "--wal-method=none"]
            server.program("pg_basebackup", "-d", source, "-D", str(place / "base"), *options)
            kept = memories.remember("Written after the base backup", subject="second").memory.id  # type: ignore[union-attr]
            expected = list(memories.export())
            moment = datetime.now(UTC)
            memories.erase(kept)
            memories.remember("Written after the mistake", subject="third")
            wait_until_archived(url)
        server.kill()

        restored = restore(place, moment)
        try:
            there = restored.url.render_as_string(hide_password=False)
            with Memories.open(there) as memories:
                found = list(memories.export())
                after = memories.remember("Written into the restored server", subject="fourth")
            store = open_store(there)
            grant = grant_of(secret, store=store, now=datetime.now(UTC))
            store.close()
        finally:
            restored.close()

    assert found == expected
    assert any("Written after the base backup" in line for line in found)
    assert not any("Written after the mistake" in line for line in found)
    assert type(after).__name__ == "Added"
    assert grant is not None


def restore(place: Path, moment: datetime) -> OwnServer:
    """A server that began with the base backup and read the archive up to a moment."""
    data = place / "base"
    lines = settings("restore to a time").replace(PLACE, str(place))
    lines = re.sub(r"(recovery_target_time = )'.*?'", rf"\1'{moment.isoformat()}'", lines)
    (data / "recovery.signal").touch()
    server = OwnServer(lines, data)
    engine = create_engine(server.url)
    deadline = time.monotonic() + PATIENCE
    with engine.connect() as connection:  # reads are answered before the recovery has ended
        while connection.execute(text("SELECT pg_is_in_recovery()")).scalar():
            assert time.monotonic() < deadline, "the recovery does not end"
            time.sleep(0.05)
    engine.dispose()
    return server
