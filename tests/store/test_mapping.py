"""Rows and values are made from each other by the declarations of tables and classes."""

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.domain import history, jobs, memory, operations, space, spend
from holdfast.domain.jobs import Job
from holdfast.domain.memory import Memory, Message, Source
from holdfast.domain.space import Token
from holdfast.domain.spend import ModelCall, Usage
from holdfast.store import mapping
from holdfast.store.schema import metadata
from holdfast.store.types import DamagedValue, to_text

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLASSES = {
    name: kind
    for module in (history, jobs, memory, operations, space, spend)
    for name, kind in vars(module).items()
}
MAPPED = {CLASSES[table.info["holds"]]: table for table in metadata.sorted_tables if "holds" in table.info}

#: Fields that are found elsewhere, and columns that are no part of a value.
FOUND_ELSEWHERE = {"superseded_by", "taken_from", "items"}
NO_FIELD = {"space", "position", "receipt_id", "checksum", "has_work", "ordered_at"}

MEMORY = Memory(
    id="m1", space="s", category="fact", content="It listens on 8096", subject="jellyfin", summary="port",
    project="home", confidence=0.8, importance=4, tags=("a", "b"), state="waiting", waiting_for="a look",
    pinned=True, version=2, source=Source(origin="tool", session="s1", message="g1", tier=2), created_at=NOW,
    updated_at=NOW, confirmed_at=NOW, decayed_weeks=1, accessed_at=NOW, accesses=7,
)  # fmt: skip


def in_order(row: dict[str, Any], kind: type[Any]) -> list[Any]:
    return [row.get(column.name) for column in MAPPED[kind].columns]


@pytest.mark.parametrize("kind", MAPPED)
def test_every_field_has_a_column_and_every_column_a_field(kind: type[Any]) -> None:
    places = mapping._places(kind)
    reached = {one.path[-1] for one in places} | {one.path[0] for one in places}

    assert {field.name for field in fields(kind)} - reached <= FOUND_ELSEWHERE
    assert {column.name for column in MAPPED[kind].columns} - {one.column.name for one in places} <= NO_FIELD


def test_a_memory_comes_back_from_its_row_and_from_what_the_driver_reads() -> None:
    row = mapping.row_of(MEMORY, "s")
    stored = {name: to_text(value) if isinstance(value, datetime) else value for name, value in row.items()}
    stored |= {"tags": json.dumps(row["tags"]), "pinned": 1}

    assert mapping.value_of(Memory, in_order(row, Memory)) == MEMORY
    assert mapping.values_of(Memory, [in_order(stored, Memory)], stored=True) == [MEMORY]


def test_a_row_may_go_on_with_other_columns() -> None:
    assert mapping.value_of(Memory, [*in_order(mapping.row_of(MEMORY, "s"), Memory), "more"]) == MEMORY


def test_names_that_differ_are_those_that_the_table_declares() -> None:
    usage = Usage(input=10, output=20, cached=5)
    call = ModelCall(
        id="c1", purpose="gate", model="m", usage=usage, micro_dollars=3, session="s1", created_at=NOW
    )

    row = mapping.row_of(call, "s")

    assert row["session_id"] == "s1"
    assert (row["input_tokens"], row["output_tokens"], row["cached_tokens"]) == (10, 20, 5)
    assert mapping.value_of(ModelCall, in_order(row, ModelCall)) == call


def test_a_list_that_may_be_none_stays_none() -> None:
    token = Token(id="t1", name=None, hash="h", scopes=("read",), spaces=None, created_at=NOW)

    assert mapping.value_of(Token, in_order(mapping.row_of(token), Token)) == token


def test_what_is_written_is_a_plain_dictionary() -> None:
    class Payload(dict[str, Any]):
        """A mapping of another kind."""

    job = Job(id="j1", kind="extract", payload=Payload(session="s1"), due_at=NOW, created_at=NOW)

    assert type(mapping.row_of(job, "s")["payload"]) is dict


def test_bytes_in_the_place_of_a_text_are_damage() -> None:
    message = Message(
        id="g1", session="s1", number=1, role="user", speaker=None, content="Hello", said_at=NOW
    )
    row = mapping.row_of(message, "s") | {"content": b"Hello"}

    with pytest.raises(DamagedValue):
        mapping.value_of(Message, in_order(row, Message))
