"""A bot over a space of each database, and the Telegram that it talks to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from holdfast import Added, Memories
from holdfast.app.wiring import open_store
from holdfast.cli.telegram.bot import Bot
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.cli.telegram.bot_api import ALICE, TOKEN, BotApi


@pytest.fixture(autouse=True)
def _spans_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "true")


@pytest.fixture
def api() -> Iterator[BotApi]:
    api = BotApi()
    yield api
    api.close()


@pytest.fixture
def memories(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    store = open_store(database_url)
    create_space("me", store=store, clock=clock, profile="assistant")
    yield Memories.of(store, "me", clock=clock)
    store.close()


class Running:
    """A bot that runs in a thread of its own, and whose pauses take no time."""

    def __init__(self, memories: Callable[[], Memories], api: BotApi) -> None:
        self.paused: list[float] = []
        self.names: list[str] = []
        self.error: BaseException | None = None
        self._bot = Bot(memories, token=TOKEN, users={ALICE}, api=api.url, pause=self._pause)
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    async def _pause(self, seconds: float) -> None:
        self.paused.append(seconds)
        await asyncio.sleep(0)

    def _run(self) -> None:
        self._task = self._loop.create_task(self._bot.run(self.names.append))
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()

    def stop(self) -> None:
        if self._thread.is_alive() and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
        self.join()


@pytest.fixture
def bot(memories: Memories, api: BotApi) -> Iterator[Running]:
    running = Running(lambda: memories, api)
    yield running
    running.stop()
    assert running.error is None


def kept(memories: Memories, text: str, category: str = "person", **fields: str) -> str:
    """Remembers a text and gives its id."""
    outcome = memories.remember(text, category=category, **fields)  # type: ignore[arg-type]
    assert isinstance(outcome, Added)
    return outcome.memory.id


def waiting(memories: Memories, text: str) -> str:
    """Puts a text into the inbox and gives its id."""
    memories.speaking_as("tool").remember(text, category="person", doubtful="a web page says so")
    return next(item.memory.id for item in memories.inbox() if item.memory.content == text)
