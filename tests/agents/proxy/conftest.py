"""The service on a real port of this process, an upstream beside it, and the vendors' own clients."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import anthropic
import openai
import pytest
import uvicorn

from holdfast import Memories
from holdfast.agents.proxy import request_memory
from holdfast.app.service_host import assembled
from holdfast.app.space_registry import SpaceRegistry
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from holdfast.web.service.background_tasks import Worker
from holdfast.web.service.http_server import listen
from tests.agents.proxy.upstream import Upstream

OWN = "the-token-of-this-machines-user"
KEY = "sk-the-upstreams-own-key"
SPACE = "talks"


class Running:
    """A service with one space, and a token of each scope for it."""

    def __init__(self, database: str) -> None:
        self.database = database
        store = open_store(database)
        administration = Administration(store)
        administration.create_space(SPACE, profile="default")
        self.tokens = {
            scope: administration.create_token(scope, spaces=(SPACE,)).secret
            for scope in ("proxy", "read", "write", "admin")
        }
        store.close()
        self.registry = SpaceRegistry(database)
        self.woken = 0
        self.clients: list[anthropic.Anthropic | openai.OpenAI] = []
        self._waking = threading.Condition()
        worker = Worker([])
        worker.wake = self._woken  # type: ignore[method-assign]
        self._listening = listen("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        app: Any = assembled(self.registry, worker, own=OWN)
        config = uvicorn.Config(app, log_config=None, log_level="warning", access_log=False, lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._listening],), daemon=True)
        self._thread.start()

    def _woken(self) -> None:
        with self._waking:
            self.woken += 1
            self._waking.notify_all()

    def wait_for(self, messages: int) -> None:
        """Until so many messages were overheard; the worker is woken for one or for several."""
        with self._waking:
            assert self._waking.wait_for(lambda: len(self.said()) >= messages, 60)

    @property
    def token(self) -> str:
        return self.tokens["proxy"]

    @property
    def memories(self) -> Memories:
        return self.registry.memories(SPACE)

    def stop(self) -> None:
        """Ends the service as a signal would: what was overheard is kept before it is gone."""
        for client in self.clients:
            client.close()
        self._server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._listening.close()

    def said(self) -> list[tuple[str, str | None]]:
        """All that was kept of what was said, in order. The service has been stopped by then."""
        with Memories.open(self.database, SPACE) as memories:
            sessions = reversed(memories.sessions())
            return [
                (one.role, one.content) for each in sessions for one in memories.session(each.id).messages
            ]

    def sessions(self) -> list[str]:
        with Memories.open(self.database, SPACE) as memories:
            return [each.id for each in reversed(memories.sessions())]


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    server = Upstream()
    monkeypatch.setattr(request_memory, "DEADLINE", 30.0)  # a busy machine is no broken memory
    monkeypatch.setenv("HOLDFAST_ANTHROPIC_UPSTREAM", server.url)
    monkeypatch.setenv("HOLDFAST_OPENAI_UPSTREAM", server.url)
    yield server
    server.close()


@pytest.fixture
def service(database_url: str, upstream: Upstream) -> Iterator[Running]:
    running = Running(database_url)
    yield running
    running.stop()
    running.registry.close()


@pytest.fixture
def service_on_file(sqlite_url: str, upstream: Upstream) -> Iterator[Running]:
    """Where the database does not matter, or is to be broken."""
    running = Running(sqlite_url)
    yield running
    running.stop()
    running.registry.close()


# --------------------------------------------------------------------------------------------------- clients


class Claude:
    """The anthropic package, which is told an address and nothing else."""

    vendor = "anthropic"

    def __init__(
        self, service: Running, headers: Mapping[str, str] | None = None, *, stream: bool = False
    ) -> None:
        self.stream = stream
        self.client = anthropic.Anthropic(
            base_url=f"{service.url}/proxy/{service.token}/anthropic",
            api_key=KEY,
            max_retries=0,
            timeout=60,
            default_headers=headers,
        )
        service.clients.append(self.client)

    def ask(self, messages: Sequence[Any], **more: Any) -> Any:
        """The model's content, in the client's own form."""
        given: Any = {"model": "claude-test", "max_tokens": 100, "messages": messages, **more}
        if not self.stream:
            return self.client.messages.create(**given).content
        with self.client.messages.stream(**given) as stream:
            return stream.get_final_message().content

    def say(self, messages: Sequence[Any], **more: Any) -> str:
        return "".join(block.text for block in self.ask(messages, **more) if block.type == "text")


class Gpt:
    """The openai package."""

    vendor = "openai"

    def __init__(
        self, service: Running, headers: Mapping[str, str] | None = None, *, stream: bool = False
    ) -> None:
        self.stream = stream
        self.client = openai.OpenAI(
            base_url=f"{service.url}/proxy/{service.token}/openai/v1",
            api_key=KEY,
            max_retries=0,
            timeout=60,
            default_headers=headers,
        )
        service.clients.append(self.client)

    def ask(self, messages: Sequence[Any], **more: Any) -> Any:
        given: Any = {"model": "gpt-test", "messages": messages, **more}
        if not self.stream:
            return self.client.chat.completions.create(**given).choices[0].message
        with self.client.chat.completions.stream(**given) as stream:
            return stream.get_final_completion().choices[0].message

    def say(self, messages: Sequence[Any], **more: Any) -> str:
        return str(self.ask(messages, **more).content)


Client = Claude | Gpt
CLIENTS: list[type[Claude] | type[Gpt]] = [Claude, Gpt]
both_clients = pytest.mark.parametrize("kind", CLIENTS, ids=["anthropic", "openai"])
whole_and_streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}
