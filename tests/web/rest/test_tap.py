"""The tap from end to end: a real service, both databases, a kill in between, and what comes of it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

from examples.bridged_chat import Bridge
from holdfast import Client, Memories
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from holdfast.engine.reading_queue import EVERY, EVERY_MESSAGES
from tests.real_agents.scripted_model import ScriptedModel
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served
from tests.web.service.conftest import Service

SPACE = "talks"
DECISION = "We decided to use PostgreSQL for the billing service."


def _said(first: int, *texts: str) -> list[dict[str, str]]:
    return [
        {"role": "user", "content": text, "id": f"m{number}"}
        for number, text in enumerate(texts, start=first)
    ]


@pytest.fixture
def secret(database_url: str) -> str:
    store = open_store(database_url)
    try:
        Administration(store).create_space(SPACE, profile="semantic")
        return Administration(store).create_token("write", spaces=(SPACE,)).secret
    finally:
        store.close()


@pytest.fixture
def running(database_url: str, secret: str, tmp_path: Path) -> Iterator[list[Service]]:
    """The service, as the last of a list: a test may put another one in its place."""
    services = [Service(tmp_path / "holdfast", HOLDFAST_DB=database_url)]
    yield services
    services[-1].stop()


def _post(service: Service, secret: str, path: str, body: Any) -> dict[str, Any]:
    known = {"Authorization": f"Bearer {secret}"}
    answer = httpx2.post(f"{service.url}{path}", json=body, headers=known, timeout=60)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@requirement("sem.tap.http")
@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_a_kill_once_and_in_order(
    running: list[Service], database_url: str, secret: str
) -> None:
    place = "/api/sessions/chat-1/messages"
    _post(running[0], secret, place, {"messages": _said(1, "one", "two")})
    body = {"session": "chat-1", "messages": _said(3, "three")}
    _post(running[0], "none", f"/webhook/{secret}/messages", body)
    running[0].process.send_signal(signal.SIGKILL)
    running[0].process.communicate()

    with Memories.open(database_url, SPACE) as memories:
        kept = [(one.number, one.content) for one in memories.session("chat-1").messages]
    running.append(Service(running[0].home, HOLDFAST_DB=database_url))
    again = _post(running[1], secret, place, {"messages": _said(1, "one", "two", "three", "four")})

    assert kept == [(1, "one"), (2, "two"), (3, "three")]
    assert (again["received"], [one["id"] for one in again["messages"]]) == (4, ["m4"])


@requirement("sem.tap.http")
def test_reading_is_due_after_some_messages_or_after_a_while(served: Served) -> None:
    served.make(SPACE)
    writer = served.caller(served.token("write", spaces=(SPACE,)))

    def due_in() -> timedelta:
        [job] = writer.get("/api/jobs").json()["jobs"]
        return datetime.fromisoformat(job["due_at"]) - datetime.now(UTC)

    writer.post("/api/sessions/chat-1/messages", json={"messages": _said(1, "one")})
    after_one = due_in()
    many = [f"text {number}" for number in range(EVERY_MESSAGES - 1)]
    writer.post("/api/sessions/chat-1/messages", json={"messages": _said(2, *many)})
    after_many = due_in()

    assert timedelta(0) < after_one <= EVERY
    assert after_many <= timedelta(0)
    assert served.woken == 2


@requirement("sem.tap.http")
def test_what_one_conversation_said_another_is_given(served: Served) -> None:
    """Posted, read in the background, and returned: as context, and as the delta of one that was briefed."""
    served.make(SPACE, "semantic")
    writer = served.caller(served.token("write", spaces=(SPACE,)))
    writer.get("/api/sessions/other/brief")
    writer.post("/api/sessions/chat-1/messages", json={"messages": _said(1, DECISION)})
    writer.post("/api/sessions/chat-1/close", json={})

    [read] = served.registry.memories(SPACE).capture()
    asked = {"text": "Which database does the billing service use?"}
    context = writer.get("/api/sessions/fresh/context", params=asked).json()["text"]
    delta = writer.get("/api/sessions/other/delta").json()["text"]
    again = writer.get("/api/sessions/other/delta").json()["text"]

    assert len(read.outcomes) == 1
    assert "PostgreSQL for the billing service" in context
    assert "PostgreSQL for the billing service" in delta
    assert again == ""


# ---------------------------------------------------------------------------------------------- the example


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    scripted = ScriptedModel()
    yield scripted
    scripted.close()


@requirement("sem.tap.http")
@pytest.mark.slow
def test_a_bridged_chat_is_remembered_by_the_next_one_and_survives_the_service(
    running: list[Service], database_url: str, secret: str, model: ScriptedModel
) -> None:
    service = running[0]
    claude = anthropic.Anthropic(base_url=model.url, api_key="none", max_retries=0)
    model.say("Noted.", "Bye.", "It is PostgreSQL.", "Nobody is there.", "Welcome back.")

    with Client(service.url, secret) as memories:
        first = Bridge(memories, claude, session="chat-1")
        first.say(DECISION, speaker="Alec")
        first.say("See you")
        first.close()
        _until_known(memories)
        second = Bridge(memories, claude, session="chat-2")
        answer = second.say("Which database does the billing service use?")
        service.process.send_signal(signal.SIGKILL)
        service.process.communicate()
        second.say("Is the memory away?")
        running.append(
            Service(service.home, "--port", service.url.rpartition(":")[2], HOLDFAST_DB=database_url)
        )
        second.say("And back?")
        kept = memories.session("chat-2").messages
    claude.close()

    assert answer == "It is PostgreSQL."
    assert "PostgreSQL for the billing service" in model.requests[2].text
    assert [one.content for one in kept] == [
        "Which database does the billing service use?",
        "It is PostgreSQL.",
        "Is the memory away?",
        "Nobody is there.",
        "And back?",
        "Welcome back.",
    ]


def _until_known(memories: Client) -> None:
    """The service reads a session that ended by itself, soon."""
    ends = datetime.now(UTC) + timedelta(seconds=60)
    while not memories.find().memories:
        assert datetime.now(UTC) < ends, "nothing was taken out of what was said"
