"""The access log names the door that a read came by, and the token, at all of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served, remembered

MCP = {"accept": "application/json, text/event-stream"}


def call_tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


@requirement("trust.access_log")
def test_a_read_is_recorded_at_every_door_with_its_token(served: Served) -> None:
    owner = served.caller()
    memory = remembered(owner, "Jellyfin needs 60 seconds to start")["id"]
    owner.patch("/api/spaces/default", json={"access_log": True, "access_log_days": 7})
    made = owner.post("/api/tokens", json={"scopes": ["read"], "spaces": ["default"]}).json()
    with served.caller(made["token"]) as reader:
        reader.get("/api/recall", params={"query": "how long does jellyfin need to start"})
        reader.get(f"/memories/{memory}")
        reader.post("/mcp", json=call_tool("memory_search", query="jellyfin start"), headers=MCP)
        hook = {"session_id": "s-1", "prompt": "how long does jellyfin need to start?"}
        assert owner.post("/hooks/UserPromptSubmit", json=hook).status_code == 200

    told = owner.get("/api/access", params={"memory": memory}).json()["accesses"]

    assert {(one["door"], one["token"]) for one in told} >= {
        ("rest", made["id"]),
        ("dashboard", made["id"]),
        ("mcp", made["id"]),
        ("hook", None),
    }
    assert "60 seconds" not in str(owner.get("/api/access").json())
    assert reader.get("/api/access").status_code == 403


@pytest.mark.parametrize(
    ("query", "field"),
    [({"door": "window"}, "door"), ({"since": "monday"}, "since"), ({"limit": "0"}, "limit")],
)
def test_a_wrong_filter_is_refused(served: Served, query: dict[str, str], field: str) -> None:
    answer = served.caller().get("/api/access", params=query)

    assert answer.status_code == 422
    assert field in str(answer.json())
