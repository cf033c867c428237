"""The service's log: a line a request, what goes wrong, and nothing of what anybody said."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.web.service.logs import LogForm, set_up
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import OWN, Served
from tests.web.rest.routes import EXAMPLES
from tests.web.service.conftest import Service, with_store

CANARY = "Zanzibar-5520"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the log says; as it was afterwards."""
    root, requests = logging.getLogger(), logging.getLogger("holdfast.requests")
    before = (root.handlers[:], root.level, requests.level)
    yield io.StringIO()
    root.handlers[:], root.level, requests.level = before[0], before[1], before[2]
    root.setLevel(before[1])


@pytest.fixture
def served(sqlite_url: str) -> Iterator[Served]:
    service = Served(sqlite_url)
    yield service
    service.registry.close()


def ask_everywhere(served: Served, secret: str) -> int:
    """Every route with the canary in its address, its query, its body and its headers."""
    client = served.caller(secret)
    for method, path in EXAMPLES:
        place = path.replace("{token}", secret)
        while "{" in place:
            before, _, rest = place.partition("{")
            place = before + CANARY + rest.partition("}")[2]
        client.request(
            method,
            place,
            params={"query": CANARY, "text": CANARY, "subject": CANARY},
            json={"content": CANARY, "messages": [{"role": "user", "content": CANARY}], "session": CANARY},
            headers={"User-Agent": CANARY, "Referer": f"http://127.0.0.1/{CANARY}", "X-Request-Id": CANARY},
        )
    return len(EXAMPLES)


@requirement("trust.secrets")
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_memory_address_or_token_ever_stands_in_it(
    served: Served, log: io.StringIO, form: LogForm
) -> None:
    served.make("ours")
    secrets = [OWN, served.token("admin", spaces=("ours",)), "hf_" + "x" * 43]
    set_up(form, log)

    asked = sum(ask_everywhere(served, secret) for secret in secrets)

    said = log.getvalue()
    assert len(said.splitlines()) >= asked
    assert CANARY not in said
    for secret in secrets:
        assert secret not in said


def test_a_request_is_one_line_of_json(served: Served, log: io.StringIO) -> None:
    served.make("ours")
    secret = served.token("read", spaces=("ours",))
    set_up("json", log)

    served.caller(secret).get("/api/memory/abcdefgh")
    served.caller("wrong").get("/api/memory/abcdefgh")

    known, stranger = [json.loads(line) for line in log.getvalue().splitlines()]
    assert (known["method"], known["route"], known["status"]) == ("GET", "/api/memory/{memory_id}", 404)
    assert known["ms"] > 0
    assert known["token"] is not None
    assert (stranger["route"], stranger["status"], stranger["token"]) == ("refused", 401, None)
    assert known["id"] != stranger["id"]
    assert set(known) == {
        "time", "level", "logger", "message", "id", "method", "route", "status", "ms", "token",
    }  # fmt: skip


@requirement("trust.secrets")
@pytest.mark.parametrize("form", ["off", "text", "json"])
def test_an_exception_is_told_by_its_kind_and_place_not_by_its_message(
    log: io.StringIO, form: LogForm
) -> None:
    set_up(form, log)

    try:
        try:
            raise KeyError(CANARY)
        except KeyError as error:
            raise RuntimeError(f"while storing {CANARY}") from error
    except RuntimeError:
        logging.getLogger("holdfast.somewhere").exception("a chore failed")

    said = log.getvalue()
    assert CANARY not in said
    for told in ("a chore failed", "builtins.RuntimeError", "builtins.KeyError", "test_logs.py:"):
        assert told in said


@requirement("trust.security-log")
def test_who_manages_tokens_and_spaces_is_logged_even_where_requests_are_not(
    served: Served, log: io.StringIO
) -> None:
    served.make("helper")
    admin = served.caller(served.token("admin", spaces=("helper",)))
    by = admin.get("/api/tokens").json()["tokens"][0]["id"]
    set_up("off", log)

    asked = {"scopes": ["read"], "spaces": ["helper"], "name": CANARY}
    made = admin.post("/api/tokens", json=asked).json()
    admin.post(f"/api/tokens/{made['id']}/rotate", json={})
    admin.delete(f"/api/tokens/{made['id']}")
    admin.delete("/api/spaces/helper")

    told = [line.partition("holdfast.security: ")[2] for line in log.getvalue().splitlines()]
    assert told == [
        f"token {by} (rest) created token {made['id']}: read in helper",
        f"token {by} (rest) rotated token {made['id']}",
        f"token {by} (rest) revoked token {made['id']}",
        f"token {by} (rest) deleted space helper",
    ]


def test_a_surprise_in_a_route_is_logged_without_what_was_asked(
    served: Served, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr("holdfast.engine.memories.Memories.find", broken)
    set_up("json", log)

    answer = served.caller().get("/api/memory/", params={"subject": CANARY})

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert answer.status_code == 500
    assert CANARY not in answer.text + log.getvalue()
    assert [line["status"] for line in lines if line["message"] == "request"] == [500]
    assert any(line["level"] == "error" for line in lines)


@requirement("trust.secrets")
def test_the_running_service_logs_so_when_asked(tmp_path: Path, sqlite_template: Path) -> None:
    """When not asked, nothing: see `test_service`."""
    service = Service(with_store(tmp_path / "holdfast", sqlite_template), "--log", "json")
    service.post("/api/memory/", {"content": f"{CANARY} is the word"})
    service.process.terminate()
    _, told = service.process.communicate(timeout=60)

    [line] = [json.loads(text) for text in told.splitlines()]
    assert (line["route"], line["status"]) == ("/api/memory/", 201)
    assert CANARY not in told
