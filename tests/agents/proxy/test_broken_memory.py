"""With the memory away, broken or slow, a model's client goes on as if there were none."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, make_url, text

from holdfast.agents.proxy import request_memory
from holdfast.app.wiring import migrate
from holdfast.domain.access import Grant
from holdfast.engine.administration import Administration
from holdfast.errors import Unavailable
from tests.agents.proxy.conftest import SPACE, Claude, Client, Running, both_clients, user, whole_and_streamed
from tests.agents.proxy.upstream import Upstream
from tests.postgres import OwnServer
from tests.requirements_ledger import requirement

SAID = [user("How long does jellyfin need to start?")]


def bare(service: Running, upstream: Upstream, kind: type[Client], stream: bool = False) -> bytes:
    """What this client sends when there is no proxy in between."""

    client = kind(service, stream=stream)
    client.client.base_url = f"{upstream.url}/v1/" if kind is not Claude else upstream.url
    client.say(SAID)
    return upstream.requests.pop().raw


def put_a_folder_in_its_place(file: Path) -> None:
    """So that it can't come back by itself: the service may just be writing down what was said before."""
    for _ in range(1_000):
        for each in file.parent.glob(f"{file.name}*"):
            each.unlink(missing_ok=True)
        try:
            file.mkdir()
        except FileExistsError:
            continue
        return
    raise AssertionError(f"{file} comes back again and again")


@requirement("sem.inject.proxy")
@both_clients
@whole_and_streamed
def test_with_the_database_gone_the_bytes_go_on_unchanged(
    service_on_file: Running,
    upstream: Upstream,
    kind: type[Client],
    stream: bool,
) -> None:
    service_on_file.memories.remember("Jellyfin needs 60 seconds to start", category="fact")
    sent = bare(service_on_file, upstream, kind, stream)
    client = kind(service_on_file, stream=stream)
    client.say(SAID)  # let in once, with the memory in place
    file = Path(service_on_file.database.removeprefix("sqlite:///"))
    service_on_file.registry.close()
    put_a_folder_in_its_place(file)

    told = client.say(SAID)

    assert told == "Done."
    assert upstream.requests[0].raw != sent
    assert upstream.requests[1].raw == sent
    file.rmdir()


@requirement("trust.rates", "trust.quotas")
@both_clients
def test_beyond_a_limit_of_the_token_or_the_space_the_bytes_go_on_unchanged(
    service_on_file: Running, upstream: Upstream, kind: type[Client]
) -> None:
    service_on_file.memories.remember("Jellyfin needs 60 seconds to start", category="fact")
    administration = Administration(service_on_file.memories.store)
    sent = bare(service_on_file, upstream, kind)
    issued = administration.create_token("proxy", spaces=(SPACE,), max_requests=1)
    service_on_file.tokens["proxy"] = issued.secret
    administration.change_space(SPACE, max_messages=0)
    client = kind(service_on_file)

    told = [client.say(SAID), client.say(SAID)]

    assert told == ["Done.", "Done."]
    assert upstream.requests[0].raw != sent
    assert upstream.requests[1].raw == sent
    service_on_file.registry.close()


@requirement("trust.access_log")
def test_what_the_proxy_adds_is_recorded_and_goes_without_memory_where_it_can_not_be(
    service_on_file: Running, upstream: Upstream
) -> None:
    outcome: Any = service_on_file.memories.remember("Jellyfin needs 60 seconds to start", category="fact")
    sent = bare(service_on_file, upstream, Claude)
    Administration(service_on_file.memories.store).change_space(SPACE, access_log=True)
    client = Claude(service_on_file)
    client.say(SAID)
    [read, _] = service_on_file.memories.access_log()
    with sqlite3.connect(service_on_file.database.removeprefix("sqlite:///")) as connection:
        connection.execute("ALTER TABLE access_log RENAME TO access_log_away")
    connection.close()

    told = client.say(SAID)

    assert (read.door, read.verb, read.token is not None) == ("proxy", "proxy_context", True)
    assert outcome.memory.id in read.memories
    assert told == "Done."
    assert [request.raw == sent for request in upstream.requests] == [False, True]


@requirement("sem.inject.proxy")
def test_with_the_tables_dropped_the_bytes_go_on_unchanged(postgres_url: str, upstream: Upstream) -> None:
    service = Running(postgres_url)
    sent = bare(service, upstream, Claude)
    client = Claude(service)
    client.say(SAID)
    engine = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
    engine.dispose()

    told = client.say(SAID)
    service.stop()
    service.registry.close()

    assert told == "Done."
    assert upstream.requests[-1].raw == sent


@requirement("sem.inject.proxy")
def test_with_the_server_stopped_the_bytes_go_on_unchanged_and_memory_comes_back_with_it(
    own_postgres: OwnServer, upstream: Upstream
) -> None:
    url = own_postgres.url.render_as_string(hide_password=False)
    migrate(url)
    service = Running(url)
    service.memories.remember("Jellyfin needs 60 seconds to start", category="fact")
    sent = bare(service, upstream, Claude)
    client = Claude(service)
    client.say(SAID)
    own_postgres.stop()

    away = client.say(SAID)
    own_postgres.restart()
    back = client.say([user("And jellyfin?")])
    service.stop()
    service.registry.close()

    assert (away, back) == ("Done.", "Done.")
    with_memory, without, again = (seen.raw for seen in upstream.requests)
    assert without == sent
    assert b"<holdfast>" in with_memory
    assert b"<holdfast>" in again


@requirement("sem.inject.proxy")
@both_clients
def test_with_the_database_locked_the_deadline_counts(
    service_on_file: Running, upstream: Upstream, kind: type[Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process writes for longer than anybody waits; what was just said would have to be noted."""
    monkeypatch.setattr(request_memory, "DEADLINE", 0.3)
    sent = bare(service_on_file, upstream, kind)
    file = service_on_file.database.removeprefix("sqlite:///")
    # let in before; the first conversation is not this one
    httpx2.get(f"{service_on_file.url}/proxy/{service_on_file.token}/anthropic/v1/models", timeout=60)
    upstream.requests.clear()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    told = kind(service_on_file).say(SAID)
    other.execute("ROLLBACK")
    other.close()

    assert told == "Done."
    assert upstream.requests[0].raw == sent


@requirement("sem.inject.proxy")
def test_what_came_too_late_is_not_noted_as_given(
    service_on_file: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn went on without its memories: later turns must not pretend that it had them."""
    named = {"X-Holdfast-Session": "chat-7"}
    client = Claude(service_on_file, named)
    client.say([user("Good morning")])
    service_on_file.wait_for(2)
    service_on_file.memories.remember("Jellyfin needs 60 seconds to start", category="fact")
    other = sqlite3.connect(service_on_file.database.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(request_memory, "DEADLINE", 0.3)
    history = [user("Good morning"), {"role": "assistant", "content": "Done."}, *SAID]

    client.say(history)
    monkeypatch.setattr(request_memory, "DEADLINE", 30.0)
    other.execute("ROLLBACK")
    other.close()
    service_on_file.wait_for(3)
    client.say([*history, {"role": "assistant", "content": "Done."}, user("Thank you")])

    late, after = (seen.body["messages"] for seen in upstream.requests[1:])
    assert late == history
    assert after[: len(history)] == history


class Stuck:
    """Rooms whose door never opens, until the test lets go."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def entered(self, grant: Grant, space: str | None = None) -> Any:
        self.released.wait(60)
        raise Unavailable("it was stuck")


@pytest.fixture
def stuck(service_on_file: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    registry = Stuck()
    monkeypatch.setattr(service_on_file.registry, "entered", registry.entered)
    yield registry
    registry.released.set()


def test_a_memory_that_hangs_costs_its_deadline_and_no_more(
    service_on_file: Running, upstream: Upstream, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More requests than may be read at once: those that hang do not keep the others from going on."""
    monkeypatch.setattr(request_memory, "DEADLINE", 0.2)
    told: list[str] = []
    clients = [
        threading.Thread(target=lambda: told.append(Claude(service_on_file).say(SAID))) for _ in range(20)
    ]

    for client in clients:
        client.start()
    for client in clients:
        client.join(60)

    assert told == ["Done."] * 20
    assert all(b"holdfast" not in seen.raw for seen in upstream.requests)


def test_a_memory_that_fails_in_a_way_nobody_thought_of(
    service_on_file: Running, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def surprise(*_: Any) -> Any:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr(service_on_file.registry, "entered", surprise)

    assert Claude(service_on_file).say(SAID) == "Done."
    assert json.loads(upstream.requests[0].raw)["messages"] == SAID


@requirement("trust.local")
def test_a_token_that_was_never_seen_stays_outside_while_nobody_can_tell(
    service_on_file: Running, upstream: Upstream
) -> None:
    file = Path(service_on_file.database.removeprefix("sqlite:///"))
    service_on_file.registry.close()
    for each in file.parent.glob(f"{file.name}*"):
        os.unlink(each)
    file.mkdir()
    url = f"{service_on_file.url}/proxy/{service_on_file.token}/anthropic/v1/messages"

    answer = httpx2.post(url, json={"messages": SAID}, timeout=60)

    assert answer.status_code == 503
    assert upstream.requests == []
    file.rmdir()
