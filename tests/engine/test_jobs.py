"""Background work: taken by one worker at a time, done again after a crash, given up in the end."""

from collections.abc import Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.jobs import LEASE, MOST_ATTEMPTS
from holdfast.testing import FixedClock


@pytest.fixture
def memories(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    store = open_store(database_url)
    yield Memories.of(store, "default", clock=clock)
    store.close()


def test_a_job_is_taken_once_and_done(memories: Memories) -> None:
    memories.queue("read", {"path": "a.jsonl"})

    job = memories.take_job("read")
    assert job is not None
    second = memories.take_job("read")
    memories.finish_job(job)

    assert dict(job.payload) == {"path": "a.jsonl"}
    assert second is None
    assert memories.take_job("read") is None


def test_the_same_id_is_queued_once_and_other_kinds_are_left_alone(memories: Memories) -> None:
    assert memories.queue("read", {"n": 1}, job_id="same")
    assert not memories.queue("read", {"n": 2}, job_id="same")

    assert memories.take_job("embed") is None
    job = memories.take_job("embed", "read")
    assert job is not None
    assert dict(job.payload) == {"n": 1}


def test_a_job_whose_worker_died_is_taken_again_when_its_lease_ends(
    memories: Memories, clock: FixedClock
) -> None:
    memories.queue("read", {})
    first = memories.take_job("read")
    assert first is not None

    clock.advance(seconds=LEASE.total_seconds() - 1)
    assert memories.take_job("read") is None
    clock.advance(seconds=2)
    again = memories.take_job("read")
    assert again is not None
    memories.finish_job(first)  # the worker that was thought dead comes back late

    assert again.id == first.id
    assert again.attempts == 2
    memories.fail_job(again, "still the second worker's")
    clock.advance(hours=1)
    assert memories.take_job("read") is not None


def test_a_failing_job_is_tried_ever_later_and_given_up_in_sight(
    memories: Memories, clock: FixedClock
) -> None:
    memories.queue("read", {}, job_id="bad")
    pauses = []
    for _ in range(MOST_ATTEMPTS):
        job = memories.take_job("read")
        assert job is not None
        memories.fail_job(job, "the file is gone")
        with memories.store.read("default") as tx:
            due = tx.jobs.get("bad")
        assert due is not None
        pauses.append(due.due_at - clock())
        clock.set(due.due_at)

    with memories.store.read("default") as tx:
        [failed] = tx.jobs.in_state("failed", 10)
        unfinished = tx.jobs.unfinished()

    assert pauses == sorted(set(pauses))
    assert failed.error == "the file is gone"
    assert unfinished == 0
    assert memories.take_job("read") is None


def test_a_secret_in_an_error_is_not_stored(memories: Memories) -> None:
    memories.queue("read", {}, job_id="one")
    job = memories.take_job("read")
    assert job is not None

    memories.fail_job(job, "refused: AKIAIOSFODNN7EXAMPLE is no key")

    with memories.store.read("default") as tx:
        stored = tx.jobs.get("one")
    assert stored is not None
    assert "AKIAIOSFODNN7EXAMPLE" not in (stored.error or "")
