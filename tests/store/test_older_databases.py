"""Databases of older releases: read in full, copied before they are changed, refused when they are newer."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.app.wiring import migrate as migrate_store
from holdfast.domain.memory import Memory, Source
from holdfast.errors import Unavailable
from holdfast.store import migrate
from holdfast.store.database import Database
from holdfast.testing import FixedClock
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.store.full_space import ELSEWHERE, fill
from tests.store.make_fixture import FIXTURES, load
from tests.store.test_migrations import MIGRATIONS, REVISIONS, file_of


@requirement("ops.schema")
def test_there_is_a_fixture_of_every_revision() -> None:
    assert sorted(file.stem for file in FIXTURES.glob("*.sql")) == REVISIONS


@requirement("ops.schema")
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_database_of_an_older_release_opens_and_every_field_is_there(tmp_path: Path, revision: str) -> None:
    file = tmp_path / "holdfast.db"
    load(revision, file)

    with Memories.open(str(file)) as memories:
        found = {memory.id: memory for memory in memories.find().memories}
        story = memories.why("Id000002")
        waiting = [item.memory.id for item in memories.inbox()]
        hits = [hit.memory.id for hit in memories.recall("green tea").memories]

    assert found["Id000002"] == Memory(
        id="Id000002",
        space="default",
        category="general",
        content="Ada likes green tea without milk 茶 🫖",
        subject="Ada",
        summary="tea",
        project=None,
        confidence=0.9,
        importance=5,
        tags=("drink", 'quo"te'),
        state="active",
        waiting_for=None,
        pinned=True,
        version=2,
        source=Source(origin="assistant", session="run-1", message="Id000001", tier=2),
        created_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        updated_at=datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC),
        confirmed_at=datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC),
        decayed_weeks=0,
        accessed_at=datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC),
        accesses=1,
    )
    assert [found[f"Id00000{n}"].content for n in (3, 4)] == [
        "Takes 60s to start after restart",
        "Takes 30s to start after restart",
    ]
    assert [version.content for version in story.versions] == [
        "Ada likes tea without milk 茶 🫖",
        "Ada likes green tea without milk 茶 🫖",
    ]
    assert [entry.action for entry in story.entries] == ["added", "revised", "linked"]
    assert story.session is not None
    assert (story.session.name, story.session.exit_code) == ("A run", 0)
    assert [message.content for message in story.messages] == ["I like tea with — honestly — no milk: 茶 🫖"]
    assert [use.kind for use in story.uses] == ["recall", "brief"]
    assert waiting == ["Id000005"]
    assert hits == ["Id000002"]


@requirement("ops.schema")
@pytest.mark.parametrize("revision", [one for one in REVISIONS if one >= "0004"])  # the first with such rows
def test_what_was_reported_spent_and_filed_is_there_after_an_upgrade(tmp_path: Path, revision: str) -> None:
    file = tmp_path / "holdfast.db"
    load(revision, file)

    with Memories.open(str(file), clock=FixedClock(datetime(2026, 4, 1, 12, 30, tzinfo=UTC))) as memories:
        [event] = memories.events(session="run-1")
        [standing] = memories.cooldowns()
        [(purpose, spent)] = memories.spend().groups
        paths = {one.path: one.memory_id for one in memories.files()}
        directory = memories.directory()

    assert (event.level, event.service) == ("warning", "nas")
    assert (standing.attempts[0].action, standing.service) == ("restart", "jellyfin")
    assert (purpose, spent.calls, spent.micro_dollars, spent.unpriced_calls) == ("gate", 2, 7, 1)
    assert paths["media/jellyfin.md"] == "Id000003"
    assert paths["media/empty.md"] is None
    assert directory is not None
    assert (directory.path, directory.layout, directory.here) == (ELSEWHERE, "folders", False)


NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = "{previous}"


def upgrade() -> None:
    op.add_column("memories", sa.Column("mood", sa.Text()))
    op.execute("UPDATE memories SET mood = 'calm'")
"""


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The release after this one, with one revision more."""
    folder = tmp_path / "next_release"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "9001_mood.py").write_text(NEXT.format(previous=migrate.HEAD))
    monkeypatch.setattr(migrate, "_HERE", folder)
    monkeypatch.setattr(migrate, "HEAD", "9001")
    return "9001"


@requirement("ops.schema", "trust.private-files")
@pytest.mark.usefixtures("no_umask")
def test_a_file_is_copied_before_a_migration_changes_it(
    sqlite_url: str, next_release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_of(sqlite_url)
    with monkeypatch.context() as this_release:
        this_release.setattr(migrate, "HEAD", REVISIONS[-1])
        fill(sqlite_url)
        reader = Database.open(sqlite_url)  # keeps the log in use, so that it can't be emptied first
        with reader.read("default") as tx, Memories.open(sqlite_url) as memories:
            tx.memories.get("nobody")
            memories.remember("A late note that stands in the log alone", subject="late")
            before = list(memories.export())
    reader.close()

    with Memories.open(sqlite_url) as memories:
        after = list(memories.export())

    copy = file.with_name(f"{file.name}.before-{REVISIONS[-1]}.bak")
    monkeypatch.setattr(migrate, "HEAD", REVISIONS[-1])
    with Memories.open(str(copy)) as memories:
        copied = list(memories.export())
    assert after == copied == before
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not list(file.parent.glob("*.part*"))


@requirement("ops.schema")
def test_a_migrated_file_is_refused_by_the_release_before(
    sqlite_url: str, next_release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memories.open(sqlite_url).close()
    before = file_of(sqlite_url).read_bytes()
    monkeypatch.setattr(migrate, "HEAD", REVISIONS[-1])

    with pytest.raises(Exception, match=r"upgrade with `.* install .*`; nothing was changed"):
        Memories.open(sqlite_url)

    assert file_of(sqlite_url).read_bytes() == before


@requirement("ops.schema", "asst.postgres")
@pytest.mark.usefixtures("postgres_template")  # made of this release, before the next one takes its place
def test_a_server_is_migrated_by_command_only(
    new_postgresql_database: NewDatabase, next_release: str
) -> None:
    url = new_postgresql_database()
    with pytest.raises(Unavailable, match="is not at this release's schema") as wrong:
        Memories.open(url)
    assert wrong.value.command == "run `holdfast migrate`"

    assert migrate_store(url) == (REVISIONS[-1], next_release)

    Memories.open(url).close()
