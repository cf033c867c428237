"""Another embedder: its vectors are made while the old ones are searched, and take over when complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from holdfast import Memories
from holdfast.app.wiring import context_for
from holdfast.engine.embedding import embed_missing, search_model
from holdfast.engine.ports import Embedder, Store
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add
from tests.store.some_vectors import Hashing

OLD, NEW = Hashing("old", 32), Hashing("new", 48)
KNOWN: Mapping[str, Embedder] = {"old": OLD, "new": NEW}


@pytest.fixture
def ctx(store: Store, clock: FixedClock) -> SpaceContext:
    """With the old embedder, which has embedded ten memories and ten messages."""
    ctx = context_for("default", store, clock=clock, embedder=OLD, open_embedder=KNOWN.get)
    memories = Memories.of(store, "default", clock=clock)
    for number in range(10):
        add(memories, f"Note {number} about something of its own", subject=f"s{number}")
        memories.say("s1", "user", f"Message {number}")
    embed_missing(ctx, limit=1_000)
    return ctx


def searched(ctx: SpaceContext) -> str | None:
    with ctx.store.read("default") as tx:
        embedder = search_model(ctx, tx)
    return embedder.name if embedder else None


def progress(ctx: SpaceContext) -> dict[str, tuple[int, int, bool]]:
    with ctx.store.read("default") as tx:
        return {model.name: (model.memories_to, model.messages_to, model.ready) for model in tx.models.all()}


@requirement("sem.embedder.change")
def test_the_old_vectors_are_searched_until_the_new_ones_are_complete(ctx: SpaceContext) -> None:
    changed = replace(ctx, embedder=NEW)
    seen = [searched(changed)]

    steps = []
    while "old" in progress(changed):
        embed_missing(changed, limit=1_000, changing=6)
        steps.append(progress(changed))
        seen.append(searched(changed))

    assert [step["new"] for step in steps] == [
        (6, 0, False),
        (10, 2, False),
        (10, 8, False),
        (10, 10, True),
    ]
    assert seen == ["old", "old", "old", "old", "new"]
    assert progress(changed) == {"new": (10, 10, True)}


@requirement("sem.embedder.change")
def test_what_is_written_meanwhile_is_found_with_the_old_model_at_once(
    ctx: SpaceContext, clock: FixedClock
) -> None:
    changed = replace(ctx, embedder=NEW)
    embed_missing(changed, limit=1_000, changing=3)
    late = add(Memories.of(ctx.store, "default", clock=clock), "A late note on the parrot", subject="late")

    embed_missing(changed, limit=1_000, changing=3)

    with ctx.store.read("default") as tx:
        embedder = search_model(changed, tx)
        assert embedder is OLD
        [found] = tx.memory_vectors.nearest([embedder.query("late parrot")], embedder.name, 1)
    assert found == late.id


@requirement("sem.embedder.change")
def test_where_the_old_model_can_not_be_had_the_new_one_is_searched_as_far_as_it_is(
    ctx: SpaceContext,
) -> None:
    changed = replace(ctx, embedder=NEW, open_embedder=lambda _: None)

    embed_missing(changed, limit=5)

    assert searched(changed) == "new"
    assert progress(changed)["new"] == (5, 0, False)


def test_an_old_model_that_fails_does_not_keep_the_new_one_from_getting_ready(
    ctx: SpaceContext, clock: FixedClock
) -> None:
    class Failing(Hashing):
        def documents(self, texts: object) -> list[list[bytes]]:
            raise ConnectionError("gone")

    def opened(name: str) -> Embedder | None:
        return Failing(name)

    add(Memories.of(ctx.store, "default", clock=clock), "Something new to embed", subject="new")
    changed = replace(ctx, embedder=NEW, open_embedder=opened)

    embed_missing(changed, limit=1_000, changing=1_000)

    assert searched(changed) == "new"
    assert progress(changed) == {"new": (11, 10, True)}


def test_an_old_model_that_can_not_be_opened_is_none(ctx: SpaceContext) -> None:
    def opened(name: str) -> Embedder | None:
        raise Unavailable("no key")

    assert searched(replace(ctx, embedder=NEW, open_embedder=opened)) == "new"
    assert searched(replace(ctx, embedder=NEW, open_embedder=None)) == "new"
    assert searched(replace(ctx, embedder=None)) is None


@requirement("sem.embedder.change")
def test_going_back_to_the_old_model_keeps_what_it_has(ctx: SpaceContext) -> None:
    embed_missing(replace(ctx, embedder=NEW), limit=1_000, changing=6)
    asked = OLD.asked

    embed_missing(ctx, limit=1_000)

    assert OLD.asked == asked
    assert searched(ctx) == "old"


def test_a_calibration_is_kept_with_its_model(ctx: SpaceContext, store: Store) -> None:
    with store.write("default") as tx:
        tx.models.calibrate("old", {"floor": 0.4})
        [model] = tx.models.all()

    assert model.calibration == {"floor": 0.4}
