"""Messages: kept in order, once each, or not at all; read by id and place; gone when they are erased."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event

from holdfast import Memories
from holdfast.app.wiring import context_for
from holdfast.domain.history import Receipt, ReceiptItem
from holdfast.domain.memory import Message
from holdfast.domain.query import Filter
from holdfast.engine.archive import read
from holdfast.engine.backup import backup_lines, put_back
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage, say_all
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import set_keeps_messages
from holdfast.errors import Conflict, Invalid, NotFound
from holdfast.store.database import Database
from holdfast.testing import FixedClock
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.scenarios.told import add


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


@pytest.fixture
def ctx(store: Store, clock: FixedClock) -> SpaceContext:
    return context_for("default", store, clock=clock)


def said(*texts: str, role: str = "user", **given: str) -> list[NewMessage]:
    return [NewMessage(role=role, content=text, message_id=given.get(text)) for text in texts]


def stored(ctx: SpaceContext, session: str = "s1") -> list[tuple[int, str | None]]:
    with ctx.store.read("default") as tx:
        return [(message.number, message.content) for message in tx.sessions.messages(session)]


def positions(store: Store) -> list[str]:
    """The ids of all messages in the order of their arrival."""
    with store.read("default") as tx:
        return [row["id"] for row in tx.dump.rows("messages")]


# -------------------------------------------------------------------------------------------------- keeping


def test_a_batch_is_kept_in_order_and_twice_counts_once(ctx: SpaceContext) -> None:
    first = say_all("s1", [NewMessage(role="user", content="one", message_id="m1"), *said("two")], ctx=ctx)
    again = say_all(
        "s1",
        [
            NewMessage(role="user", content="another text", message_id="m1"),
            NewMessage(role="user", content="three", message_id="m3"),
            NewMessage(role="user", content="four", message_id="m4"),
            NewMessage(role="user", content="three again", message_id="m3"),
        ],
        ctx=ctx,
    )

    assert [message.number for message in first] == [1, 2]
    assert [message.content for message in again] == ["three", "four"]
    assert stored(ctx) == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]


def test_a_batch_with_a_bad_message_keeps_none(ctx: SpaceContext) -> None:
    with pytest.raises(Invalid, match="the limit is 1,000,000"):
        say_all("s1", said("fine", "x" * 1_000_001), ctx=ctx)

    assert stored(ctx) == []


def test_a_message_that_is_known_is_answered_as_it_was_said_first(memories: Memories) -> None:
    first = memories.say("s1", "user", "The first wording", message_id="m1")
    memories.say("s1", "user", "Something else")

    again = memories.say("s1", "user", "The first wording", message_id="m1")

    assert again == first
    with pytest.raises(Conflict, match="with another text"):
        memories.say("s1", "user", "Another wording", message_id="m1")


def test_a_known_message_in_another_role_is_refused(memories: Memories) -> None:
    memories.say("s1", "user", "The key is under the mat", message_id="m1")

    with pytest.raises(Conflict, match="with another role"):
        memories.say("s1", "assistant", "The key is under the mat", message_id="m1")


@requirement("trust.secrets")
def test_secrets_are_taken_out_of_a_batch_too(ctx: SpaceContext) -> None:
    key = "sk-ant-api03-" + "Ab3dEf9h" * 11

    [message] = say_all("s1", said(f"the key is {key}"), ctx=ctx)

    assert key not in (message.content or "")
    assert key not in json.dumps(stored(ctx))


def test_saying_something_costs_the_same_in_a_long_session(memories: Memories, ctx: SpaceContext) -> None:
    assert isinstance(ctx.store, Database)
    memories.say("s1", "user", "The first one")
    with statements(ctx.store) as short:
        memories.say("s1", "user", "In a short session")
    say_all("s1", said(*(f"Message {number}" for number in range(300))), ctx=ctx)

    with statements(ctx.store) as long:
        memories.say("s1", "user", "In a long session")

    assert len(long) == len(short)
    conditions = [one.split("WHERE")[-1] for one in long if "messages.content" in one]
    assert not any("session_id" in one and "number" not in one for one in conditions)  # of all its messages


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(database.engine, "before_cursor_execute", note)


def test_a_space_that_keeps_no_messages_stores_nothing_and_says_so(
    memories: Memories, ctx: SpaceContext
) -> None:
    before = memories.say("s1", "user", "Said before the switch")

    space = set_keeps_messages("default", False, store=ctx.store)
    answer = memories.say("s1", "user", "Said after the switch", message_id="m2")
    batch = say_all("s1", said("Said after the switch in a batch"), ctx=ctx)

    assert not space.keeps_messages
    assert ctx.store.space("default") == space
    assert (answer.id, answer.content) == ("m2", None)
    assert batch == []
    assert stored(ctx) == [(1, before.content)]
    with ctx.store.read("default") as tx:
        assert tx.message_words.frequencies(["after"]) == {"after": 0}
    set_keeps_messages("default", True, store=ctx.store)
    assert memories.say("s1", "user", "Said when it was on again").number == 2


def test_the_switch_of_a_space_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(NotFound, match="there is no space 'nowhere'"):
        set_keeps_messages("nowhere", False, store=store)


# -------------------------------------------------------------------------------------------------- finding


def test_messages_are_read_by_id_and_by_place(memories: Memories, ctx: SpaceContext) -> None:
    for session in ("s1", "s2"):
        say_all(session, said(*(f"{session} says {number}" for number in range(1, 6))), ctx=ctx)
    third = positions(ctx.store)[2]

    with ctx.store.read("default") as tx:
        by_id = tx.sessions.messages_by_id(["nobody", positions(ctx.store)[7], third])
        around = tx.sessions.around([("s1", 2), ("s2", 5), ("s2", 6), ("s1", 2), ("s3", 1)])
        none = (tx.sessions.messages_by_id([]), tx.sessions.around([]), tx.sessions.many([]))
        many = [session.id for session in tx.sessions.many(["s2", "nowhere", "s1"])]

    assert [message.content for message in by_id] == ["s2 says 3", "s1 says 3"]
    assert [message.content for message in around] == ["s1 says 2", "s2 says 5"]
    assert none == ([], [], [])
    assert many == ["s2", "s1"]


def test_messages_are_found_by_session_project_and_time(
    memories: Memories, ctx: SpaceContext, clock: FixedClock
) -> None:
    start = clock.now()
    for session, project in (("s1", "web"), ("s2", None), ("s3", "mail")):
        clock.advance(days=1)
        memories.open_session(session, project=project)
        say_all(session, said(f"one in {session}", f"two in {session}"), ctx=ctx)

    def sessions(where: Filter, limit: int = 9) -> list[str]:
        with ctx.store.read("default") as tx:
            return sorted(message.session for message in tx.sessions.find_messages(where, limit))

    assert sessions(Filter()) == ["s1", "s1", "s2", "s2", "s3", "s3"]
    assert sessions(Filter(session="s2")) == ["s2", "s2"]
    assert sessions(Filter(project="web")) == ["s1", "s1"]
    assert sessions(Filter(project="web", other_projects=False)) == ["s1", "s1", "s2", "s2"]
    assert sessions(Filter(other_projects=False)) == ["s2", "s2"]
    assert sessions(Filter(created_after=start + timedelta(days=3))) == ["s3", "s3"]
    assert sessions(Filter(created_before=start + timedelta(days=2))) == ["s1", "s1"]
    assert len(sessions(Filter(), limit=2)) == 2


def test_speakers_and_the_number_of_messages_are_known(memories: Memories, ctx: SpaceContext) -> None:
    with ctx.store.read("default") as tx:
        assert (tx.sessions.speakers(), tx.sessions.message_count()) == ([], 0)
    for speaker in ("Bo", "Ada", None, "Ada", "Émile"):
        memories.say("s1", "user", "Hello there", speaker=speaker)

    with ctx.store.read("default") as tx:
        assert sorted(tx.sessions.speakers()) == ["Ada", "Bo", "Émile"]
        assert tx.sessions.message_count() == 5


def test_memories_are_read_in_the_order_of_their_ids_asked_for(memories: Memories, ctx: SpaceContext) -> None:
    ids = [add(memories, f"Note {n} of its own", subject=f"s{n}", tags=["a", 'b"c']).id for n in range(5)]

    with ctx.store.read("default") as tx:
        many = tx.memories.many([ids[3], "nobody", ids[0]])
        one_by_one = [tx.memories.get(memory_id) for memory_id in (ids[3], ids[0])]
        none = tx.memories.many([])

    assert many == one_by_one
    assert none == []


def test_what_a_session_was_shown_is_known(memories: Memories, ctx: SpaceContext, clock: FixedClock) -> None:
    memory, message = add(memories, "Takes 60s to start"), memories.say("s1", "user", "It took a minute")
    items = (
        ReceiptItem(memory=memory.id, version=1, score=0.5, parts={"relevance": 0.5}),
        ReceiptItem(message=message.id, score=0.4, parts={"relevance": 0.4}),
    )
    receipt = Receipt(
        id="receipt1",
        kind="recall",
        session="s2",
        query="start",
        text="It took a minute",
        sha256="0" * 64,
        tokens=4,
        left_out=0,
        created_at=clock.now(),
        items=items,
    )

    with ctx.store.write("default") as tx:
        tx.receipts.add(receipt)
        tx.receipts.add(replace(receipt, id="receipt2", session="s3", kind="brief", items=items[:1]))
        shown = [tx.receipts.shown_in(session) for session in ("s2", "s3", "s4")]
        uses = [use.receipt for use in tx.receipts.uses(memory.id)]

    assert shown == [{memory.id, message.id}, {memory.id}, set()]
    assert uses == ["receipt1", "receipt2"]
    with ctx.store.write("default") as tx:
        assert tx.receipts.strike_messages([message.id]) == 1
        assert tx.receipts.shown_in("s2") == {memory.id}
        texts = {row["id"]: row["text"] for row in tx.dump.rows("receipts")}
    assert texts == {"receipt1": None, "receipt2": "It took a minute"}


# -------------------------------------------------------------------------------- archives, backups, erasing


def conversation(ctx: SpaceContext, clock: FixedClock) -> None:
    """Two sessions at once, and a receipt that quotes what was said."""
    for number in range(4):
        clock.advance(minutes=1)
        for session in ("s1", "s2"):
            say_all(session, said(f"{session} says marzipan {number}"), ctx=ctx)
    [message, *_] = messages(ctx)
    with ctx.store.write("default") as tx:
        tx.receipts.add(
            Receipt(
                id="receipt1",
                kind="recall",
                session="s1",
                query="marzipan",
                text=None,
                sha256="0" * 64,
                tokens=0,
                left_out=0,
                created_at=clock.now(),
                items=(ReceiptItem(message=message.id, score=0.4),),
            )
        )


def messages(ctx: SpaceContext) -> list[Message]:
    with ctx.store.read("default") as tx:
        return tx.sessions.messages_by_id([row["id"] for row in tx.dump.rows("messages")])


@requirement("trust.export-erase")
def test_messages_survive_export_and_import_in_their_order_and_are_found(
    ctx: SpaceContext, memories: Memories, clock: FixedClock, new_database: NewDatabase
) -> None:
    conversation(ctx, clock)
    lines = list(memories.export())

    with Memories.open(new_database(), clock=clock) as other:
        other.import_archive(lines)
        there = context_for("default", other.store, clock=clock)
        again = list(other.export())
        found = messages(there)
        with other.store.read("default") as tx:
            counts = tx.message_words.frequencies(["marzipan"])
            shown = tx.receipts.shown_in("s1")

    assert again == lines
    assert found == messages(ctx)
    assert counts == {"marzipan": 8}
    assert shown == {found[0].id}


@requirement("trust.export-erase")
def test_imported_messages_come_after_those_that_are_there(
    ctx: SpaceContext, memories: Memories, clock: FixedClock, new_database: NewDatabase
) -> None:
    with Memories.open(new_database(), clock=clock) as other:
        conversation(context_for("default", other.store, clock=clock), clock)
        lines = list(other.export())
    mine = memories.say("mine", "user", "I was here first")

    memories.import_archive(lines)
    memories.import_archive(lines)
    late = memories.say("mine", "user", "And I came last")

    order = [message.id for message in messages(ctx)]
    assert (order[0], order[-1]) == (mine.id, late.id)
    assert len(order) == 10
    with ctx.store.read("default") as tx:
        assert tx.sessions.message_count() == 10


@requirement("trust.backup")
def test_a_restored_space_keeps_or_does_not_keep_messages_as_before(
    ctx: SpaceContext, memories: Memories, clock: FixedClock, new_database: NewDatabase
) -> None:
    conversation(ctx, clock)
    set_keeps_messages("default", False, store=ctx.store)
    backup = list(backup_lines(ctx.store))

    with Memories.open(new_database(), clock=clock) as other:
        other.store.delete_space("default")
        put_back(list(read(backup)), store=other.store, clock=clock)
        space = other.store.space("default")
        again = list(backup_lines(other.store))

    assert space is not None
    assert not space.keeps_messages
    assert again == backup


@requirement("trust.export-erase")
def test_an_erased_text_does_not_come_back_in_the_messages_of_a_backup(
    ctx: SpaceContext, memories: Memories, clock: FixedClock
) -> None:
    source = memories.say("s1", "user", "I hide the marzipan behind the books")
    agent = memories.speaking_as("user", session="s1")
    memory = add(agent, "The marzipan is behind the books", message=source.id)
    memories.say("s2", "assistant", "You said: The marzipan is behind the books. Noted.")
    memories.say("s2", "user", "Thank you")
    backup = list(backup_lines(ctx.store))
    clock.advance(hours=1)
    memories.erase(memory.id)

    put_back(list(read(backup)), store=ctx.store, clock=clock, replace=True)

    assert [message.content for message in messages(ctx)] == [None, None, "Thank you"]
    with ctx.store.read("default") as tx:
        assert tx.message_words.frequencies(["marzipan", "thank"]) == {"marzipan": 0, "thank": 1}


@requirement("trust.export-erase")
def test_a_forgotten_memory_leaves_its_source_message_readable_after_a_restore(
    ctx: SpaceContext, memories: Memories, clock: FixedClock
) -> None:
    source = memories.say("s1", "user", "I hide the marzipan behind the books")
    memory = add(
        memories.speaking_as("user", session="s1"), "The marzipan is behind the books", message=source.id
    )
    backup = list(backup_lines(ctx.store))
    clock.advance(hours=1)
    memories.forget(memory.id)

    put_back(list(read(backup)), store=ctx.store, clock=clock, replace=True)

    assert [message.content for message in messages(ctx)] == [source.content]


def test_an_archive_item_without_memory_and_message_is_refused(memories: Memories) -> None:
    from holdfast.engine.archive_rows import wrong

    item = {"receipt_id": "r", "position": 0, "memory_id": None, "version": None, "message_id": None}

    assert wrong("receipt_items", item) == "is missing memory_id or message_id"
    assert wrong("receipt_items", {**item, "message_id": "m"}) is None
    assert (
        wrong("receipt_items", {**item, "memory_id": "m"}) == "has None for version, expected a whole number"
    )


def test_times_of_messages_are_kept_as_given(ctx: SpaceContext, clock: FixedClock) -> None:
    when = clock.now() - timedelta(days=400)

    [message] = say_all(
        "s1", [NewMessage(role="user", content="Long ago", said_at=when, speaker="Ada")], ctx=ctx
    )

    assert (message.said_at, message.speaker) == (when, "Ada")
    assert messages(ctx) == [message]
