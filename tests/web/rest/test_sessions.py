"""The tap and sessions over REST: on disk when acknowledged, once, in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served, remembered


@pytest.fixture
def writer(served: Served) -> TestClient:
    served.make("talks")
    return served.caller(served.token("write", spaces=("talks",)))


def _messages(*texts: str, first: int = 1) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": text, "id": f"m{number}"}
            for number, text in enumerate(texts, start=first)
        ]
    }


@requirement("sem.tap.http")
def test_two_conversations_that_number_their_messages_alike_do_not_lose_the_second_one_silently(
    writer: TestClient,
) -> None:
    writer.post("/api/sessions/chat-1/messages", json=_messages("one", "two"))

    refused = writer.post("/api/sessions/chat-2/messages", json=_messages("three", "four"))

    assert refused.status_code == 409
    assert refused.json()["detail"].endswith("use ids that are unique across sessions, such as 'chat-2:m1'")
    assert writer.get("/api/sessions/chat-2").status_code == 404


@requirement("sem.tap.http")
def test_messages_are_kept_in_order_and_the_same_one_once(writer: TestClient, served: Served) -> None:
    first = writer.post("/api/sessions/chat-1/messages", json=_messages("one", "two"))
    again = writer.post("/api/sessions/chat-1/messages", json=_messages("one", "two", "three"))

    assert (first.json()["received"], first.json()["new"]) == (2, 2)
    assert (again.json()["received"], again.json()["new"]) == (3, 1)
    assert [one["id"] for one in again.json()["messages"]] == ["m3"]
    kept = served.registry.memories("talks").session("chat-1")  # read back from the database itself
    assert [(one.number, one.id, one.content) for one in kept.messages] == [
        (1, "m1", "one"),
        (2, "m2", "two"),
        (3, "m3", "three"),
    ]
    assert served.woken == 2


@requirement("sem.tap.http")
@pytest.mark.parametrize("bodies", [(_messages("one"), _messages("uno")), None])
def test_the_same_id_with_another_text_is_a_conflict_and_nothing_is_kept_of_it(
    writer: TestClient, bodies: tuple[dict[str, Any], ...] | None
) -> None:
    if bodies is None:  # both in one request
        both = [*_messages("one")["messages"], *_messages("uno")["messages"]]
        bodies = ({"messages": []}, {"messages": [*both, *_messages("two", first=2)["messages"]]})
    first, second = (writer.post("/api/sessions/chat-1/messages", json=body) for body in bodies)

    assert (first.status_code < 400 or not bodies[0]["messages"], second.status_code) == (True, 409)
    assert "'m1' already exists in this session" in second.json()["detail"]
    kept = writer.get("/api/sessions/chat-1/messages").json().get("messages", [])
    assert [one["content"] for one in kept] == [one["content"] for one in bodies[0]["messages"]]


@requirement("sem.tap.http")
def test_roles_of_other_clients_are_mapped_and_unknown_ones_refused(writer: TestClient) -> None:
    roles = ["User", "human", "Assistant", "ai", "system", "tool"]
    posted = writer.post(
        "/api/sessions/chat-1/messages",
        json={"messages": [{"role": role, "content": f"said as {role}"} for role in roles]},
    )
    refused = writer.post(
        "/api/sessions/chat-1/messages", json={"messages": [{"role": "narrator", "content": "Once"}]}
    )
    asked = writer.post("/api/context", json={"messages": [{"role": "narrator", "content": "Once"}]})

    assert [one["role"] for one in posted.json()["messages"]] == [
        "user", "user", "assistant", "assistant", "system", "tool",
    ]  # fmt: skip
    assert (refused.status_code, asked.status_code) == (422, 422)
    assert "unknown role 'narrator': use one of user, assistant, system, tool" in refused.text


@requirement("sem.tap.http")
def test_what_was_posted_is_found_by_others(writer: TestClient) -> None:
    writer.post("/api/sessions/chat-1/messages", json=_messages("We met Caroline at the museum of glass"))

    found = writer.get("/api/recall", params={"query": "museum of glass"}).json()

    assert [hit["message"]["content"] for hit in found["hits"]] == ["We met Caroline at the museum of glass"]


@requirement("sem.tap.http")
def test_many_posters_at_once_lose_nothing(writer: TestClient, served: Served) -> None:
    def post(number: int) -> int:
        body = {"messages": [{"role": "user", "content": f"text {number % 20}", "id": f"m{number % 20}"}]}
        return int(writer.post("/api/sessions/busy/messages", json=body).status_code)

    with ThreadPoolExecutor(8) as several:
        statuses = list(several.map(post, range(40)))

    kept = served.registry.memories("talks").session("busy").messages
    assert set(statuses) == {200}
    assert sorted(one.id for one in kept) == sorted(f"m{number}" for number in range(20))
    assert [one.number for one in kept] == list(range(1, 21))


@requirement("sem.tap.http")
def test_a_webhook_posts_with_the_secret_in_its_address(served: Served) -> None:
    served.make("talks")
    secret = served.token("write", spaces=("talks",))
    nobody = served.caller(None)
    body = {**_messages("said in a chat room"), "session": "room-7"}

    told = nobody.post(f"/webhook/{secret}/messages", json=body)
    wrong = nobody.post(f"/webhook/{secret[:-1]}x/messages", json=body)
    reader = nobody.post(f"/webhook/{served.token('read', spaces=('talks',))}/messages", json=body)

    assert (told.status_code, told.json()["new"]) == (200, 1)
    assert (wrong.status_code, reader.status_code) == (401, 403)
    assert len(served.registry.memories("talks").session("room-7").messages) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages.0.content"),
        (
            {"messages": [{"role": "user", "content": "x", "said_at": "2026-03-01T12:00:00"}]},
            "messages.0.said_at",
        ),
        ({"messages": [{"role": "user", "content": "x", "id": ""}]}, "messages.0.id"),
        ({"messages": [{"role": "user", "content": "x"}] * 1_001}, "messages"),
        ({}, "messages"),
    ],
)
def test_messages_that_can_not_be_taken_name_the_field_and_none_is_kept(
    writer: TestClient, body: dict[str, Any], field: str
) -> None:
    answer = writer.post("/api/sessions/chat-1/messages", json=body)

    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert writer.get("/api/sessions/chat-1").status_code == 404


def test_one_bad_message_keeps_out_all_of_them(writer: TestClient) -> None:
    body = {
        "messages": [{"role": "user", "content": "fine"}, {"role": "user", "content": "x", "id": " odd "}]
    }

    answer = writer.post("/api/sessions/chat-1/messages", json=body)

    assert answer.status_code == 422
    assert writer.get("/api/sessions/chat-1").status_code == 404


def test_a_space_that_keeps_no_messages_keeps_none(served: Served) -> None:
    served.make("quiet")
    owner = served.caller(served.token("admin", spaces=("quiet",)))
    owner.patch("/api/spaces/quiet", json={"keeps_messages": False})

    told = owner.post("/api/sessions/s/messages", json=_messages("not for the record"))

    assert told.json()["new"] == 0
    assert owner.get("/api/recall", params={"query": "record"}).json()["hits"] == []


def test_a_session_is_opened_listed_and_closed(writer: TestClient) -> None:
    for number in range(3):
        opened = writer.post("/api/sessions", json={"id": f"s{number}", "client": "tests", "tier": 1})
        assert opened.status_code == 201
    closed = writer.post("/api/sessions/s1/close", json={"exit_code": 3, "usage": {"cost": 0.25}})

    pages = [writer.get("/api/sessions", params={"limit": 2}).json()]
    pages.append(writer.get("/api/sessions", params={"limit": 2, "cursor": pages[0]["next"]}).json())

    assert (closed.json()["exit_code"], closed.json()["usage"]) == (3, {"cost": 0.25})
    assert sorted(one["id"] for page in pages for one in page["sessions"]) == ["s0", "s1", "s2"]
    assert pages[1]["next"] is None
    assert writer.post("/api/sessions/other/close", json={}).status_code == 404
    assert writer.post("/api/sessions/s2/close").json()["ended_at"] is not None


def test_the_messages_of_a_session_come_in_pages(writer: TestClient) -> None:
    writer.post("/api/sessions/long/messages", json=_messages(*(f"text {number}" for number in range(5))))

    first = writer.get("/api/sessions/long/messages", params={"limit": 3}).json()
    second = writer.get("/api/sessions/long/messages", params={"limit": 3, "cursor": first["next"]}).json()

    assert [one["number"] for one in first["messages"] + second["messages"]] == [1, 2, 3, 4, 5]
    assert second["next"] is None


def test_context_for_what_was_just_said_is_given_once_a_session(writer: TestClient) -> None:
    remembered(writer, "Jellyfin needs 60 seconds to start", subject="jellyfin")

    asked = {"text": "why does jellyfin need so long to start"}
    first = writer.get("/api/sessions/s1/context", params=asked).json()
    again = writer.get("/api/sessions/s1/context", params=asked).json()
    given = {"messages": [{"role": "user", "content": asked["text"]}]}
    other = writer.post("/api/sessions/s2/context", json=given).json()

    assert "Jellyfin needs 60 seconds to start" in first["text"]
    assert again["text"] == ""
    assert other["text"] == first["text"]


def test_a_sessions_brief_is_frozen_and_a_delta_tells_the_rest(writer: TestClient) -> None:
    remembered(writer, "Jellyfin needs 60 seconds to start", subject="jellyfin")
    first = writer.get("/api/sessions/s1/brief").json()
    remembered(writer, "The mail server is in rack 7", subject="mail")

    second = writer.get("/api/sessions/s1/brief").json()
    delta = writer.get("/api/sessions/s1/delta").json()["text"]

    assert (second["text"], second["sha256"]) == (first["text"], first["sha256"])
    assert (first["frozen"], second["frozen"]) == (False, True)
    assert "rack 7" in delta


def test_undo_takes_back_what_a_session_wrote(writer: TestClient) -> None:
    kept = remembered(writer, "Jellyfin needs 60 seconds to start", subject="jellyfin")
    remembered(writer, "The mail server is in rack 7", subject="mail", session="bad-run")

    undone = writer.post("/api/sessions/bad-run/undo").json()

    assert [one["content"] for one in undone["removed"]] == ["The mail server is in rack 7"]
    assert [one["id"] for one in writer.get("/api/memory/").json()["memories"]] == [kept["id"]]
    assert writer.post("/api/sessions/no-run/undo").status_code == 404
