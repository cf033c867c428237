"""What models cost, as it is stored: sums on both databases, and the amounts of an older schema."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from holdfast.app.wiring import migrate as migrate_store
from holdfast.app.wiring import open_store
from holdfast.domain.spend import ModelCall, Price, Spent, Usage, total
from holdfast.engine.administration import Administration
from holdfast.engine.ports import Store
from holdfast.store import migrate
from holdfast.store.sqlite import APPLICATION_ID
from tests.requirements_ledger import requirement

AT = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)


def call(number: int, **more: object) -> ModelCall:
    usual: dict[str, object] = {
        "id": f"c{number}",
        "purpose": "gate",
        "model": "anthropic:a",
        "usage": Usage(100, 10, 40),
        "micro_dollars": 7,
        "created_at": AT,
    }
    return ModelCall(**{**usual, **more})  # type: ignore[arg-type]


@pytest.fixture
def store(database_url: str) -> Store:
    store = open_store(database_url)
    office = Administration(store)
    office.create_space("ours")
    office.create_space("theirs")
    with store.write("ours") as tx:
        tx.spend.add(call(1))
        tx.spend.add(call(2, purpose="extract", session="s", created_at=AT + timedelta(hours=1)))
        tx.spend.add(call(3, model="openai:b", micro_dollars=None, session="s"))
    with store.write("theirs") as tx:
        tx.spend.add(call(4))
    return store


@requirement("sem.cost", "trust.spaces")
def test_sums_are_of_one_space_by_label_and_since_a_moment(store: Store) -> None:
    with store.read("ours") as tx:
        whole = tx.spend.total()
        late = tx.spend.total(since=AT + timedelta(minutes=31))
        of_session = tx.spend.total(session="s")
        days = [(name, spent.calls) for name, spent in tx.spend.grouped("day")]
        sessions = [(name, spent.calls) for name, spent in tx.spend.grouped("session")]
        models = [(name, spent.micro_dollars) for name, spent in tx.spend.grouped("model")]
    store.close()

    assert whole == Spent(
        calls=3,
        usage=Usage(300, 30, 120),
        micro_dollars=14,
        unpriced_calls=1,
        unpriced=Usage(100, 10, 40),
    )
    assert (late.calls, of_session.calls) == (1, 2)
    assert days == [("2026-03-01", 2), ("2026-03-02", 1)]
    assert sessions == [("s", 2), (None, 1)]
    assert models == [("anthropic:a", 14), ("openai:b", 0)]
    assert whole.at_most(Price(1_000_000, 500_000, 2_000_000)) == 14 + 60 + 20 + 20


@requirement("sem.cost")
def test_a_call_is_settled_in_place(store: Store) -> None:
    with store.write("ours") as tx:
        tx.spend.save(call(1, usage=Usage(5, 1, 0), micro_dollars=1, outcome="answered"))
        after = tx.spend.total(since=AT)
    store.close()

    assert after.calls == 3
    assert after.micro_dollars == 8


def test_sums_of_spaces_add_up() -> None:
    one = Spent(calls=1, usage=Usage(1, 2, 3), micro_dollars=4, unpriced_calls=1, unpriced=Usage(1, 2, 3))

    assert total([one, one]) == Spent(
        calls=2, usage=Usage(2, 4, 6), micro_dollars=8, unpriced_calls=2, unpriced=Usage(2, 4, 6)
    )


@requirement("ops.schema")
def test_amounts_of_the_older_schema_are_kept(empty_database_url: str) -> None:
    engine = create_engine(empty_database_url)
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT set_config('holdfast.space', 'ours', true)"))
        else:
            connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID}"))
        connection.execute(
            text(
                "INSERT INTO spaces (name, profile, key, has_work, created_at) "
                "VALUES ('ours', 'default', '00', false, '2026-03-01T00:00:00.000000+00:00')"
            )
        )
        connection.execute(text("INSERT INTO heads (space, seq) VALUES ('ours', 0)"))
        connection.execute(
            text(
                "INSERT INTO spend (space, id, purpose, model, input_tokens, output_tokens, cost, created_at)"
                " VALUES ('ours', 'c', 'gate', 'm', 10, 2, 0.0125, '2026-03-01T00:00:00.000000+00:00')"
            )
        )
    engine.dispose()

    migrate_store(empty_database_url)

    store = open_store(empty_database_url)
    with store.read("ours") as tx:
        spent = tx.spend.total()
    store.close()
    assert spent == Spent(calls=1, usage=Usage(10, 2, 0), micro_dollars=12_500)
