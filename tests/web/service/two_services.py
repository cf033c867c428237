"""Two services with homes of their own on one PostgreSQL, and facts that they read out of conversations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import create_engine, text

from tests.web.service.conftest import Service

NAMES = """Petra Anna Boris Clara David Elena Felix Greta Henrik Irina Jonas Katrin
Lukas Maria Niklas Olga Pavel Quentin Rosa Stefan Tanja Ursula Viktor Wanda""".split()
TRADES = """landlord accountant plumber dentist gardener lawyer electrician baker translator
architect tailor driver carpenter librarian surgeon florist locksmith optician
pharmacist painter roofer typist vet welder""".split()
FACTS = [f"From now on {name} is our {trade}." for name, trade in zip(NAMES, TRADES, strict=True)]
PATIENCE = 120.0  # seconds until work that is not done counts as stuck


@contextmanager
def two(url: str, homes: Path) -> Iterator[list[Service]]:
    """Both, ended afterwards."""
    services = [Service(homes / name, "--db", url) for name in ("one", "two")]
    try:
        yield services
    finally:
        for service in services:
            service.stop()


def get(service: Service, path: str, **query: str) -> Any:
    answer = httpx2.get(
        f"{service.url}{path}",
        params=query,
        headers={"Authorization": f"Bearer {service.token}"},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def tell(service: Service, session: str, fact: str) -> None:
    """Somebody says a thing, and the session ends: it is to be read now."""
    said = {"messages": [{"id": f"{session}-1", "role": "user", "content": fact}]}
    assert service.post(f"/api/sessions/{session}/messages", said).status_code == 200
    assert service.post(f"/api/sessions/{session}/close", {}).status_code == 200


def until(what: Callable[[], bool]) -> None:
    """Looks until it is so."""
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, "the work was not done"
        time.sleep(0.05)


def unfinished(owner_url: str) -> int:
    return int(_one(owner_url, "SELECT count(*) FROM jobs WHERE state IN ('queued', 'running')"))


def end_leases(owner_url: str) -> None:
    """As if the time had passed for which a worker is waited for."""
    engine = create_engine(owner_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET leased_until = now() WHERE state = 'running'"))
    engine.dispose()


def kill_holding_a_job(service: Service, owner_url: str) -> str:
    """Kills a service in the middle of a job, whose id is answered.

    While a transaction of ours holds the lock of the space, no job can end.
    """
    engine = create_engine(owner_url)
    found: list[str] = []

    def killed() -> bool:
        with engine.begin() as connection:
            connection.execute(text("SELECT seq FROM heads FOR UPDATE"))
            found[:] = connection.execute(text("SELECT id FROM jobs WHERE state = 'running'")).scalars()
            if found:
                service.process.kill()
                service.process.communicate()
        return bool(found)

    until(killed)
    engine.dispose()
    return found[0]


def tries(owner_url: str) -> list[int]:
    """How often each session that was read was begun with."""
    engine = create_engine(owner_url)
    with engine.connect() as connection:
        found = list(
            connection.execute(
                text("SELECT attempts FROM jobs WHERE kind = 'capture' AND state = 'done'")
            ).scalars()
        )
    engine.dispose()
    return found


def _one(owner_url: str, query: str) -> Any:
    engine = create_engine(owner_url)
    with engine.connect() as connection:
        found = connection.execute(text(query)).scalar_one()
    engine.dispose()
    return found
