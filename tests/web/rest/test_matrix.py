"""Every route for every kind of caller: what its declared scope says, and nothing else."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from jsonschema import Draft202012Validator

from holdfast import Memories
from holdfast.app.wiring import open_store, utc_now
from holdfast.domain.access import Grant
from holdfast.domain.jobs import Job
from holdfast.engine.administration import Administration
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import OWN, Served
from tests.web.rest.routes import BESIDE, EXAMPLES, Example, Names

MARK = "Zanzibar-9137"  # stands in everything that a stranger may not see
GRANTS = {name: Grant.of(name) for name in ("read", "tools", "write", "admin", "proxy")}
EVERY = sorted(EXAMPLES)
_DOCUMENT: dict[str, Any] = {}


def _sent(body: Any) -> dict[str, Any]:
    return {"content": body} if isinstance(body, bytes) else {"json": body}


@dataclass(frozen=True)
class Filled:
    """One space with something in it, another one beside it, and the secrets of tokens of all kinds."""

    names: Names
    secrets: Mapping[str, str]

    @classmethod
    def into(cls, database: str) -> Filled:
        store = open_store(database)
        administration = Administration(store)
        for space in ("ours", "theirs"):
            administration.create_space(space, profile="default")
        names = _filled(Memories.of(store, "ours"))
        secrets = {scope: administration.create_token(scope, spaces=("ours",)).secret for scope in GRANTS}
        secrets["stranger"] = administration.create_token("admin", spaces=("theirs",)).secret
        ended = administration.create_token("admin")
        administration.revoke_token(ended.token.id)
        secrets |= {"ended": ended.secret, "wrong": "hf_" + "x" * 43, "own": OWN, "none": ""}
        spare = administration.create_token("read", spaces=("ours",), name=MARK)
        store.close()
        return cls(replace(names, token=spare.token.id), secrets)


class World:
    """A service over what was filled in."""

    def __init__(self, database: str, filled: Filled) -> None:
        self.served = Served(database)
        self.names = filled.names
        self.secrets = filled.secrets

    def ask(
        self, method: str, path: str, example: Example, caller: str, names: Names | None = None, **query: str
    ) -> httpx2.Response:
        secret = self.secrets[caller]
        place = example.path(names or self.names) or path
        body = example.body(names or self.names) if example.body else None
        answer: httpx2.Response = self.served.caller(secret or None).request(
            method, place.replace("{secret}", secret), params={**example.query, **query}, **_sent(body)
        )
        return answer

    def document(self) -> dict[str, Any]:
        """The description, the same for every service; it takes a while to make."""
        if not _DOCUMENT:
            _DOCUMENT.update(self.served.caller().get("/api/openapi.json").json())
        return _DOCUMENT

    def scopes(self) -> dict[tuple[str, str], str]:
        """What the service itself says that its routes need."""
        document = self.document()
        return {
            (method.upper(), path): told["x-scope"]
            for path, methods in document["paths"].items()
            for method, told in methods.items()
            if path not in BESIDE
        }


def _filled(ours: Memories) -> Names:
    run = ours.open_session("run-1", name=MARK)
    ours.say("run-1", "user", f"Jellyfin is called {MARK} here", message_id="msg-1")
    agent = ours.speaking_as("assistant", session=run.id)
    ids = [
        agent.remember(text, subject=f"{MARK} {number}", doubtful=doubtful).memory.id  # type: ignore[union-attr]
        for number, (text, doubtful) in enumerate(
            [
                (f"Jellyfin needs 60s to start, says {MARK}", None),
                (f"The mail server is in rack 7, says {MARK}", None),
                (f"Bread is baked on Mondays, says {MARK}", "it seems odd"),
                (f"The cat sleeps in the hall, says {MARK}", None),
            ]
        )
    ]
    agent.remember(f"Jellyfin needs about 60 seconds to start, says {MARK}", subject=f"{MARK} 0")
    ours.forget(ids[3])
    ours.link(ids[0], ids[1])
    ours.record_event("warning", MARK, service=MARK)
    ours.record_attempt("restart", MARK, True, content=MARK)
    now = utc_now()
    with ours.store.write("ours") as tx:
        tx.jobs.add(Job(id=MARK, kind="nothing", payload={}, due_at=now, created_at=now))
    return Names("ours", ids[0], ids[1], ids[2], ids[3], run.id, "msg-1", "")


@pytest.fixture(scope="module")
def template(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Filled]:
    """Filled once. On SQLite: which routes ask for what does not depend on the database."""
    file = tmp_path_factory.mktemp("matrix") / "template.db"
    shutil.copyfile(sqlite_template, file)
    filled = Filled.into(str(file))
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the file alone is the database
    connection.close()
    return file, filled


@pytest.fixture
def world(template: tuple[Path, Filled], tmp_path: Path) -> Iterator[World]:
    file, filled = template
    shutil.copyfile(file, tmp_path / "matrix.db")
    made = World(str(tmp_path / "matrix.db"), filled)
    yield made
    made.served.registry.close()


def test_every_route_is_in_the_matrix_and_declares_its_scope(world: World) -> None:
    # The dashboard's pages are held against everybody in a matrix of their own.
    routes = [
        route
        for route in iter_route_contexts(world.served.app._app._routes.routes)
        if not getattr(route.endpoint, "__module__", "").startswith("holdfast.web.dashboard")
    ]
    known = {
        (method, str(route.path_format or route.path))
        for route in routes
        for method in (route.methods or ())
        if (route.path_format or route.path) not in BESIDE
    }

    assert known == set(EXAMPLES)
    assert {route.path_format or route.path for route in routes} >= BESIDE
    assert set(world.scopes()) == known
    assert set(world.scopes().values()) <= {"read", "tools", "write", "admin"}


@requirement("trust.spaces", "trust.local")
@pytest.mark.parametrize("route", EVERY, ids=" ".join)
def test_a_route_answers_whom_its_scope_says(world: World, route: tuple[str, str]) -> None:
    method, path = route
    example, scope = EXAMPLES[route], world.scopes()[route]

    for caller in ("none", "wrong", "ended"):
        answer = world.ask(method, path, example, caller)
        assert (answer.status_code, MARK in answer.text) == (401, False), caller
    for caller, grant in GRANTS.items():
        if not grant.allows(scope) or example.needs_all_spaces:  # type: ignore[arg-type]
            answer = world.ask(method, path, example, caller)
            assert (answer.status_code, MARK in answer.text) == (403, False), caller
    weakest = "own" if example.needs_all_spaces else scope
    answer = world.ask(method, path, example, weakest)
    assert answer.status_code == example.status, answer.text


@requirement("trust.spaces")
@pytest.mark.parametrize("route", EVERY, ids=" ".join)
def test_a_stranger_can_not_tell_what_is_there_from_what_is_not(world: World, route: tuple[str, str]) -> None:
    method, path = route
    example = EXAMPLES[route]
    nothing = Names("absent", *(f"zzzzzzz{number}" for number in range(7)))
    swaps = dict(zip(_texts(world.names), _texts(nothing), strict=True))

    named = world.ask(method, path, example, "stranger", space="ours")
    absent = world.ask(method, path, example, "stranger", space="absent", names=nothing)
    there = world.ask(method, path, example, "stranger")
    missing = world.ask(method, path, example, "stranger", names=nothing)

    for answer in (named, absent, there, missing):
        assert MARK not in answer.text
        assert answer.status_code < 500
    if "/spaces" not in path and "/tokens" not in path:
        assert (named.status_code, absent.status_code) == (404, 404)
    assert _swapped(named.text, swaps) == absent.text
    if method == "GET" or there.status_code >= 400:
        assert (there.status_code, _swapped(there.text, swaps)) == (missing.status_code, missing.text)


@requirement("trust.spaces")
@pytest.mark.parametrize("route", EVERY, ids=" ".join)
def test_an_answer_is_as_the_document_describes_it(world: World, route: tuple[str, str]) -> None:
    method, path = route
    document = world.document()
    told = document["paths"][path][method.lower()]["responses"]

    answer = world.ask(method, path, EXAMPLES[route], "own", space="ours")

    if path == "/api/export":
        assert answer.headers["Content-Type"].startswith("application/x-ndjson")
        return
    schema = told[str(answer.status_code)]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": document["components"]}).validate(answer.json())


def _texts(names: Names) -> list[str]:
    return [
        names.space,
        names.memory,
        names.other,
        names.waiting,
        names.forgotten,
        names.session,
        names.message,
        names.token,
    ]


def _swapped(text: str, swaps: dict[str, str]) -> str:
    for old, new in swaps.items():
        text = text.replace(old, new)
    return text


# ------------------------------------------------------------------------------------- beside the matrix


@requirement("trust.spaces")
@pytest.mark.parametrize("caller", ["read", "write", "stranger", "proxy"])
def test_hooks_are_for_the_user_of_the_machine(world: World, caller: str) -> None:
    client = world.served.caller(world.secrets[caller])

    answer = client.post(
        "/hooks/SessionStart", json={"session_id": "s", "source": "startup", "space": "ours"}
    )

    assert answer.status_code == 403
    assert MARK not in answer.text


@requirement("trust.spaces", "trust.local")
@pytest.mark.parametrize("caller", ["read", "write", "admin", "stranger", "proxy"])
def test_commands_are_for_the_user_of_the_machine(world: World, caller: str) -> None:
    client = world.served.caller(world.secrets[caller])

    answer = client.post("/command", json={"arguments": ["list", "--space", "ours"], "directory": "/"})

    assert answer.status_code == 403
    assert MARK not in answer.text


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/docs"])
def test_the_descriptions_are_for_holders_of_a_token_and_name_nothing_of_a_space(
    world: World, path: str
) -> None:
    assert world.served.caller(None).get(path).status_code == 401

    answer = world.served.caller(world.secrets["read"]).get(path)

    assert answer.status_code == 200
    assert MARK not in answer.text
    assert "http://" not in answer.text.replace("http://127.0.0.1", "")
    assert "https://" not in answer.text
    assert "<script" not in answer.text


def test_the_same_rights_hold_on_both_databases(new_database: NewDatabase) -> None:
    database = new_database()
    world = World(database, Filled.into(database))
    kinds: Any = [("read", 200, 403), ("write", 200, 201), ("stranger", 404, 404)]

    for caller, reading, writing in kinds:
        looked = world.ask("GET", "/api/memory/", Example(), caller, space="ours")
        example = EXAMPLES["POST", "/api/memory/"]
        wrote = world.ask("POST", "/api/memory/", example, caller, space="ours")
        assert (looked.status_code, wrote.status_code) == (reading, writing)
    world.served.registry.close()
