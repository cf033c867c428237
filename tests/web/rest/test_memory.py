"""/api/memory/: the five endpoints, as an assistant's frontend uses them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served, remembered

ALEC = {"content": "Alec is the user's boss at TechCorp", "category": "person", "subject": "Alec"}
FIELDS = {"id", "category", "subject", "content", "version", "created_at", "updated_at"}


@requirement("asst.api.list")
def test_the_list_has_the_active_memories_and_their_number(assistant: TestClient) -> None:
    empty = assistant.get("/api/memory/").json()
    kept = remembered(assistant, **ALEC)
    gone = remembered(assistant, "The user likes short answers", category="preference")
    assistant.delete(f"/api/memory/{gone['id']}")

    answer = assistant.get("/api/memory/")

    assert (empty["memories"], empty["total"]) == ([], 0)
    assert answer.status_code == 200
    [memory] = answer.json()["memories"]
    assert answer.json()["total"] == 1
    assert set(memory) >= FIELDS
    assert {name: memory[name] for name in FIELDS} == {name: kept[name] for name in FIELDS}
    assert (memory["version"], memory["category"], memory["subject"]) == (1, "person", "Alec")


@requirement("asst.order")
def test_the_list_is_by_category_then_age_then_id_and_always_the_same(assistant: TestClient) -> None:
    for category, content in [
        ("project", "Project Falcon uses Python 3.12"),
        ("person", "Sarah is on the design team"),
        ("context", "The user works in London"),
        ("person", "Alec is the user's boss"),
    ]:
        remembered(assistant, content, category=category)

    first, second = (assistant.get("/api/memory/") for _ in range(2))

    assert first.content == second.content
    assert [memory["content"][:6] for memory in first.json()["memories"]] == [
        "The us",
        "Sarah ",
        "Alec i",
        "Projec",
    ]


@requirement("asst.api.create")
def test_what_is_new_is_created(assistant: TestClient) -> None:
    answer = assistant.post("/api/memory/", json=ALEC)

    assert answer.status_code == 201
    body = answer.json()
    assert {name: body[name] for name in ALEC} == ALEC
    assert (len(body["id"]), body["version"], body["outcome"]) == (8, 1, "added")
    assert answer.headers["Location"] == f"/api/memory/{body['id']}"
    assert answer.headers["ETag"] == '"1"'


@requirement("asst.api.create")
@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("content", "four"),
        ("content", "x" * 501),
        ("content", None),
        ("content", 7),
        ("category", "weather"),
        ("subject", "s" * 201),
        ("colour", "blue"),
    ],
)
def test_outside_of_the_limits_the_field_is_named(assistant: TestClient, field: str, wrong: Any) -> None:
    answer = assistant.post("/api/memory/", json={**ALEC, field: wrong})

    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["field"] == field
    assert assistant.get("/api/memory/").json()["total"] == 0


@requirement("asst.api.create", "asst.categories")
def test_the_limits_themselves_fit_and_an_unknown_category_lists_the_known_ones(
    assistant: TestClient,
) -> None:
    shortest = assistant.post("/api/memory/", json={"content": "12345", "category": "context"})
    longest = assistant.post(
        "/api/memory/", json={"content": "y" * 500, "category": "project", "subject": "s" * 200}
    )
    unknown = assistant.post("/api/memory/", json={**ALEC, "category": "weather"}).json()

    assert (shortest.status_code, longest.status_code) == (201, 201)
    assert set(unknown["allowed"]) == {"person", "preference", "context", "project"}


@requirement("asst.api.create.similar")
@pytest.mark.parametrize(
    ("content", "relation"),
    [
        ("Alec is the user's boss at TechCorp", "same"),
        ("Alec is not the user's boss at TechCorp", "contradicts"),
    ],
)
@pytest.mark.parametrize("subject", ["Alec", "alec", "A-LEC", None])
def test_what_is_known_or_contradicted_conflicts_with_the_known_memory(
    assistant: TestClient, content: str, relation: str, subject: str | None
) -> None:
    known = remembered(assistant, **ALEC)

    answer = assistant.post("/api/memory/", json={**ALEC, "content": content, "subject": subject})

    assert answer.status_code == 409
    body = answer.json()
    assert (body["id"], body["content"], body["relation"]) == (known["id"], ALEC["content"], relation)
    assert "update" in body["detail"]
    assert known["id"] in body["detail"]
    assert assistant.get("/api/memory/").json()["total"] == 1


@requirement("asst.api.create.similar")
def test_another_fact_about_the_same_subject_is_no_conflict(assistant: TestClient) -> None:
    remembered(assistant, **ALEC)

    other = assistant.post("/api/memory/", json={**ALEC, "content": "Alec plays the cello on Sundays"})

    assert other.status_code == 201


@requirement("asst.api.update")
def test_putting_the_same_text_again_changes_nothing(assistant: TestClient) -> None:
    known = remembered(assistant, **ALEC)

    answer = assistant.put(f"/api/memory/{known['id']}", json={"content": ALEC["content"]})

    assert answer.status_code == 200
    assert (answer.json()["version"], answer.json()["updated_at"]) == (1, known["updated_at"])


@requirement("asst.api.get", "asst.versions")
def test_one_memory_comes_with_all_its_wordings_in_order(assistant: TestClient) -> None:
    memory = remembered(assistant, "Sarah works on the Platform team", category="person", subject="Sarah")
    place = f"/api/memory/{memory['id']}"
    assistant.put(place, json={"content": "Sarah works on the Design team"})
    assistant.put(place, json={"content": "Sarah is the lead of the Design team"})

    answer = assistant.get(place)

    body = answer.json()
    assert answer.status_code == 200
    assert (body["id"], body["version"]) == (memory["id"], 3)
    assert [(one["version"], one["content"]) for one in body["versions"]] == [
        (1, "Sarah works on the Platform team"),
        (2, "Sarah works on the Design team"),
        (3, "Sarah is the lead of the Design team"),
    ]
    assert all(one["created_at"] and one["origin"] == "operator" for one in body["versions"])
    assert assistant.get(f"{place}/history").json()["versions"] == body["versions"]


@requirement("asst.api.get")
@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_an_unknown_id_is_not_found(assistant: TestClient, method: str) -> None:
    body = {"json": {"content": "something else"}} if method in ("put", "patch") else {}

    answer = getattr(assistant, method)("/api/memory/zzzzzzzz", **body)

    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


@requirement("asst.api.update")
@pytest.mark.parametrize("method", ["put", "patch"])
def test_an_update_is_a_new_version_and_answers_old_and_new(assistant: TestClient, method: str) -> None:
    memory = remembered(assistant, **ALEC)

    answer = getattr(assistant, method)(
        f"/api/memory/{memory['id']}", json={"content": "Alec retired in May"}
    )

    body = answer.json()
    assert answer.status_code == 200
    assert (body["id"], body["version"], body["content"]) == (memory["id"], 2, "Alec retired in May")
    assert (body["old_content"], body["new_content"]) == (ALEC["content"], "Alec retired in May")
    assert answer.headers["ETag"] == '"2"'


@requirement("asst.api.update")
@pytest.mark.parametrize("content", ["four", "x" * 501])
def test_an_update_has_the_same_limits(assistant: TestClient, content: str) -> None:
    memory = remembered(assistant, **ALEC)

    answer = assistant.put(f"/api/memory/{memory['id']}", json={"content": content})

    assert (answer.status_code, answer.json()["field"]) == (422, "content")
    assert assistant.get(f"/api/memory/{memory['id']}").json()["version"] == 1


@requirement("asst.api.delete", "asst.api.update")
def test_a_deleted_memory_is_out_of_sight_but_not_lost(assistant: TestClient) -> None:
    memory = remembered(assistant, **ALEC)
    place = f"/api/memory/{memory['id']}"

    answer = assistant.delete(place)

    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["content"]) == (memory["id"], ALEC["content"])
    assert assistant.get("/api/memory/").json()["total"] == 0
    assert assistant.get("/api/brief").json()["text"] == ""
    assert assistant.get("/api/recall", params={"query": "who is Alec"}).json()["hits"] == []
    assert assistant.put(place, json={"content": "Alec retired in May"}).status_code == 404
    assert assistant.delete(place).status_code == 404
    assert assistant.get(place).json()["state"] == "forgotten"
    assert assistant.post(f"{place}/restore").json()["state"] == "active"
    assert assistant.get("/api/memory/").json()["total"] == 1


def test_an_update_of_what_changed_meanwhile_is_refused(assistant: TestClient) -> None:
    memory = remembered(assistant, **ALEC)
    place = f"/api/memory/{memory['id']}"
    seen = assistant.get(place).headers["ETag"]
    first = assistant.put(place, json={"content": "Alec retired in May"}, headers={"If-Match": seen})

    second = assistant.put(place, json={"content": "Alec retired in June"}, headers={"If-Match": seen})
    deletion = assistant.delete(place, headers={"If-Match": seen})
    nonsense = assistant.delete(place, headers={"If-Match": "yesterday's"})
    anything = assistant.put(place, json={"content": "Alec retired in July"}, headers={"If-Match": "*"})

    assert [one.status_code for one in (first, second, deletion, nonsense)] == [200, 412, 412, 422]
    assert (anything.status_code, anything.json()["version"]) == (200, 3)


def test_of_many_updates_of_one_version_one_is_taken(assistant: TestClient) -> None:
    memory = remembered(assistant, **ALEC)

    def update(number: int) -> int:
        answer = assistant.put(
            f"/api/memory/{memory['id']}",
            json={"content": f"Alec moved to desk {number}"},
            headers={"If-Match": '"1"'},
        )
        return int(answer.status_code)

    with ThreadPoolExecutor(8) as several:
        statuses = sorted(several.map(update, range(8)))

    assert statuses == [200] + [412] * 7


def test_the_same_key_creates_once_and_another_text_under_it_conflicts(assistant: TestClient) -> None:
    key = {"Idempotency-Key": "8f14e45f"}

    first, again = (assistant.post("/api/memory/", json=ALEC, headers=key) for _ in range(2))
    other = assistant.post("/api/memory/", json={**ALEC, "content": "Alec plays the cello"}, headers=key)

    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 409)
    assert first.json() == again.json()
    assert assistant.get("/api/memory/").json()["total"] == 1


@pytest.mark.parametrize("profile", ["default", "ops", "assistant", "semantic", "files"])
def test_every_profile_has_the_same_endpoints(served: Served, profile: str) -> None:
    served.make(f"a-{profile}", profile)
    client = served.caller(served.token("write", spaces=(f"a-{profile}",)))
    category = {"ops": "timing", "assistant": "context"}.get(profile, "project")
    memory = remembered(client, "Jellyfin needs 60s to start", category=category, subject="jellyfin")
    place = f"/api/memory/{memory['id']}"

    changed = client.put(place, json={"content": "Jellyfin needs 90s to start"}).json()

    assert (changed["version"], changed["old_content"]) == (2, "Jellyfin needs 60s to start")
    assert client.get("/api/memory/").json()["total"] == 1
    assert client.delete(place).json()["deleted"] is True
    assert client.get("/api/memory/").json()["total"] == 0


def test_a_long_list_comes_in_pages_that_neither_repeat_nor_miss(assistant: TestClient) -> None:
    ids = [
        remembered(assistant, f"Note number {number} of many", category="context", subject=f"n{number}")["id"]
        for number in range(7)
    ]

    first = assistant.get("/api/memory/", params={"limit": 3}).json()
    assistant.delete(f"/api/memory/{ids[0]}")
    remembered(assistant, "An early note of category context", category="context", subject="other")
    second = assistant.get("/api/memory/", params={"limit": 3, "cursor": first["next"]}).json()
    third = assistant.get("/api/memory/", params={"limit": 3, "cursor": second["next"]}).json()

    seen = [memory["id"] for page in (first, second, third) for memory in page["memories"]]
    assert seen[:7] == ids
    assert len(seen) == 8
    assert third["next"] is None


@pytest.mark.parametrize("cursor", ["x", "%%%", "W10", "WzEsMl0", "WzAsICJhIl0", "ÿ"])
def test_a_cursor_of_ones_own_is_refused(assistant: TestClient, cursor: str) -> None:
    answer = assistant.get("/api/memory/", params={"cursor": cursor})

    assert (answer.status_code, answer.json()["field"]) == (422, "cursor")


def test_links_lead_from_one_to_another_and_can_be_taken_away(assistant: TestClient) -> None:
    one = remembered(assistant, **ALEC)
    other = remembered(assistant, "TechCorp is in Leeds", category="context", subject="TechCorp")
    place = f"/api/memory/{one['id']}"

    made = [assistant.post(f"{place}/links", json={"to": other["id"]}) for _ in range(2)]
    shown = assistant.get(place).json()["links"]
    removed = [assistant.delete(f"{place}/links/{other['id']}") for _ in range(2)]

    assert [(one.status_code, one.json()) for one in made] == [
        (201, {"linked": True}),
        (200, {"linked": False}),
    ]
    assert [(link["from"], link["to"], link["kind"]) for link in shown] == [
        (one["id"], other["id"], "related")
    ]
    assert [one.status_code for one in removed] == [200, 404]


@requirement("trust.tombstone")
def test_a_refusal_after_a_deletion_says_how_rest_brings_it_back(assistant: TestClient) -> None:
    said = {"content": "Alec is the user's boss", "category": "person", "subject": "Alec"}
    memory_id = assistant.post("/api/memory", json=said).json()["id"]
    assistant.delete(f"/api/memory/{memory_id}")

    refused = assistant.post("/api/memory", json=said)
    unknown = assistant.get("/api/memory/nowhere1")

    told = refused.json()
    assert refused.status_code == 409
    assert (told["outcome"], told["id"]) == ("refused", memory_id)
    assert told["deleted"]["reason"] == "forgotten"
    assert told["deleted"]["restorable"] is True
    assert f"POST /api/memory/{memory_id}/restore" in told["detail"]
    for text in (refused.text, unknown.text):
        assert "`holdfast" not in text
        assert "--anyway" not in text
    assert assistant.post(f"/api/memory/{memory_id}/restore").status_code == 200
