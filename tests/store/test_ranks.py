"""What briefs and decay read is kept beside the memories: it follows every write, and stays small to read."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, event, insert, select, text, update

from holdfast.app.wiring import context_for
from holdfast.domain.query import Filter, in_order
from holdfast.domain.render import Block, render
from holdfast.engine.brief import brief
from holdfast.engine.sessions import open_session
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import create_space
from holdfast.engine.supersession import superseded_by
from holdfast.profiles import BUILT_IN, built_in
from holdfast.store import schema, sqlite
from holdfast.store.database import Database
from holdfast.store.transaction import SpaceTransaction
from tests.requirements_ledger import requirement
from tests.store.full_space import fill

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FEW, MANY = 200, 2_000
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database.open(database_url)
    yield opened
    opened.close()


def context(database: Database, space: str) -> SpaceContext:
    return replace(context_for(space, database, embedder=None), clock=lambda: NOW)


def filled(database: Database, profile: str, size: int, **given: Any) -> SpaceContext:
    """A space with memories of all kinds, some superseded, some in projects, some spelt in two ways."""
    space = f"{profile}-{size}"
    create_space(space, store=database, clock=lambda: NOW, profile=profile)
    chance = random.Random(profile)
    rows = [row(number, space, profile, chance) | given for number in range(size)]
    links = [
        {"space": space, "from_id": f"M{n}", "to_id": f"M{chance.randrange(n)}", "kind": "supersedes"}
        for n in range(1, size, 20)
    ]
    with database.write(space) as tx:
        tx.connection.execute(insert(schema.memories), rows)
        tx.connection.execute(insert(schema.links), [link | {"created_at": NOW} for link in links])
        tx.ranks.rank_all()
    return context(database, space)


def row(number: int, space: str, profile: str, chance: random.Random) -> dict[str, Any]:
    created = NOW - timedelta(minutes=chance.randrange(20_000))
    subject = f"note {number}" if profile == "files" else chance.choice([None, "mail", "Mail", "web-api"])
    return {
        "space": space,
        "id": f"M{number}",
        "category": chance.choice(built_in(profile).category_names),
        "subject": subject,
        "project": chance.choice([None, None, "atlas", "other"]),
        "content": " ".join(chance.choices(WORDS, k=chance.randrange(1, 25))),
        "tags": [],
        "confidence": chance.choice([0.3, 0.7, 0.7, 0.85, 1.0]),
        "importance": chance.randrange(1, 6),
        "state": chance.choice(["active"] * 9 + ["inactive", "forgotten"]),
        "pinned": chance.random() < 0.01,
        "version": 1,
        "origin": chance.choice(["operator", "import"]),
        "created_at": created,
        "updated_at": created + timedelta(minutes=chance.randrange(60)),
        "confirmed_at": created,
        "decayed_weeks": 0,
        "accesses": 0,
    }


def of_all(tx: SpaceTransaction, ctx: SpaceContext, project: str | None, **asked: Any) -> Block:
    """The block that is made of every memory of a space."""
    policy, block = ctx.profile.policy, ctx.profile.block
    where = Filter(least_confidence=policy.floor, project=project, other_projects=False)
    memories = in_order(tx.memories.find(where), "category")
    superseded = superseded_by(tx, [memory.id for memory in tx.memories.find(Filter())])
    if not block.shows_superseded:
        memories = [memory for memory in memories if memory.id not in superseded]
    return render(memories, ctx.profile, superseded=superseded, **asked)


@requirement("ops.brief.budget", "ops.brief.count", "ops.brief.service", "asst.order")
@pytest.mark.parametrize("profile", BUILT_IN)
def test_a_brief_is_what_reading_every_memory_would_give(database: Database, profile: str) -> None:
    ctx = filled(database, profile, 200)
    asked: list[dict[str, Any]] = [
        {"budget": budget, "subject": subject}
        for budget in (None, 0, 333, 100_000)
        for subject in (None, "Web API")
    ]

    for project in (None, "atlas"):
        for each in asked:
            made = brief(ctx=ctx, project=project, **each)
            with database.read(ctx.space) as tx:
                whole = of_all(tx, ctx, project, **each)
            assert made.text == whole.text
            assert made.included == tuple(memory.id for memory in whole.included)
            assert (made.tokens, made.left_out) == (whole.tokens, whole.left_out)


def ranks(tx: SpaceTransaction) -> tuple[list[Any], list[Any]]:
    places = select(schema.brief_ranks).order_by(schema.brief_ranks.c.space, schema.brief_ranks.c.memory_id)
    total = schema.brief_totals.c
    totals = select(total.space, total.project, total.amount).where(total.amount != 0)
    return list(tx.connection.execute(places)), sorted(map(tuple, tx.connection.execute(totals)))


@pytest.mark.parametrize("profile", BUILT_IN)
def test_ranks_after_every_verb_are_what_they_would_be_if_made_anew(
    database: Database, database_url: str, profile: str
) -> None:
    create_space("life", store=database, clock=lambda: NOW, profile="default")
    if profile == "default":
        fill(database_url, "life")
    ctx = filled(database, profile, 100)
    with database.write(ctx.space) as tx:
        chance = random.Random(1)
        for memory in chance.sample(tx.memories.find(Filter(states=("active", "inactive"))), 30):
            tx.memories.save(
                replace(
                    memory,
                    state=chance.choice(["active", "inactive", "forgotten"]),
                    project=chance.choice([None, "atlas", "new"]),
                    confidence=chance.random(),
                    pinned=chance.random() < 0.2,
                )
            )
        for link in chance.sample(tx.links.of_kind("supersedes"), 2):
            tx.links.remove(link.from_id, link.to_id, "supersedes")
            tx.memories.remove(chance.choice([link.from_id, link.to_id]))

    for space in (ctx.space, "life"):
        with database.write(space) as tx:
            kept = ranks(tx)
            tx.ranks.rank_all()
            assert ranks(tx) == kept


def test_other_rules_of_a_release_make_the_ranks_anew(database: Database) -> None:
    ctx = filled(database, "ops", FEW)
    before = brief(ctx=ctx).text
    with database.write(ctx.space) as tx:
        tx.connection.execute(delete(schema.brief_ranks))
        tx.connection.execute(update(schema.heads).values(ranked_by="others"))

    assert brief(ctx=ctx).text == before != ""


# ------------------------------------------------------------------------------------------ how much is read


@contextmanager
def counting(database: Database) -> Iterator[Callable[[], int]]:
    """Tells how much the database did: steps of SQLite's machine, or rows that a server fetched."""
    steps = before = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    def fetched(connection: Any) -> int:
        of_ours = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
        return int(connection.connection.cursor().execute(of_ours).fetchone()[0] or 0)

    def begun(connection: Any) -> None:
        nonlocal before
        if database.path is not None:
            sqlite.driver_of(connection).set_progress_handler(step, 1)
        else:  # the server has not yet put away what the connection did within the last second
            before = fetched(connection)

    def ending(connection: Any) -> None:
        nonlocal steps
        if database.path is not None:
            sqlite.driver_of(connection).set_progress_handler(None, 0)
        else:
            steps += fetched(connection) - before

    watched = {"begin": begun, "commit": ending}
    for name, told in watched.items():
        event.listen(database.engine, name, told)
    try:
        yield lambda: steps
    finally:
        for name, told in watched.items():
            event.remove(database.engine, name, told)


@pytest.mark.parametrize("profile", ["default", "ops"])
@pytest.mark.parametrize("verb", ["brief", "brief of a session", "session start"])
@pytest.mark.not_on_citus("counts what one server reads")
def test_what_a_brief_and_a_session_start_read_does_not_grow_with_the_space(
    database: Database, profile: str, verb: str
) -> None:
    def act(ctx: SpaceContext) -> object:
        if verb == "session start":
            return open_session("s", ctx=ctx, project="atlas")
        return brief(ctx=ctx, project="atlas", session="s" if verb == "brief of a session" else None)

    costs = []
    for size in (FEW, MANY):
        ctx = filled(database, profile, size)
        with database.engine.begin() as connection:
            if database.path is None:
                connection.execute(text("ANALYZE"))
        with counting(database) as cost:
            act(ctx)
            costs.append(cost())

    # A server may read the few rows of a small table one by one, as it plans.
    assert 0 < costs[1] < 2 * max(costs[0], 20)


@requirement("ops.decay.stale")
@pytest.mark.not_on_citus("counts what one server reads")
def test_decay_reads_the_memories_that_are_due_and_no_others(database: Database) -> None:
    ctx = filled(database, "ops", MANY)
    with database.write(ctx.space) as tx:
        due = [memory.id for memory in tx.memories.find(Filter(), limit=3) if not memory.pinned]
        for memory in tx.memories.many(due):
            tx.memories.save(replace(memory, confirmed_at=NOW - timedelta(days=44)))

    with counting(database) as cost:
        open_session("s", ctx=ctx)

    with database.read(ctx.space) as tx:
        found = tx.memories.find(Filter(states=("active", "inactive")))
    assert {memory.id for memory in found if memory.decayed_weeks} == set(due)
    assert 0 < cost() < MANY
