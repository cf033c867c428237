"""Queries by what people and agents look for use an index, as the query plan shows."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, text, update

from holdfast.domain.query import Filter
from holdfast.engine.ports import Transaction
from holdfast.store import schema, sqlite
from holdfast.store.database import Database
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement

ROWS = 4_000
START = datetime(2026, 3, 1, tzinfo=UTC)
SPACES = ("default", "other")


@pytest.fixture
def filled(new_database: NewDatabase) -> Iterator[Database]:
    """Thousands of memories with their versions, of which each query wants a few."""
    from holdfast.engine.spaces import create_space

    database = Database.open(new_database())
    for space in SPACES:
        create_space(space, store=database, clock=lambda: START)
    with database.engine.begin() as connection:
        connection.execute(insert(schema.memories), [memory(n) for n in range(ROWS)])
        connection.execute(insert(schema.versions), [version(n) for n in range(ROWS)])
        connection.execute(insert(schema.sessions), [session(n) for n in range(ROWS // 20)])
        connection.execute(insert(schema.messages), [message(n) for n in range(ROWS)])
        connection.execute(insert(schema.journal), [entry(n) for n in range(ROWS)])
        connection.execute(insert(schema.events), [happening(n) for n in range(ROWS)])
        connection.execute(insert(schema.cooldowns), [attempt(n) for n in range(ROWS)])
        connection.execute(insert(schema.receipts), [receipt(n) for n in range(ROWS)])
        connection.execute(insert(schema.receipt_items), [receipt_item(n) for n in range(ROWS)])
        connection.execute(insert(schema.vector_models), [model(space) for space in SPACES])
        connection.execute(insert(schema.memory_vectors), [vector(n) for n in range(ROWS)])
        connection.execute(update(schema.heads).values(seq=ROWS, messages=ROWS, vectors=ROWS))
        if database.path is None:  # a server does this by itself, a little later
            connection.execute(text("ANALYZE"))
    yield database
    database.close()


def memory(number: int) -> dict[str, Any]:
    when = START + timedelta(hours=number)
    return {
        "space": SPACES[number % 2],
        "id": f"M{number:07d}",
        "category": "general" if number % 53 else "rare",
        "subject": f"s{number // 20}",
        "project": None,
        "content": f"Note {number}",
        "tags": [],
        "confidence": (number % 1_000) / 1_000,
        "importance": 1 + number % 5,
        "state": "inactive" if number // 7 % 3 == 0 else "active",
        "pinned": False,
        "version": 1,
        "origin": "operator",
        "created_at": when,
        "updated_at": when,
        "confirmed_at": when,
        "decayed_weeks": 0,
        "accesses": 0,
    }


def version(number: int) -> dict[str, Any]:
    kept = ("space", "content", "origin", "created_at")
    return {key: memory(number)[key] for key in kept} | {"memory_id": f"M{number:07d}", "number": 1}


def session(number: int) -> dict[str, Any]:
    project = f"p{number // 2 % 50}"
    return {"space": SPACES[number % 2], "id": f"run-{number}", "project": project, "started_at": START}


def message(number: int) -> dict[str, Any]:
    return {
        "space": SPACES[number % 2],
        "id": f"m{number}",
        "session_id": f"run-{number % (ROWS // 20)}",
        "number": number // (ROWS // 20),
        "role": "user",
        "speaker": f"Speaker {number // 2 % 7}",
        "content": f"Message {number}",
        "said_at": START + timedelta(hours=number),
        "position": number,
    }


def entry(number: int) -> dict[str, Any]:
    kept = ("space", "origin", "created_at")
    about = {"seq": number, "action": "added", "memory_id": f"M{number:07d}"}
    return {key: memory(number)[key] for key in kept} | about


def happening(number: int) -> dict[str, Any]:
    kept = ("space", "content", "created_at")
    about = {"id": f"e{number}", "level": "info", "session_id": f"run-{number % (ROWS // 20)}"}
    return {key: memory(number)[key] for key in kept} | about


def attempt(number: int) -> dict[str, Any]:
    kept = ("space", "content", "session_id", "created_at")
    about = {"id": f"a{number}", "action": "restart", "service": f"s{number % 9}", "succeeded": True}
    return {key: happening(number)[key] for key in kept} | about


def receipt(number: int) -> dict[str, Any]:
    made = {"sha256": "0" * 64, "tokens": 0, "left_out": 0, "created_at": START}
    return {
        "space": SPACES[number % 2], "id": f"r{number}", "kind": "recall",
        "session_id": f"run-{number % (ROWS // 20)}", "query": f"Question {number}", **made,
    }  # fmt: skip


def receipt_item(number: int) -> dict[str, Any]:
    return {
        "space": SPACES[number % 2],
        "receipt_id": f"r{number}",
        "position": 0,
        "memory_id": f"M{number % 40:07d}",
        "unhelpful_at": None if number % 80 else START,
    }


def model(space: str) -> dict[str, Any]:
    return {
        "space": space,
        "model": "m",
        "memories_to": ROWS - 20,
        "messages_to": ROWS - 20,
        "ready": False,
        "dimensions": 2,
        "parts": 1,
        "mark": "mark",
        "dropped": 0,
        "created_at": START,
    }


def vector(number: int) -> dict[str, Any]:
    return {
        "space": SPACES[number % 2],
        "memory_id": f"M{number:07d}",
        "version": 0,
        "model": "m",
        "part": 0,
        "number": number,
        "vector": struct.pack("<2f", 1.0, 0.0),
        "created_at": START,
    }


Ask = Callable[[Transaction], object]
QUESTIONS: dict[str, tuple[Ask, str]] = {
    "subject and state": (
        lambda tx: tx.memories.find(Filter(subject="s7", states=("active",))),
        "ix_memories_space_subject_state",
    ),
    "what a new draft may repeat": (
        lambda tx: tx.memories.about("general", "s7", None, 200),
        "ix_memories_space_subject_state",
    ),
    "confidence and state": (
        lambda tx: tx.memories.find(
            Filter(least_confidence=0.99, states=("active",)), order="confidence", limit=10
        ),
        "ix_memories_space_confidence_state",
    ),
    "category": (
        lambda tx: tx.memories.find(Filter(category="rare")),
        "ix_memories_space_category_created_at_id",
    ),
    "importance": (
        lambda tx: tx.memories.count(Filter(importance=5)),
        "ix_memories_space_importance",
    ),
    "created time": (
        lambda tx: tx.memories.find(
            Filter(created_after=START + timedelta(hours=ROWS - 20)), order="created"
        ),
        "ix_memories_space_created_at",
    ),
    "versions of a memory": (lambda tx: tx.versions.of("M0000008"), "pk_versions"),
    "many memories": (lambda tx: tx.memories.many(["M0000008", "M0000010"]), "pk_memories"),
    "many messages": (lambda tx: tx.sessions.messages_by_id(["m8", "m10"]), "pk_messages"),
    "messages around others": (
        lambda tx: tx.sessions.around([("run-2", 3), ("run-4", 5)]),
        "uq_messages_space_session_id_number",
    ),
    "the newest number": (
        lambda tx: tx.sessions.last_number("run-2"),
        "uq_messages_space_session_id_number",
    ),
    "messages of a session": (
        lambda tx: tx.sessions.find_messages(Filter(session="run-2"), 100),
        "uq_messages_space_session_id_number",
    ),
    "messages of a project": (
        lambda tx: tx.sessions.find_messages(Filter(project="p7"), 100),
        "uq_messages_space_session_id_number",
    ),
    "messages of a time": (
        lambda tx: tx.sessions.find_messages(Filter(created_after=START + timedelta(hours=ROWS - 20)), 100),
        "ix_messages_space_said_at",
    ),
    "events of a session": (
        lambda tx: tx.events.find(session="run-2"),
        "ix_events_space_session_id_created_at",
    ),
    "what a session did": (
        lambda tx: tx.cooldowns.of_session("run-2"),
        "ix_cooldowns_space_session_id_created_at",
    ),
    "what was done lately": (
        lambda tx: tx.cooldowns.since(START + timedelta(hours=ROWS - 20)),
        "ix_cooldowns_space_created_at",
    ),
    "prompts that a memory did not help with": (
        lambda tx: tx.receipts.unhelpful(["M0000000", "M0000002"], 20),
        "ix_receipt_items_space_memory_id_unhelpful_at",
    ),
    "speakers": (lambda tx: tx.sessions.speakers(), "ix_messages_space_speaker"),
    "whether memories lack vectors": (lambda tx: tx.memory_vectors.missing("m", 0), "pk_memory_vectors"),
    "memories without vectors": (lambda tx: tx.memory_vectors.missing("m", 9).owners, "pk_memories"),
    "messages without vectors": (
        lambda tx: tx.message_vectors.missing("m", 9).owners,
        "uq_messages_space_position",
    ),
}


#: Reading a whole table; a list of ids in a parameter is none, and sessions are few.
TABLE_SCAN = re.compile(r"SCAN (?!\w+ VIRTUAL TABLE|named|sessions)|Seq Scan on (?!sessions)")
AS_SQLITE_NAMES_THEM = {
    "pk_versions": "sqlite_autoindex_versions_1",
    "pk_memories": "sqlite_autoindex_memories_1",
    "pk_messages": "sqlite_autoindex_messages_1",
    "uq_messages_space_session_id_number": "sqlite_autoindex_messages_2",
    "uq_messages_space_position": "sqlite_autoindex_messages_3",
    "pk_memory_vectors": "sqlite_autoindex_memory_vectors_1",
}


def plan_of(database: Database, ask: Ask) -> str:
    """How the database answers the last query that `ask` makes."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
        asked.append((statement, values))

    with database.read("default") as tx:
        if database.path is not None:  # by the driver, since some queries go past SQLAlchemy
            driver = sqlite.driver_of(tx.connection)
            driver.set_trace_callback(lambda statement: asked.append((statement, ())))
        event.listen(database.engine, "before_cursor_execute", note)
        assert ask(tx), "the query found nothing"
        event.remove(database.engine, "before_cursor_execute", note)
        if database.path is not None:
            driver.set_trace_callback(None)
    explain = "EXPLAIN" if database.path is None else "EXPLAIN QUERY PLAN"
    with database.engine.connect() as connection:
        rows = connection.exec_driver_sql(f"{explain} {asked[-1][0]}", asked[-1][1]).all()
    return "\n".join(str(row[-1]) for row in rows)


@requirement("ops.schema.indexes", "asst.postgres")
@pytest.mark.not_on_citus("reads the plan of one server")
def test_every_question_is_answered_from_its_index_and_without_it_the_plan_says_so(filled: Database) -> None:
    plans = {name: plan_of(filled, ask) for name, (ask, _) in QUESTIONS.items()}

    for name, plan in plans.items():
        index = QUESTIONS[name][1]
        if filled.path is not None and index.startswith(("pk", "uq")):
            index = AS_SQLITE_NAMES_THEM[index]
        assert index in plan, f"{name}: {plan}"
        assert not TABLE_SCAN.search(plan), f"{name}: {plan}"

    with filled.engine.begin() as connection:
        connection.execute(text("DROP INDEX ix_memories_space_importance"))
    filled.engine.dispose()  # an EXPLAIN does not see that another connection changed the schema
    ask, index = QUESTIONS["importance"]
    assert index not in plan_of(filled, ask)


def test_the_planner_knows_an_index_for_every_one_that_the_table_has(sqlite_url: str) -> None:
    """A server gathers its figures itself."""
    database = Database.open(sqlite_url)
    with database.engine.connect() as connection:
        told = set(connection.execute(text("SELECT idx FROM sqlite_stat1 WHERE tbl = 'memories'")).scalars())
        there = {row[1] for row in connection.exec_driver_sql("PRAGMA index_list(memories)")}
    database.close()

    assert told == there


def test_the_connection_that_makes_a_file_already_goes_by_its_figures(tmp_path: Path) -> None:
    """It would read every active memory to find one by its id, until the process ends."""
    database = Database.open(str(tmp_path / "new.db"))
    found = "SELECT version FROM memories WHERE space = 'a' AND state = 'active' AND id IN (SELECT 'b')"
    with database.engine.connect() as connection:
        [first, *_] = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {found}").all()
    database.close()

    assert AS_SQLITE_NAMES_THEM["pk_memories"] in first[-1]
