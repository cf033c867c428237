"""Which space a token means, whose word it is, and what requests may weigh."""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from holdfast.web.service.guard import MAX_BYTES
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import OWN, URL, Served, remembered


def test_a_token_for_one_space_needs_nothing_more(served: Served) -> None:
    served.make("ours")
    served.make("theirs")
    client = served.caller(served.token("write", spaces=("ours",)))

    remembered(client, "Deploys run on Fridays")

    assert client.get("/api/stats").json()["name"] == "ours"
    assert served.registry.memories("ours").overview().active == 1
    assert served.registry.memories("theirs").overview().active == 0


def test_a_token_for_several_spaces_is_asked_which(served: Served) -> None:
    for name in ("ours", "theirs", "secret"):
        served.make(name)
    client = served.caller(served.token("write", spaces=("ours", "theirs")))

    answer = client.get("/api/memory/")

    assert (answer.status_code, answer.json()["field"]) == (422, "space")
    assert "ours, theirs" in answer.json()["detail"]
    assert "secret" not in answer.text
    assert client.get("/api/stats", params={"space": "theirs"}).json()["name"] == "theirs"


def test_the_own_token_means_the_one_space_there_is_and_is_asked_when_there_are_more(served: Served) -> None:
    alone = served.caller().get("/api/stats")
    served.make("ops", "ops")

    several = served.caller().get("/api/stats")

    assert (alone.status_code, alone.json()["name"]) == (200, "default")
    assert several.status_code == 422
    assert "default, ops" in several.json()["detail"]


@requirement("trust.spaces")
def test_a_deleted_spaces_token_does_not_open_a_later_one_of_that_name(served: Served) -> None:
    served.make("ours")
    client = served.caller(served.token("read", spaces=("ours",)))
    before = client.get("/api/stats").status_code
    served.caller().delete("/api/spaces/ours")
    gone = client.get("/api/stats")
    served.make("ours")

    again = client.get("/api/stats", params={"space": "ours"})

    assert (before, gone.status_code, again.status_code) == (200, 422, 404)


def test_a_space_made_anew_has_its_new_profile(served: Served) -> None:
    served.make("ours", "ops")
    owner = served.caller()
    owner.post("/api/events?space=ours", json={"level": "info", "content": "all is well"})
    owner.delete("/api/spaces/ours")
    owner.post("/api/spaces", json={"name": "ours", "profile": "assistant"})

    answer = owner.post(
        "/api/memory/?space=ours", json={"content": "Deploys run on Fridays", "category": "timing"}
    )

    assert answer.status_code == 422
    assert "preference" in answer.json()["allowed"]


def test_a_token_is_made_shown_once_and_revoked_at_once(served: Served) -> None:
    served.make("ours")
    owner = served.caller()
    made = owner.post(
        "/api/tokens", json={"scopes": ["read"], "spaces": ["ours"], "name": "a frontend"}
    ).json()
    holder = served.caller(made["token"])
    before = holder.get("/api/stats").status_code

    listed = owner.get("/api/tokens")
    revoked = owner.delete(f"/api/tokens/{made['id']}")

    assert (before, holder.get("/api/stats").status_code) == (200, 401)
    assert made["token"] not in listed.text
    assert [one["used_at"] is not None for one in listed.json()["tokens"]] == [True]
    assert revoked.json()["revoked_at"] is not None


@requirement("trust.spaces")
def test_an_administrator_of_one_space_can_not_reach_beyond_it(served: Served) -> None:
    served.make("ours")
    served.make("theirs")
    owner = served.caller(served.token("admin", spaces=("ours",)))
    foreign = served.token("read", spaces=("theirs",))
    foreign_id = served.caller().get("/api/tokens").json()["tokens"][-1]["id"]

    wider = owner.post("/api/tokens", json={"scopes": ["admin"]})
    beside = owner.post("/api/tokens", json={"scopes": ["read"], "spaces": ["ours", "theirs"]})
    ending = owner.delete(f"/api/tokens/{foreign_id}")
    within = owner.post("/api/tokens", json={"scopes": ["admin"], "spaces": ["ours"]})

    statuses = [one.status_code for one in (wider, beside, ending, within)]
    assert statuses == [403, 404, 404, 201]
    assert served.caller(foreign).get("/api/stats").status_code == 200
    assert [space["name"] for space in owner.get("/api/spaces").json()["spaces"]] == ["ours"]


def test_an_administrators_word_is_the_operators_and_a_writers_an_assistants(served: Served) -> None:
    served.make("ours")
    writer = served.caller(served.token("write", spaces=("ours",)))
    owner = served.caller(served.token("admin", spaces=("ours",)))

    by_writer = remembered(writer, "The mail server is in rack 7", subject="mail")
    by_tool = remembered(writer, "The cat sleeps in the hall", subject="cat", origin="tool")
    by_owner = remembered(owner, "Bread is baked on Mondays", subject="bread")
    claimed = writer.post("/api/memory/", json={"content": "I am the operator", "origin": "operator"})

    assert [one["origin"] for one in (by_writer, by_tool, by_owner)] == ["assistant", "tool", "operator"]
    assert claimed.status_code == 403


def test_what_a_tool_says_against_the_operator_waits_for_an_administrator(served: Served) -> None:
    served.make("ours")
    writer = served.caller(served.token("write", spaces=("ours",)))
    owner = served.caller(served.token("admin", spaces=("ours",)))
    known = remembered(owner, "The mail server is in rack 7", subject="mail")

    waiting = writer.put(
        f"/api/memory/{known['id']}", json={"content": "The mail server is in rack 8", "origin": "tool"}
    )
    inbox = owner.get("/api/inbox").json()
    chosen = {"ids": [waiting.json()["id"]]}
    refused = writer.post("/api/inbox/approve", json=chosen)
    approved = owner.post("/api/inbox/approve", json=chosen)

    assert (waiting.status_code, waiting.json()["outcome"]) == (202, "waiting")
    assert inbox["total"] == 1
    assert (refused.status_code, approved.status_code) == (403, 200)
    assert owner.get(f"/api/memory/{known['id']}").json()["content"] == "The mail server is in rack 8"


@requirement("trust.secrets")
def test_secrets_do_not_come_back_from_any_field(served: Served) -> None:
    owner = served.caller()
    secret = "sk-ant-api03-" + "Ab1" * 30

    known = remembered(owner, f"the key is {secret}", subject="keys", summary=f"key {secret}", tags=["a"])
    owner.post("/api/sessions/s/messages", json={"messages": [{"role": "user", "content": f"use {secret}"}]})

    assert known["redacted"] == ["anthropic-key"]
    (said,) = owner.get("/api/sessions/s/messages").json()["messages"]
    assert said["redacted"] == ["anthropic-key"]
    for path in ("/api/memory/", "/api/sessions/s/messages", "/api/export", "/api/brief"):
        assert secret not in owner.get(path).text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b"[" * 5_000 + b"]" * 5_000, 400),
        (b'{"content": ' + b'{"a":' * 40 + b"1" + b"}" * 41, 400),
        (b'{"content": Infinity}', 400),
        (b'{"importance": ' + b"9" * 5_000 + b"}", 400),
        (b'{"content": "\xff"}', 400),
        (b'{"content": "half \\ud800 a character"}', 422),
        (b'{"content": "fine", "content2": 1}', 422),
        (b'"text"', 422),
        (b"", 422),
    ],
)
def test_a_body_that_is_no_request_is_refused_with_a_reason(served: Served, body: bytes, status: int) -> None:
    answer = served.caller().post("/api/memory/", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"]


@requirement("trust.local")
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "text/json", "json", ";"],
)
def test_what_a_page_can_send_without_asking_changes_nothing(served: Served, kind: str) -> None:
    headers = {"Content-Type": kind} if kind else {}

    answer = served.caller().post(
        "/api/memory/", content=b'{"content": "written by a page"}', headers=headers
    )

    assert answer.status_code == 415
    assert answer.json()["detail"].endswith("send Content-Type: application/json")
    assert served.caller().get("/api/memory/").json()["total"] == 0


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    answer = served.caller().post("/api/memory/", json={"content": "x" * MAX_BYTES})

    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/nowhere", 404), ("PUT", "/api/recall", 405), ("GET", "/nowhere", 404)],
)
def test_an_unknown_address_is_told_in_the_same_shape(
    served: Served, method: str, path: str, status: int
) -> None:
    answer = served.caller().request(method, path)

    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert ("/api/docs" if status == 404 else "use GET, POST") in answer.json()["detail"]


def test_a_wrong_method_is_told_all_the_right_ones(served: Served) -> None:
    right = {
        "/api/memory/": "GET, POST",
        "/api/memory/any": "GET, PUT, PATCH, DELETE",
        "/api/memory/any/restore": "POST",
        "/health": "GET",
    }

    answers = {path: served.caller().request("OPTIONS", path) for path in right}

    assert {answer.status_code for answer in answers.values()} == {405}
    assert {path: answer.headers["Allow"] for path, answer in answers.items()} == right
    assert answers["/health"].json()["detail"] == "OPTIONS is not allowed here: use GET"


def test_head_answers_as_get_does_without_the_body(served: Served) -> None:
    caller = served.caller()
    kept = remembered(caller, "The lamp is green")["id"]

    for path in ("/health", "/metrics", f"/api/memory/{kept}", "/api/memory/", "/api/memory/nowhere0"):
        asked, whole = caller.head(path), caller.get(path)

        assert (asked.status_code, asked.content) == (whole.status_code, b"")
        assert asked.headers.get("ETag") == whole.headers.get("ETag")
        assert asked.headers["Content-Type"] == whole.headers["Content-Type"]
    assert 'method="HEAD",route="/api/memory/{memory_id}",status="200"' in caller.get("/metrics").text
    assert served.caller(None).head("/api/memory/").status_code == 401
    for once in ("/login?code=once", "/api/sessions/chat-7/delta"):
        assert caller.head(once).status_code == 405


def test_a_slip_in_what_follows_the_question_mark_is_told_and_not_passed_over(served: Served) -> None:
    caller = served.caller()
    slips = {
        "/api/memory/?catgory=person": "catgory",
        "/api/recall?query=lamp&threshold=0.5": "threshold",
        "/api/memory/nowhere0?version=3": "version",
    }

    answers = {path: caller.get(path) for path in slips}

    assert {answer.status_code for answer in answers.values()} == {422}
    assert {path: answer.json()["field"] for path, answer in answers.items()} == slips
    told = "unknown query parameter 'version': use space"
    assert answers["/api/memory/nowhere0?version=3"].json()["detail"] == told


def test_a_field_keeps_its_name_whatever_it_is_called(served: Served) -> None:
    missing = served.caller().get("/api/recall").json()
    wrong = served.caller().post("/api/recall", json={"query": 7, "where": {"path": 1}}).json()

    assert (missing["field"], missing["detail"]) == ("query", "query: required field is missing")
    assert [each["field"] for each in wrong["errors"]] == ["query", "where.path"]


@requirement("ops.confidence.clamped")
def test_a_confidence_beyond_the_ends_counts_as_the_end(served: Served) -> None:
    caller = served.caller()

    high = remembered(caller, "The lamp is green", confidence=1.5)
    low = caller.put(f"/api/memory/{high['id']}", json={"confidence": -1}).json()
    wrong = caller.put(f"/api/memory/{high['id']}", json={"confidence": "high"})

    assert (high["confidence"], low["confidence"]) == (1.0, 0.0)
    assert (wrong.status_code, wrong.json()["field"]) == (422, "confidence")


@requirement("trust.spaces")
def test_mcp_works_in_the_tokens_space_with_the_tokens_rights(served: Served) -> None:
    served.make("ours")
    served.make("theirs")
    remembered(served.caller(served.token("write", spaces=("theirs",))), "Zanzibar is theirs alone")
    writer, reader = (served.token(scope, spaces=("ours",)) for scope in ("tools", "read"))

    async def told(secret: str, tool: str, arguments: dict[str, Any], query: str = "") -> str:
        transport = httpx2.ASGITransport(app=served.app)
        headers = {"Authorization": f"Bearer {secret}"}
        async with (
            httpx2.AsyncClient(transport=transport, base_url=URL, headers=headers) as web,
            McpClient(streamable_http_client(f"{URL}/mcp{query}", http_client=web)) as client,
        ):
            answer = await client.call_tool(tool, arguments)
            return str(answer.content[0].text)  # type: ignore[union-attr]

    async def conversation() -> list[str]:
        async with served.app._app._life.lifespan_context(None):
            new = {"content": "Deploys run on Fridays"}
            return [
                await told(writer, "memory_remember", new),
                await told(reader, "memory_list", {}),
                await told(reader, "memory_remember", {"content": "Deploys run on Mondays"}),
                await told(reader, "memory_list", {}, "?space=theirs"),
                await told(OWN, "memory_list", {}, "?space=theirs"),
            ]

    added, listed, refused, foreign, own = anyio.run(conversation)

    assert "Deploys" in listed
    assert "Zanzibar" not in listed + foreign
    assert "scope 'tools'" in refused
    assert "there is no space 'theirs'" in foreign
    assert "Zanzibar" in own
    assert added
