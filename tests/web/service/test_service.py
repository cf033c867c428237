"""The service as a whole: what it announces, whom it answers, how it ends."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from holdfast import Memories, __version__
from tests.requirements_ledger import requirement
from tests.web.service.conftest import Service


@requirement("trust.secrets")
def test_it_makes_a_store_says_where_it_is_and_nothing_else_while_it_is_there(tmp_path: Path) -> None:
    service = Service(tmp_path / "holdfast")
    announced = service.home / "service.json"

    told = json.loads(announced.read_text())
    healthy = httpx2.get(f"{service.url}/health", timeout=60).json()
    kept = service.post("/api/memory/", {"content": "Zanzibar-5520 is the word"})
    service.process.terminate()
    _, log = service.process.communicate(timeout=60)

    database = str((service.home / "holdfast.db").resolve())
    assert told == {
        "url": service.url,
        "pid": service.process.pid,
        "db": database,
        "version": __version__,
        "settings": {"HOLDFAST_EMBEDDER": "none"},
    }
    assert healthy == {"ok": True}
    assert kept.status_code == 201
    assert (service.process.returncode, log) == (0, "")
    assert not announced.exists()


def test_a_signal_ends_it_cleanly_and_it_starts_again(service: Service) -> None:
    token = service.token

    ended = service.stop(signal.SIGTERM)
    again = Service(service.home)
    token_again, ended_again = again.token, again.stop(signal.SIGINT)

    assert ended == 0
    assert token_again == token
    assert ended_again == 0


@requirement("trust.local")
def test_the_token_is_for_its_owner_only_and_asked_of_everybody(shared: Service) -> None:
    file = shared.home / "token"

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert httpx2.post(f"{shared.url}/hooks/SessionStart", json={}, timeout=60).status_code == 401
    assert httpx2.post(f"{shared.url}/mcp", json={}, timeout=60).status_code == 401
    assert shared.post("/hooks/SessionStart", {}, Host="evil.example").status_code == 421
    assert shared.post("/mcp", {}, Origin="http://evil.example").status_code == 403


def test_a_second_service_of_the_same_user_is_refused_in_one_line(shared: Service) -> None:
    second = serve("--port", "0", env=shared.environment)

    assert second.returncode == 1
    assert second.stderr.startswith("holdfast: the service is already running")
    assert len(second.stderr.splitlines()) == 1


def test_an_address_of_the_outside_is_refused() -> None:
    outside = serve("--host", "0.0.0.0", "--port", "0")

    assert outside.returncode == 1
    assert "is not a local address" in outside.stderr


def serve(*options: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A service that does not come to serve."""
    command = [sys.executable, "-m", "holdfast", "serve", *options]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)


@requirement("sem.mcp")
@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_mcp_over_http_remembers_and_finds(shared: Service, era: str) -> None:
    known = {"Authorization": f"Bearer {shared.token}"}
    fact = f"Deploys of {era} run on Fridays"

    async def conversation() -> str:
        async with httpx2.AsyncClient(headers=known) as web:
            transport = streamable_http_client(f"{shared.url}/mcp", http_client=web)
            async with Client(transport, mode=era) as client:
                await client.call_tool("memory_remember", {"content": fact})
                found = await client.call_tool("memory_search", {"query": fact})
                return str(found.content[0].text)  # type: ignore[union-attr]

    assert fact in anyio.run(conversation)


def test_a_hook_gets_its_brief_from_what_another_process_remembered(shared: Service) -> None:
    with Memories.open(str(shared.home / "holdfast.db")) as memories:
        memories.remember("The bakery opens at six")

    answer = shared.post("/hooks/SessionStart", {"session_id": "s1", "source": "startup"})

    assert answer.status_code == 200
    assert "The bakery opens at six" in answer.json()["context"]


@requirement("trust.local")
def test_others_are_answered_only_under_a_name_that_was_given(tmp_path: Path) -> None:
    open_one = Service(tmp_path / "holdfast", "--host", "0.0.0.0", "--outside", "memory.example.org")
    url = open_one.url.replace("0.0.0.0", "127.0.0.1")
    known = {"Authorization": f"Bearer {open_one.token}"}

    named = httpx2.get(f"{url}/api/stats", headers={**known, "Host": "memory.example.org"}, timeout=60)
    other = httpx2.get(f"{url}/api/stats", headers={**known, "Host": "evil.example"}, timeout=60)
    nobody = httpx2.get(f"{url}/api/stats", headers={"Host": "memory.example.org"}, timeout=60)

    assert (named.status_code, other.status_code, nobody.status_code) == (200, 421, 401)
    assert open_one.stop() == 0
