"""An MCP server over a space of each style, driven by the official client in both eras of the protocol."""

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import anyio
import pytest
from mcp import Client

from holdfast import Memories
from holdfast.agents.mcp import server
from holdfast.app.wiring import open_store
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock

Result = TypeVar("Result")


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = open_store(database_url)
    yield store
    store.close()


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """The protocol that the client speaks: today's, or the one with a handshake."""
    return str(request.param)


class Driven:
    """One space behind an MCP server; each call is a connection of its own, as the protocol wants it."""

    def __init__(self, memories: Memories, era: str) -> None:
        self.memories = memories
        self._era = era

    def ask(self, work: Callable[[Client], Awaitable[Result]]) -> Result:
        async def connected() -> Result:
            speaking = self.memories.speaking_as("assistant")
            async with Client(server(lambda: speaking), mode=self._era) as client:
                return await work(client)

        return anyio.run(connected)

    def call(self, name: str, **arguments: object) -> tuple[str, bool]:
        """What a tool answers, and whether it failed."""
        answer = self.ask(lambda client: client.call_tool(name, arguments))
        return answer.content[0].text, bool(answer.is_error)  # type: ignore[union-attr]


@pytest.fixture
def served(store: Store, clock: FixedClock, era: str) -> Callable[[str], Driven]:
    """Makes a space with the profile of that name and serves it."""

    def made(profile: str) -> Driven:
        create_space(profile, store=store, clock=clock, profile=profile)
        return Driven(Memories.of(store, profile, clock=clock), era)

    return made
