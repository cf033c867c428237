"""Two services on one PostgreSQL with a replica, behind a proxy that asks each of them in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from holdfast.client import Client
from holdfast.domain.outcomes import settled
from tests.conftest import clean
from tests.postgres import OwnServer, StreamingReplica
from tests.requirements_ledger import requirement
from tests.store.replicated import Team, team_on
from tests.web.dashboard.reading import Page
from tests.web.service.conftest import Service
from tests.web.service.round_robin import round_robin

pytestmark = pytest.mark.slow

TOKEN = "the-token-that-both-homes-have"


class Deployment:
    """The address of the proxy, and what stands behind it."""

    def __init__(self, url: str, team: Team) -> None:
        self.url = url
        self.team = team
        self.known = {"Authorization": f"Bearer {TOKEN}"}

    def client(self) -> Client:
        return Client(self.url, TOKEN, space="default")

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        return httpx2.request(method, f"{self.url}{path}", headers=self.known, timeout=60, **more)

    def browser(self) -> httpx2.Client:
        headers = {"Origin": self.url, "Sec-Fetch-Site": "same-origin"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60, follow_redirects=False)

    @contextmanager
    def late_replica(self) -> Iterator[None]:
        """Within it the replica shows nothing new."""
        self.team.catch_up()
        self.team.replica.pause()
        try:
            yield
        finally:
            self.team.replica.resume()


@pytest.fixture(scope="module")
def behind(
    replicated: tuple[OwnServer, StreamingReplica], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("services")
    services: list[Service] = []
    with pytest.MonkeyPatch.context() as patch:
        clean(folder, patch)
        with team_on(replicated, patch) as team:
            for name in ("one", "two"):
                home = folder / name
                home.mkdir(mode=0o700)
                (home / "token").write_text(TOKEN)
                services.append(Service(home, "--db", team.url))
            with round_robin([service.url for service in services]) as url:
                yield Deployment(url, team)
            for service in services:
                service.stop()


@requirement("scale.services", "scale.replica")
def test_what_a_client_wrote_it_reads_at_once(behind: Deployment) -> None:
    seen: list[tuple[bool, bool, int]] = []

    with behind.client() as client, behind.late_replica():
        for number in range(6):
            said = f"The shelf numbered {number} holds blue folders"
            made = settled(client.remember(said, subject=f"s{number}"))
            assert made is not None
            found = client.recall(f"What does the shelf numbered {number} hold?").memories
            listed = {memory.id for memory in client.find().memories}
            seen.append((made.id in {hit.memory.id for hit in found}, made.id in listed, number))
            assert client.show(made.id).memory.content == made.content

    assert seen == [(True, True, number) for number in range(6)]


@requirement("scale.services", "asst.brief.frozen")
def test_a_session_and_its_brief_are_the_same_whichever_service_answers(behind: Deployment) -> None:
    with behind.client() as own, behind.late_replica():
        client = own.speaking_as("assistant", session="chat")
        client.remember("Backups run at night", subject="backups")
        briefs = [client.brief()]
        for number in range(6):
            client.say("chat", "user", f"Sentence number {number}")
            client.remember(f"Note number {number} of the chat", subject=f"note {number}")
            briefs.append(client.brief())
        said = [message.content for message in client.session("chat").messages]

    assert {(brief.text, brief.sha256) for brief in briefs} == {(briefs[0].text, briefs[0].sha256)}
    assert "Backups run at night" in briefs[0].text
    assert said == [f"Sentence number {number}" for number in range(6)]


@requirement("scale.services", "sem.mcp")
def test_an_agent_over_mcp_finds_what_it_remembered(behind: Deployment) -> None:
    async def conversation() -> list[str]:
        async with httpx2.AsyncClient(headers=behind.known, timeout=60) as web:
            transport = streamable_http_client(f"{behind.url}/mcp", http_client=web)
            async with McpClient(transport) as client:
                texts = []
                for number in range(4):
                    fact = f"Deploys of team {number} run on Fridays"
                    await client.call_tool("memory_remember", {"content": fact})
                    found = await client.call_tool("memory_search", {"query": fact})
                    texts.append(str(found.content[0].text))  # type: ignore[union-attr]
                return texts

    with behind.late_replica():
        texts = anyio.run(conversation)

    for number, text in enumerate(texts):
        assert f"Deploys of team {number} run on Fridays" in text


@requirement("scale.services")
def test_a_link_signs_one_browser_in_to_the_pages_of_all_services(behind: Deployment) -> None:
    path = behind.ask("POST", "/login/link").json()["path"]
    asked = ("/", "/memories", "/sessions", "/inbox", "/stats") * 2

    with behind.browser() as browser, behind.browser() as other:
        entered = browser.get(path)
        again = other.get(path)
        pages = [browser.get(page).status_code for page in asked]
        out = browser.post("/logout", data={"key": _form_key(browser)})
        after = [browser.get("/memories").status_code for _ in range(2)]

    assert (entered.status_code, again.status_code) == (200, 403)
    assert pages == [200] * 10
    assert (out.status_code, after) == (303, [303, 303])


@requirement("scale.services", "scale.replica")
def test_what_is_done_on_a_page_is_told_on_the_next_one_and_can_be_taken_back(behind: Deployment) -> None:
    made = behind.ask("POST", "/api/tokens", json={"scopes": ["write"], "spaces": ["default"]}).json()

    with behind.browser() as browser, behind.late_replica():
        browser.post("/login", data={"token": made["token"]})
        fields = {"key": _form_key(browser), "content": "The printer is on floor two", "subject": "printer"}
        added = browser.post("/memories/new", data=fields)
        shown = browser.get(added.headers["location"])
        listed = browser.get("/memories", params={"q": "printer"})
        behind.ask("DELETE", f"/api/tokens/{made['id']}")
        after = [browser.get("/memories").status_code for _ in range(2)]

    assert added.status_code == 303
    assert Page(shown.text).all("div", class_="notice done") != []
    assert "The printer is on floor two" in listed.text
    assert after == [303, 303]  # the token was revoked at one of them


@requirement("scale.services")
def test_a_space_that_was_made_again_has_its_new_profile_everywhere(behind: Deployment) -> None:
    def kinds() -> list[int]:
        """How each service takes a category of the profile `ops`."""
        said = [{"content": f"Takes {each}s to start", "category": "timing"} for each in (60, 90)]
        return [behind.ask("POST", "/api/memory/?space=temporary", json=one).status_code for one in said]

    behind.ask("POST", "/api/spaces", json={"name": "temporary", "profile": "ops"})
    first = kinds()
    behind.ask("DELETE", "/api/spaces/temporary")
    gone = kinds()
    behind.ask("POST", "/api/spaces", json={"name": "temporary", "profile": "assistant"})
    second = kinds()

    assert (first, gone, second) == ([201, 201], [404, 404], [422, 422])


@requirement("scale.replica")
def test_metrics_say_how_the_replica_stands_and_who_answered(behind: Deployment) -> None:
    with behind.client() as client:
        client.remember("The gate closes at nine", subject="gate")
        behind.team.catch_up()
        for _ in range(4):
            client.find()

    metrics = [behind.ask("GET", "/metrics").text for _ in range(2)]

    for text in metrics:
        assert "holdfast_replica_up 1.0" in text
        assert re.search(r"^holdfast_replica_lag_seconds \d", text, re.M)
        assert re.search(r"^holdfast_replica_lag_bytes \d", text, re.M)
        assert re.search(r'^holdfast_replica_reads\{server="replica"\} [1-9]', text, re.M)


def _form_key(browser: httpx2.Client) -> str:
    """The key that stands in every form for this browser."""
    fields = Page(browser.get("/memories/new").text).all("input", name="key")
    return fields[0].attributes["value"]
