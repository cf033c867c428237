"""Background work: taken by one worker at a time, done again after a crash, given up in the end."""

from collections.abc import Iterator

import pytest

from holdfast.app.wiring import context_for, open_store
from holdfast.domain.jobs import Job
from holdfast.engine import jobs
from holdfast.engine.jobs import LEASE, MOST_ATTEMPTS
from holdfast.engine.space_context import SpaceContext
from holdfast.testing import FixedClock


@pytest.fixture
def ctx(database_url: str, clock: FixedClock) -> Iterator[SpaceContext]:
    store = open_store(database_url)
    yield context_for("default", store, clock=clock)
    store.close()


def add(ctx: SpaceContext, job_id: str = "one", path: str = "a.jsonl") -> bool:
    now = ctx.now()
    with ctx.store.write(ctx.space) as tx:
        return tx.jobs.add(Job(id=job_id, kind="read", payload={"path": path}, due_at=now, created_at=now))


def take(ctx: SpaceContext, kind: str = "read") -> Job | None:
    return jobs.take(kind, ctx=ctx)


def test_a_job_is_taken_once_and_done(ctx: SpaceContext) -> None:
    add(ctx)

    job = take(ctx)
    assert job is not None
    second = take(ctx)
    jobs.clear(job, ctx=ctx)

    assert dict(job.payload) == {"path": "a.jsonl"}
    assert second is None
    assert take(ctx) is None


def test_the_same_id_is_queued_once_and_other_kinds_are_left_alone(ctx: SpaceContext) -> None:
    assert add(ctx, "same", "1")
    assert not add(ctx, "same", "2")

    assert take(ctx, "embed") is None
    job = take(ctx)
    assert job is not None
    assert dict(job.payload) == {"path": "1"}


def test_a_job_whose_worker_died_is_taken_again_when_its_lease_ends(
    ctx: SpaceContext, clock: FixedClock
) -> None:
    add(ctx)
    first = take(ctx)
    assert first is not None

    clock.advance(seconds=LEASE.total_seconds() - 1)
    assert take(ctx) is None
    clock.advance(seconds=2)
    again = take(ctx)
    assert again is not None
    jobs.clear(first, ctx=ctx)  # the worker that was thought dead comes back late

    assert again.id == first.id
    assert again.attempts == 2
    jobs.fail(again, "still the second worker's", ctx=ctx)
    clock.advance(hours=1)
    assert take(ctx) is not None


def test_a_failing_job_is_tried_ever_later_and_given_up_in_sight(
    ctx: SpaceContext, clock: FixedClock
) -> None:
    add(ctx, "bad")
    pauses = []
    for _ in range(MOST_ATTEMPTS):
        job = take(ctx)
        assert job is not None
        jobs.fail(job, "the file is gone", ctx=ctx)
        with ctx.store.read("default") as tx:
            due = tx.jobs.get("bad")
        assert due is not None
        pauses.append(due.due_at - clock())
        clock.set(due.due_at)

    with ctx.store.read("default") as tx:
        [failed] = tx.jobs.in_state("failed", 10)
        others = [*tx.jobs.in_state("queued", 10), *tx.jobs.in_state("running", 10)]

    assert pauses == sorted(set(pauses))
    assert failed.error == "the file is gone"
    assert others == []
    assert take(ctx) is None


def test_a_secret_in_an_error_is_not_stored(ctx: SpaceContext) -> None:
    add(ctx)
    job = take(ctx)
    assert job is not None

    jobs.fail(job, "refused: AKIAIOSFODNN7EXAMPLE is no key", ctx=ctx)

    with ctx.store.read("default") as tx:
        stored = tx.jobs.get("one")
    assert stored is not None
    assert "AKIAIOSFODNN7EXAMPLE" not in (stored.error or "")
