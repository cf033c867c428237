"""Every route, page and tool, asked by others: of what is private to a person none has a word.

Routes come from the application, tools from the server; one without an example here fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from holdfast.app import paths, wiring
from holdfast.web.dashboard import PAGES
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served
from tests.web.rest.routes import EXAMPLES, Names
from tests.web.rest.test_access_log import MCP, call_tool

CANARY = "zyzzyva"
_TOOLS: dict[str, list[dict[str, Any]]] = {
    "memory_search": [{"query": "how long does the ferry take to leave the harbour"}, {"query": "ferry"}],
    "memory_remember": [{"content": "The ferry takes 30 s to leave the harbour", "category": "fact"}],
    "memory_revise": [
        {"id": "ID", "content": "The ferry is slow"},
        {"subject": "zyzzyva", "content": "Slow"},
    ],
    "memory_forget": [{"id": "ID"}],
    "memory_list": [{}],
    "memory_why": [{"id": "ID"}],
    "memory_feedback": [{"id": "ID"}],
}


class Team:
    """A service with tokens of several people, and private memories of ana."""

    def __init__(self, served: Served) -> None:
        self.served = served
        owner = served.caller()
        self.tokens = {
            name: owner.post(
                "/api/tokens", json={"scopes": ["admin"], "spaces": ["default"], "person": person}
            ).json()["token"]
            for name, person in {"ana": "ana", "ben": "ben", "admin": None}.items()
        }
        ana = self.caller("ana")
        ana.post("/api/sessions", json={"id": "anas-run"})
        labels = {"subject": CANARY, "tags": [CANARY], "category": "fact", "session": "anas-run"}
        self.ids = [
            ana.post("/api/memory/", json={"content": text, "private": True, **labels, **more}).json()["id"]
            for text, more in (
                (f"The {CANARY} ferry takes 60 s to leave the harbour", {}),
                (f"The {CANARY} ferry takes 30 s to leave the harbour", {}),
                (f"The {CANARY} ferry may be sold", {"doubtful": f"{CANARY} says so"}),
                (f"The {CANARY} ferry was painted red", {}),
            )
        ]
        ana.delete(f"/api/memory/{self.ids[-1]}")
        ana.get("/api/sessions/anas-run/brief")
        ana.get("/api/recall", params={"query": f"the {CANARY} ferry", "session": "anas-run"})
        said = {"role": "user", "content": "when does it leave?", "id": "msg-1"}
        ana.post("/api/sessions/anas-run/messages", json={"messages": [said]})
        spare = {"scopes": ["read"], "spaces": ["default"], "person": "ana"}
        self.token = owner.post("/api/tokens", json=spare).json()["id"]

    def caller(self, name: str) -> TestClient:
        return self.served.caller(self.tokens[name])

    def names(self, one: str) -> Names:
        others = [each for each in self.ids if each != one]
        return Names("default", one, others[0], one, one, "anas-run", "msg-1", self.token)


@pytest.fixture
def team(served: Served) -> Team:
    return Team(served)


def _pages() -> Iterator[str]:
    """The paths of all pages that are read."""
    for page in PAGES:
        for route in page.router.routes:
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
                yield route.path.replace(":path}", "}")


def _filled(path: str, one: str) -> str:
    known = {
        "memory_id": one,
        "session_id": "anas-run",
        "message_id": "msg-1",
        "name": "default",
        "token": "x",
    }
    for name, value in known.items():
        path = path.replace(f"{{{name}}}", value)
    return path


@requirement("team.private")
@pytest.mark.parametrize("who", ["ben", "admin"])
def test_no_route_answers_others_with_what_is_private(team: Team, who: str) -> None:
    caller, secret, leaks = team.caller(who), team.tokens[who], []

    for (method, path), example in EXAMPLES.items():
        for one in team.ids:
            names = team.names(one)
            place = (example.path(names) or path).replace("{secret}", secret)
            body = example.body(names) if example.body else None
            sent = {"content": body} if isinstance(body, bytes) else {"json": body}
            if (method, path) == ("DELETE", "/api/spaces/{name}"):
                continue
            answer = caller.request(method, place, params=example.query, **(sent if body else {}))
            told = f"{answer.text} {answer.headers}"
            if CANARY in told or any(each in told.replace(one, "") for each in team.ids):
                leaks.append((method, path, told))

    assert leaks == []
    assert CANARY in team.caller("ana").get("/api/memory/").text  # and it is all still there


@requirement("team.private")
@pytest.mark.parametrize("who", ["ben", "admin"])
def test_no_page_shows_others_what_is_private(team: Team, who: str) -> None:
    caller, leaks, asked = team.caller(who), [], 0

    for path in _pages():
        for query in (
            "",
            "?q=ferry",
            "?query=ferry",
            f"?id={team.ids[0]}",
            "?state=all&status=all",
            "?subject=",
        ):
            answer = caller.get(_filled(path, team.ids[0]) + query, headers={"accept": "text/html"})
            asked += answer.status_code == 200
            if CANARY in answer.text:
                leaks.append((path, query))

    assert leaks == []
    assert asked > 20
    assert CANARY in team.caller("ana").get("/memories").text
    assert "private" in team.caller("ana").get(f"/memories/{team.ids[0]}").text


def _reads(ids: list[str]) -> list[dict[str, Any]]:
    uris = ["memory://brief", *(f"memory://memories/{one}" for one in ids)]
    return [{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}} for uri in uris]


@requirement("team.private")
@pytest.mark.parametrize("who", ["ben", "admin"])
def test_no_tool_tells_a_model_of_others_what_is_private(team: Team, who: str) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with team.caller(who) as caller:
        offered = caller.post("/mcp", json=listing, headers=MCP).json()["result"]["tools"]
        calls = [
            call_tool(tool["name"], **{key: one if value == "ID" else value for key, value in given.items()})
            for tool in offered
            for given in _TOOLS[tool["name"]]
            for one in team.ids
        ]
        sent = [*_reads(team.ids), *calls]
        told = [caller.post("/mcp", json=each, headers=MCP).text for each in sent]

    asked = [each["params"].get("arguments", {}).get("subject") for each in sent]
    leaks = [text for text, subject in zip(told, asked, strict=True) if CANARY in text and subject is None]
    assert leaks == []
    assert ("private" in str(offered)) == (who == "ben")


@requirement("team.private")
def test_no_hook_and_no_file_holds_what_is_private(team: Team, tmp_path: Path) -> None:
    owner, store = team.served.caller(), team.served.registry.memories().store
    files = wiring.brief_files(store)
    files.keep("default", None)
    team.served.registry.memories().bind_directory(str(tmp_path / "notes"))
    team.caller("ana").get("/api/memory/")  # which brings the directory up to date
    team.served.registry.memories().sync_directory()

    hook = {"session_id": "anas-run", "prompt": "how long does the ferry take to leave the harbour?"}
    told = [owner.post(f"/hooks/{event}", json=hook).text for event in ("SessionStart", "UserPromptSubmit")]

    written = [file for file in tmp_path.rglob("*") if file.is_file() and file.suffix in (".md", ".txt")]
    assert Path(paths.brief_file("default", None)).exists()
    assert [file for file in written if CANARY in file.read_text(encoding="utf-8")] == []
    assert CANARY not in "".join(told)


@requirement("team.private")
def test_no_token_gets_at_another_persons_by_a_token_of_its_own(team: Team) -> None:
    admin, ben = team.caller("admin"), team.caller("ben")
    wanted = {"scopes": ["read"], "spaces": ["default"], "person": "ana"}

    answers = [
        admin.post("/api/tokens", json=wanted),
        ben.post("/api/tokens", json=wanted),
        admin.post(f"/api/tokens/{team.token}/rotate", json={}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert team.caller("ana").post("/api/tokens", json=wanted).status_code == 201


@requirement("team.person")
def test_what_is_written_with_a_token_of_a_person_says_so_in_lists_and_stories(team: Team) -> None:
    ben = team.caller("ben")
    made = ben.post("/api/memory/", json={"content": "Prefers tabs", "category": "preference"}).json()
    team.caller("ana").put(f"/api/memory/{made['id']}", json={"content": "Prefers wide tabs"})

    listed = ben.get("/api/memory/", params={"person": "ben"}).json()["memories"]
    story = ben.get(f"/api/memory/{made['id']}/why").json()

    assert made["person"] == "ben"
    assert [one["id"] for one in listed] == [made["id"]]
    assert [one["person"] for one in story["versions"]] == ["ben", "ana"]
    assert [one["person"] for one in story["entries"]] == ["ben", "ana"]
