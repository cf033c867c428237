"""What needs a vector is fed from the journal and from the order of messages: nothing is missed, nothing is
asked for twice, and where nothing is new the question costs next to nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from holdfast import Memories
from holdfast.app.wiring import context_for, open_store
from holdfast.domain.memory import Draft, Memory, Message
from holdfast.domain.query import EVERYTHING
from holdfast.engine import changes
from holdfast.engine.archive import read
from holdfast.engine.backup import backup_lines, put_back
from holdfast.engine.embedding import embed_missing, text_of
from holdfast.engine.intake import sanitize
from holdfast.engine.ports import Store, VectorRows
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import set_keeps_messages
from holdfast.errors import Unavailable
from holdfast.store import vector_feed
from holdfast.store.database import Database
from holdfast.store.mapping import values_of
from holdfast.testing import FixedClock
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, kept
from tests.store.some_vectors import Hashing

ROOT = Path(__file__).parents[2]
MODEL = Hashing()


@pytest.fixture
def embedder() -> Hashing:
    return Hashing()


@pytest.fixture
def ctx(store: Store, clock: FixedClock, embedder: Hashing) -> SpaceContext:
    return context_for("default", store, clock=clock, embedder=embedder)


@pytest.fixture
def memories(ctx: SpaceContext, clock: FixedClock) -> Memories:
    return Memories.of(ctx.store, "default", clock=clock)


def embed(ctx: SpaceContext, limit: int = 10_000) -> int:
    return embed_missing(ctx, limit=limit)


def check(ctx: SpaceContext) -> None:
    """Every active memory and every message that was said has its present text's vector, nothing else."""
    with ctx.store.read(ctx.space) as tx:
        for memory in tx.memories.find(EVERYTHING):
            assert has_its_vector(tx.memory_vectors, memory) == memory.active, memory
        ids = [row["id"] for row in tx.dump.rows("messages")]
        for message in tx.sessions.messages_by_id(ids):
            assert has_its_vector(tx.message_vectors, message) == message.findable, message


def has_its_vector(rows: VectorRows[Memory | Message], owner: Memory | Message) -> bool:
    found = rows.nearest([MODEL.query(text_of(owner))], MODEL.name, 1, also=[owner.id]).get(owner.id)
    assert found is None or found[0] > 0.9999, owner
    return found is not None


@requirement("sem.search")
def test_all_that_happens_to_memories_and_messages_reaches_their_vectors(
    ctx: SpaceContext, memories: Memories, embedder: Hashing
) -> None:
    one = add(memories, "The router is in the cellar", subject="router")
    two = add(memories, "Backups run nightly at three", subject="backup")
    doubtful = kept(memories.remember("The mail server is down", subject="mail", doubtful="odd"))
    message = memories.say("s1", "user", "I moved the router to the attic")
    memories.say("s1", "tool", "stdout: rebooted")
    assert embed(ctx) == 3
    check(ctx)

    steps: list[Callable[[], object]] = [
        lambda: memories.revise(one.id, "The router is in the attic"),
        lambda: memories.revise(one.id, tags=["network"]),
        lambda: memories.revise(two.id, subject="nas"),
        lambda: memories.forget(two.id),
        lambda: memories.restore(two.id),
        lambda: memories.revise(two.id, confidence=0.01),
        lambda: memories.revise(two.id, confidence=0.9),
        lambda: memories.approve(doubtful.id),
        lambda: memories.say("s1", "assistant", "Noted: the attic"),
        lambda: memories.erase(one.id),
    ]
    for step in steps:
        step()
        embed(ctx)
        check(ctx)

    assert embed(ctx) == 0
    assert message.content


@requirement("sem.search")
@pytest.mark.not_on_citus("counts statements; naming the space is one more")
def test_where_nothing_is_new_the_feed_costs_one_question(
    ctx: SpaceContext, memories: Memories, embedder: Hashing
) -> None:
    for number in range(30):
        add(memories, f"Note {number} about something of its own", subject=f"s{number}")
    embed(ctx)
    asked = embedder.asked
    assert isinstance(ctx.store, Database)

    with statements(ctx.store) as seen:
        embed(ctx)

    assert embedder.asked == asked
    # Besides what every transaction begins with: entering its space.
    entering = ("BEGIN", "FROM spaces", "set_config")
    assert len([one for one in seen if not any(part in one for part in entering)]) == 1
    with ctx.store.read("default") as tx, statements(ctx.store) as seen:
        assert not tx.memory_vectors.missing(embedder.name, 10).owners
        assert not tx.message_vectors.missing(embedder.name, 10).owners
    assert len(seen) == 2


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(database.engine, "before_cursor_execute", note)


def test_a_change_that_says_nothing_new_asks_for_no_vector(
    ctx: SpaceContext, memories: Memories, embedder: Hashing
) -> None:
    memory = add(memories, "The router is in the cellar", subject="router")
    embed(ctx)

    memories.remember("The router is in the cellar", subject="router")
    memories.revise(memory.id, importance=5)
    memories.revise(memory.id, confidence=0.6)

    assert embed(ctx) == 0
    check(ctx)


def test_a_limit_is_kept_and_the_rest_follows(ctx: SpaceContext, memories: Memories) -> None:
    for number in range(10):
        add(memories, f"Note {number} about something of its own", subject=f"s{number}")
        memories.say("s1", "user", f"Message {number}")

    told = [embed(ctx, limit) for limit in (3, 4, 0, 5, 100, 100)]

    assert told == [3, 4, 0, 5, 8, 0]
    check(ctx)


def test_a_long_journal_of_other_things_is_passed(
    ctx: SpaceContext, memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.store.vector_feed._WINDOW", 4)
    one = add(memories, "The router is in the cellar", subject="router")
    two = add(memories, "Backups run nightly at three", subject="backup")
    for _ in range(6):
        memories.link(one.id, two.id)
        memories.unlink(one.id, two.id)
    add(memories, "The mail server has a new disk", subject="mail")

    assert embed(ctx) == 3
    assert embed(ctx) == 0
    check(ctx)


@requirement("sem.embedder.down")
def test_an_embedder_that_fails_halfway_leaves_the_rest_for_later(
    ctx: SpaceContext, memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.embedder_calls.BATCH", 4)
    for number in range(10):
        add(memories, f"Note {number} about something of its own", subject=f"s{number}")

    class Failing(Hashing):
        def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
            if any("Note 8" in text for text in texts):
                raise ConnectionError("gone")
            return super().documents(texts)

    with pytest.raises(Unavailable, match="the embedder hashing failed: gone"):
        embed(replace(ctx, embedder=Failing()))

    assert embed(ctx) == 2
    check(ctx)


@requirement("sem.embedder.change")
def test_a_process_that_is_killed_while_it_embeds_leaves_a_feed_that_goes_on(
    new_sqlite_database: NewDatabase, clock: FixedClock
) -> None:
    url = new_sqlite_database()
    store = open_store(url)
    memories = Memories.of(store, "default", clock=clock)
    for number in range(300):
        memories.say("s1", "user", f"Message {number} about something of its own")

    code = (
        "import os, signal, sys\n"
        "from holdfast.engine.embedding import embed_missing\n"
        "from holdfast.app.wiring import context_for, open_store\n"
        "from tests.store.some_vectors import Hashing\n"
        "class Killed(Hashing):\n"
        "    def documents(self, texts):\n"
        "        if any('Message 150' in text for text in texts): os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return super().documents(texts)\n"
        "embed_missing(context_for('default', open_store(sys.argv[1]), embedder=Killed()), limit=1000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, url], cwd=ROOT, env=dict(os.environ), timeout=120)
    ctx = context_for("default", store, clock=clock, embedder=Hashing())
    rest = embed(ctx)

    assert done.returncode == -signal.SIGKILL
    assert rest == 300 - 128
    check(ctx)
    store.close()


@requirement("trust.backup")
def test_after_a_restore_the_vectors_are_those_of_what_was_restored(
    ctx: SpaceContext, memories: Memories, clock: FixedClock
) -> None:
    one = add(memories, "The router is in the cellar", subject="router")
    memories.say("s1", "user", "It stands beside the boiler")
    embed(ctx)
    backup = list(backup_lines(ctx.store))
    memories.revise(one.id, "The router is in the attic")
    add(memories, "Backups run nightly at three", subject="backup")
    embed(ctx)

    put_back(list(read(backup)), store=ctx.store, clock=clock, replace=True)

    assert embed(ctx) == 2
    check(ctx)


@requirement("trust.export-erase")
def test_imported_memories_and_messages_get_their_vectors(
    ctx: SpaceContext, memories: Memories, new_database: NewDatabase, clock: FixedClock
) -> None:
    with Memories.open(new_database(), clock=clock) as other:
        add(other, "The mail server has a new disk", subject="mail")
        other.say("their-session", "user", "The old disk clicked")
        lines = list(other.export())
    add(memories, "The router is in the cellar", subject="router")
    memories.say("s1", "user", "It stands beside the boiler")
    embed(ctx)

    memories.import_archive(lines)

    assert embed(ctx) == 2
    check(ctx)


def test_two_that_embed_the_same_at_once_leave_one_vector(ctx: SpaceContext, memories: Memories) -> None:
    add(memories, "The router is in the cellar", subject="router")

    class Slow(Hashing):
        def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
            embed(ctx)  # the other one is faster
            return super().documents(texts)

    embed(replace(ctx, embedder=Slow()))

    assert embed(ctx) == 0
    check(ctx)


def test_what_changed_while_it_was_embedded_is_embedded_again(ctx: SpaceContext, memories: Memories) -> None:
    memory = add(memories, "The router is in the cellar", subject="router")

    class Slow(Hashing):
        def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
            if any("cellar" in text for text in texts):
                memories.revise(memory.id, "The router is in the attic")
            return super().documents(texts)

    embed(replace(ctx, embedder=Slow()))

    check(ctx)


def test_a_space_that_keeps_no_messages_embeds_none(
    ctx: SpaceContext, memories: Memories, embedder: Hashing
) -> None:
    memories.say("s1", "user", "Said before the switch")
    set_keeps_messages("default", False, store=ctx.store)
    add(memories, "The router is in the cellar", subject="router")

    assert embed(ctx) == 1

    with ctx.store.read("default") as tx:
        assert tx.message_vectors.nearest([embedder.query("switch")], embedder.name, 5) == {}
        assert [model.ready for model in tx.models.all()] == [True]


def test_progress_can_be_read_off_the_models(ctx: SpaceContext, memories: Memories) -> None:
    for number in range(4):
        add(memories, f"Note {number} about something of its own", subject=f"s{number}")
        memories.say("s1", "user", f"Message {number}")

    seen = []
    for _ in range(3):
        embed(ctx, limit=3)
        with ctx.store.read("default") as tx:
            [model] = tx.models.all()
        seen.append(
            (model.memories_to, model.last_change, model.messages_to, model.last_message, model.ready)
        )

    assert seen == [(3, 4, 0, 4, False), (4, 4, 2, 4, False), (4, 4, 4, 4, True)]


def test_a_batch_is_made_from_as_many_rows_as_it_has_memories(
    ctx: SpaceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(kind: type[Memory], rows: Sequence[object]) -> list[Memory]:
        made.append(len(rows))
        return values_of(kind, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(vector_feed, "values_of", counted)
    with ctx.store.write(ctx.space) as tx:
        drafts = [Draft(content=f"Host {number} is up", category="fact") for number in range(60)]
        changes.add_all(tx, ctx, [sanitize(draft, ctx.profile) for draft in drafts], now=ctx.now())
        tx.models.begin(MODEL.name, ctx.now())

    with ctx.store.read(ctx.space) as tx:
        missing = tx.memory_vectors.missing(MODEL.name, 4)

    assert [memory.content for memory in missing.owners] == [f"Host {number} is up" for number in range(4)]
    assert made == [4]
