"""kill -9 of writers, of holders of jobs and of whole services on PostgreSQL: what was acknowledged stays."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import create_engine, text

from holdfast import Memories
from tests.faults.fleet import ALL_WELL, Fleet
from tests.faults.plain_check import held_against
from tests.faults.test_killed_writers import SEED, kill_at_random
from tests.requirements_ledger import requirement
from tests.store.test_row_security import service_url  # noqa: F401  # a fixture
from tests.web.service.conftest import Service
from tests.web.service.two_services import PATIENCE, end_leases, two, unfinished, until

BETWEEN = 5  # notes that are acknowledged between two kills of a service
AT_ONCE = 40  # holders that are killed within the time of a lease, on a busy machine too


def asked(owner_url: str, query: str) -> list[tuple[object, ...]]:
    engine = create_engine(owner_url)
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return found


class Caller:
    """Notes one thing after another at whichever service answers, under one key until it is acknowledged."""

    def __init__(self, services: list[Service]) -> None:
        self.acked: dict[str, str] = {}
        self._services = services
        self._ended = threading.Event()
        self._progress = threading.Condition()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def wait_for(self, more: int) -> None:
        with self._progress:
            wanted = len(self.acked) + more
            assert self._progress.wait_for(lambda: len(self.acked) >= wanted, PATIENCE)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._ended.is_set():
            known = self._noted(number)
            if known is None:
                continue  # the same key again: whether the last try was stored is not known
            with self._progress:
                self.acked[known] = f"Note number {number}"
                self._progress.notify_all()
            number += 1

    def _noted(self, number: int) -> str | None:
        for service in self._services:
            body = {"content": f"Note number {number}", "subject": f"k{number}"}
            try:
                answer = service.post("/api/memory/", body, **{"Idempotency-Key": f"k{number}"})
            except httpx2.HTTPError:
                continue
            if answer.status_code in (200, 201):
                return str(answer.json()["id"])
        return None


def kill_services(url: str, owner_url: str, homes: Path, kills: int) -> int:
    """How many notes were acknowledged."""
    chance = random.Random(SEED)
    with two(url, homes) as services:
        caller = Caller(services)
        try:
            for kill in range(kills):
                caller.wait_for(BETWEEN)
                time.sleep(chance.uniform(0, 0.04))  # the moment of the fault, not a synchronisation
                victim = services[kill % 2]
                victim.process.kill()
                victim.process.communicate()
                services[kill % 2] = Service(victim.home, "--db", url)
            caller.wait_for(BETWEEN)
        finally:
            caller.end()

    stored = asked(owner_url, "SELECT id, content FROM memories WHERE content LIKE 'Note number %'")
    assert caller.acked.items() <= set(stored)
    assert len({content for _, content in stored}) == len(stored) <= len(caller.acked) + 1
    return len(caller.acked)


def kill_writers(url: str, owner_url: str, folder: Path, kills: int) -> int:
    """How many memories were acknowledged."""
    ledger = folder / "acked.txt"
    with Fleet(url, ledger) as fleet:
        killed = kill_at_random(fleet, kills, 5 * kills, random.Random(SEED))
        codes = fleet.finish()

    counted = held_against(lambda query: asked(owner_url, query), ledger)
    assert fleet.errors() == ""
    assert codes.count(-signal.SIGKILL) == killed >= kills
    assert counted | {name: ALL_WELL[name] for name in ALL_WELL if name in counted} == counted
    return int(str(counted["acked"]))


def kill_holders(url: str, owner_url: str, folder: Path, kills: int) -> int:
    """How many sessions were read, each of whose holders had been killed in the middle of it."""
    for first in range(0, kills, AT_ONCE):
        _kill_some_holders(url, owner_url, folder, range(first, min(first + AT_ONCE, kills)))

    kept = asked(owner_url, "SELECT content, confidence, version FROM memories WHERE content LIKE 'Item %'")
    assert Counter(kept) == {
        (f"Item {number} is kept in drawer {number}.", 0.7, 1): 1 for number in range(kills)
    }
    return len(kept)


def _kill_some_holders(url: str, owner_url: str, folder: Path, numbers: range) -> None:
    with Memories.open(url) as memories:
        for number in numbers:
            memories.say(f"talk-{number}", "user", f"Item {number} is kept in drawer {number}.")
            memories.close_session(f"talk-{number}")
    with Fleet(url, folder / f"held-{numbers.start}.txt") as fleet:
        for held, number in enumerate(numbers):
            [pid] = fleet.start("holder", [number])
            _kill_in_a_job(pid, owner_url, held=held)
        attempts = asked(owner_url, "SELECT attempts FROM jobs WHERE state = 'running'")
        end_leases(owner_url)
        fleet.start("holder", [numbers.stop])
        while left := unfinished(owner_url):
            until(lambda left=left: unfinished(owner_url) < left)  # type: ignore[misc]
        codes = fleet.finish()

    assert fleet.errors() == ""
    assert codes == [-signal.SIGKILL] * len(numbers) + [0]
    assert attempts == [(1,)] * len(numbers)  # nobody took one whose lease had not ended


def _kill_in_a_job(pid: int, owner_url: str, *, held: int) -> None:
    """Kills the holder of a job, where `held` others have died with theirs.

    While a transaction of ours has the lock of the space, no job can end.
    """
    engine = create_engine(owner_url)

    def killed() -> bool:
        with engine.begin() as connection:
            connection.execute(text("SELECT seq FROM heads FOR UPDATE"))
            running = connection.execute(text("SELECT count(*) FROM jobs WHERE state = 'running'"))
            if running.scalar_one() == held:
                return False
            os.kill(pid, signal.SIGKILL)
            return True

    until(killed)
    engine.dispose()


@pytest.mark.slow
@requirement("trust.durable", "scale.services")
def test_writers_and_holders_of_jobs_that_are_killed_lose_and_double_nothing(
    service_url: str,  # noqa: F811
    postgres_url: str,
    tmp_path: Path,
) -> None:
    acked = kill_writers(service_url, postgres_url, tmp_path, 4)
    read = kill_holders(service_url, postgres_url, tmp_path, 3)

    assert acked >= 20
    assert read == 3


# Together 1,000 kills.


@pytest.mark.faults
@requirement("trust.durable", "scale.services")
def test_500_kills_of_4_writers_on_a_server_lose_and_double_nothing(
    service_url: str,  # noqa: F811
    postgres_url: str,
    tmp_path: Path,
) -> None:
    assert kill_writers(service_url, postgres_url, tmp_path, 500) >= 2_500


@pytest.mark.faults
@requirement("trust.durable", "scale.services")
def test_400_holders_killed_in_the_middle_of_their_jobs_leave_each_to_be_done_once(
    service_url: str,  # noqa: F811
    postgres_url: str,
    tmp_path: Path,
) -> None:
    assert kill_holders(service_url, postgres_url, tmp_path, 400) == 400


@pytest.mark.faults
@requirement("trust.durable", "scale.services")
def test_100_kills_of_one_or_the_other_service_lose_no_acknowledged_write(
    service_url: str,  # noqa: F811
    postgres_url: str,
    tmp_path: Path,
) -> None:
    assert kill_services(service_url, postgres_url, tmp_path, 100) >= 100 * BETWEEN
