"""A guard that is switched off must be noticed: each property holds with its guard and fails without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import text

from holdfast.app import wiring
from holdfast.domain.outcomes import settled
from holdfast.engine import admission, changes, intake
from holdfast.engine.memories import Memories
from holdfast.engine.spaces import create_space
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.store.database import Database
from holdfast.store.schema import metadata
from holdfast.store.transaction import SpaceTransaction
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"[:36]


@pytest.fixture
def memories(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    with closing(wiring.open_store(database_url)) as store:
        create_space("guarded", store=store, clock=clock)
        yield Memories.of(store, "guarded", clock=clock)


# ------------------------------------------------------------------------------------------------- tombstones


def what_was_forgotten_stays_away(memories: Memories, said: str, said_again: str) -> bool:
    known = settled(memories.remember(said))
    assert known is not None
    memories.forget(known.id)

    memories.remember(said_again)

    return memories.find().total == 0


@requirement("trust.tombstone")
def test_what_was_forgotten_stays_away_as_long_as_tombstones_are_asked(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert what_was_forgotten_stays_away(
        memories, "The old address is 5 Elm Road", "the OLD address is 5 Elm Road!"
    )

    monkeypatch.setattr(admission, "find_tombstone", lambda *_, **__: None)

    assert not what_was_forgotten_stays_away(memories, "Coffee at nine", "Coffee at nine")


@requirement("trust.tombstone")
def test_what_was_erased_stays_away_though_only_a_hash_is_left(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = settled(memories.remember("The old address is 5 Elm Road"))
    assert known is not None
    memories.erase(known.id)

    memories.remember("the OLD address is 5 Elm Road!")
    assert memories.find().total == 0

    monkeypatch.setattr(admission, "find_tombstone", lambda *_, **__: None)
    memories.remember("the OLD address is 5 Elm Road!")
    assert memories.find().total == 1


@requirement("trust.tombstone")
def test_of_an_erased_text_no_hash_is_left_that_can_be_guessed_without_the_spaces_key(
    memories: Memories, clock: FixedClock
) -> None:
    create_space("other", store=memories.store, clock=clock)
    spaces = (memories, Memories.of(memories.store, "other", clock=clock))
    hashes = set()
    for space in spaces:
        known = settled(space.remember("The old address is 5 Elm Road"))
        assert known is not None
        space.erase(known.id)
        with space.store.read(space.space) as tx:
            hashes |= {stone.hash for stone in tx.tombstones.of(known.id)}

    assert len(hashes) == 2


@requirement("trust.export-erase")
def test_a_message_that_is_erased_stays_in_no_receipt_that_quoted_it(memories: Memories) -> None:
    speaker = memories.speaking_as("user", session="talk")
    said = speaker.say("talk", "user", "The door code of the cellar is 4711.")
    asker = memories.speaking_as("assistant", session="asker")
    asker.context(["What did we say about the door code of the cellar?"])
    assert "4711" in receipts(memories)

    known = settled(speaker.remember("The cellar is locked by a code", message=said.id))
    assert known is not None
    memories.erase(known.id)

    assert "4711" not in receipts(memories)


@requirement("trust.export-erase")
def test_a_message_that_is_erased_keeps_no_vector(memories: Memories, clock: FixedClock) -> None:
    embedder = BuiltinEmbedder()
    space = Memories.of(memories.store, memories.space, clock=clock, embedder=embedder)
    said = space.say("talk", "user", "The door code of the cellar is 4711.")
    space.recall("what is the code", threshold=0.0)
    known = settled(space.remember("The cellar is locked by a code", message=said.id))
    assert known is not None

    def with_vectors() -> list[str]:
        with space.store.read(space.space) as tx:
            return list(tx.message_vectors.nearest([embedder.query("door code")], embedder.name, 9))

    assert with_vectors() == [said.id]
    space.erase(known.id)
    assert with_vectors() == []


def receipts(memories: Memories) -> str:
    with memories.store.read(memories.space) as tx:
        return repr(list(tx.dump.rows("receipts")))


# -------------------------------------------------------------------------------------------------- redaction


def every_value(memories: Memories) -> str:
    """All that the database holds, every table of it."""
    store = memories.store
    assert isinstance(store, Database)
    with store.engine.connect() as connection:
        rows = [row for table in metadata.sorted_tables for row in connection.execute(table.select())]
        words = connection.execute(text("SELECT * FROM memory_words")).all()
    return repr(rows) + repr(words)


def a_key_stays_out(memories: Memories) -> bool:
    speaker = memories.speaking_as("assistant", session="s")
    speaker.open_session("s", name=f"deploy with {KEY}")
    message = speaker.say("s", "user", f"the token is {KEY}")
    known = settled(
        speaker.remember(
            f"Deploy with {KEY}", subject=f"x {KEY}", summary=f"y {KEY}", tags=[KEY], message=message.id
        )
    )
    assert known is not None
    speaker.revise(known.id, f"Deploy again with {KEY}")
    speaker.recall(f"deploy {KEY}")
    speaker.brief()
    return KEY.lower() not in every_value(memories).lower()


@requirement("trust.secrets")
def test_a_key_reaches_no_table_as_long_as_texts_are_redacted(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert a_key_stays_out(memories)

    monkeypatch.setattr(intake, "redact", lambda words: SimpleNamespace(text=words))

    assert not a_key_stays_out(memories)


@requirement("trust.secrets")
def test_a_key_reaches_no_byte_of_the_files_as_long_as_texts_are_redacted(
    sqlite_url: str, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(sqlite_url.removeprefix("sqlite:///"))

    def in_the_files(space: str) -> bool:
        with closing(wiring.open_store(sqlite_url)) as store:
            create_space(space, store=store, clock=clock)
            a_key_stays_out(Memories.of(store, space, clock=clock))
            return any(KEY.encode() in path.read_bytes() for path in file.parent.glob(f"{file.name}*"))

    assert not in_the_files("guarded")

    monkeypatch.setattr(intake, "redact", lambda words: SimpleNamespace(text=words))

    assert in_the_files("unguarded")


def test_a_key_in_a_doubt_reaches_no_table(memories: Memories) -> None:
    memories.remember("Deploys on Fridays", doubtful=f"came with {KEY}")

    assert KEY not in every_value(memories)


# -------------------------------------------------------------------------------------------- one transaction


class Interrupted(Exception):
    """Raised in the middle of a verb."""


def an_interrupted_call_leaves_nothing(
    memories: Memories, monkeypatch: pytest.MonkeyPatch, part: str
) -> bool:
    """Whether a remember that fails when it writes `part` leaves every table as it was."""
    speaker = memories.speaking_as("assistant", session="interrupted")
    before = every_value(memories)
    store = memories.store
    assert isinstance(store, Database)
    with store.read(memories.space) as tx:
        table, verb = type(getattr(tx, part)), {"calls": "put", "words": "put", "journal": "write"}
        name = verb.get(part, "add")

    def fail(*_: object, **__: object) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(table, name, fail)
        with pytest.raises(Interrupted):
            speaker.remember("Takes 30s to start", category="timing", key="once")
    return every_value(memories) == before


@requirement("trust.durable")
@pytest.mark.parametrize("part", ["memories", "versions", "words", "journal", "links", "calls"])
def test_a_call_that_fails_in_the_middle_leaves_no_row_in_any_table(
    memories: Memories, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    memories.remember("Takes 60s to start", category="timing")

    assert an_interrupted_call_leaves_nothing(memories, monkeypatch, part)
    memories.speaking_as("assistant", session="interrupted").remember(
        "Takes 30s to start", category="timing", key="once"
    )

    assert memories.find().total == 2


@requirement("trust.durable")
def test_without_the_one_transaction_an_interrupted_call_leaves_rows_behind(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories.remember("Takes 60s to start", category="timing")
    add = changes.add

    def committed(tx: object, *args: object, **kwargs: object) -> object:
        """The guard is off: what was written so far is made to last at once."""
        made = add(tx, *args, **kwargs)  # type: ignore[arg-type]
        assert isinstance(tx, SpaceTransaction)
        tx.connection.exec_driver_sql("COMMIT")
        if tx.connection.dialect.name == "sqlite":  # psycopg begins by itself
            tx.connection.exec_driver_sql("BEGIN IMMEDIATE")
        return made

    monkeypatch.setattr(changes, "add", committed)

    assert not an_interrupted_call_leaves_nothing(memories, monkeypatch, "calls")
