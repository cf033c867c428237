"""The work in the background goes in slices: the most urgent first, and nothing is lost in between."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import pytest

from holdfast import Filter, Memories
from holdfast.app.space_registry import SpaceRegistry
from holdfast.app.wiring import context_for, open_store
from holdfast.domain.calibration import MEASURED_WITH
from holdfast.domain.memory import Draft
from holdfast.domain.query import EVERYTHING
from holdfast.engine import changes
from holdfast.engine.intake import sanitize
from holdfast.engine.ports import Store, TimeUp
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from holdfast.web.service.background_tasks import Chore, Worker, capture, upkeep, vectors
from tests.engine.test_retention import RULES
from tests.store.some_vectors import Hashing
from tests.web.service.conftest import Service

MANY = 150
SAID = "Petra is our landlord."


class Ticking:
    """A clock on which every look takes a while: the time of a slice is over after a few items."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.05
        return self.now


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    opened = open_store(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    """A space whose upkeep has hundreds of memories to archive."""
    create_space("kept", store=store, clock=clock, text=RULES)
    fill(store, "kept", clock, [f"The pump {number} hums" for number in range(MANY)])
    clock.advance(days=300)
    return Memories.of(store, "kept", clock=clock, embedder=None)


def fill(store: Store, space: str, clock: Callable[[], datetime], texts: Sequence[str | Draft]) -> None:
    """Adds them all as they are, compared with nothing."""
    ctx = context_for(space, store, clock=clock)
    category = ctx.profile.category_names[0]
    drafts = [
        sanitize(text if isinstance(text, Draft) else Draft(content=text, category=category), ctx.profile)
        for text in texts
    ]
    with store.write(space) as tx:
        changes.add_all(tx, ctx, drafts, now=clock())


def noted(name: str, chore: Chore, order: list[str]) -> Chore:
    def noting(time_up: TimeUp) -> bool:
        order.append(name)
        return chore(time_up)

    return noting


def test_a_long_upkeep_gives_way_to_what_was_just_said(memories: Memories) -> None:
    order: list[str] = []
    places = (lambda: ["kept"], lambda name: memories)
    worker = Worker(
        [noted("capture", capture(*places, lambda project, session: None), order)],
        when_idle=[noted("upkeep", upkeep(*places), order)],
        clock=Ticking(),
    )
    worker._round()
    memories.say("s", "user", SAID)
    memories.close_session("s")
    while not memories.find(Filter(session="s")).total:  # one question of a model in each round
        worker._round()
    among_it = [memory.content for memory in memories.find(Filter(session="s")).memories]
    begun = memories.find(Filter(states=("inactive",))).total
    rounds = sum(1 for _ in iter(worker._round, False))

    assert among_it == [SAID]
    assert begun < MANY
    assert rounds > 5
    assert order[:3] == ["capture", "upkeep", "capture"]
    assert order.count("upkeep") < order.count("capture")
    assert memories.find(Filter(states=("inactive",))).total == MANY


def test_the_upkeep_in_slices_does_what_it_does_in_one_go(store: Store, clock: FixedClock) -> None:
    twins = []
    for name in ("slices", "at-once"):
        create_space(name, store=store, clock=clock, profile="ops")
        fill(store, name, clock, [f"Takes {number} minutes to start" for number in range(60)])
        twins.append(Memories.of(store, name, clock=clock, embedder=None))
    clock.advance(days=60)
    worker = Worker([upkeep(lambda: ["slices"], lambda name: twins[0])], clock=Ticking())

    slices = sum(1 for _ in iter(worker._round, False))
    twins[1].tend()

    believed = [[memory.confidence for memory in one.find().memories] for one in twins]
    assert slices > 1
    assert believed[0] == believed[1]
    assert len(set(believed[0])) == 1
    assert believed[0][0] < 0.7


def test_a_session_that_is_read_in_slices_yields_the_same(store: Store, clock: FixedClock) -> None:
    found = []
    for name, time_up in (("slices", lambda: True), ("at-once", lambda: False)):
        create_space(name, store=store, clock=clock)
        memories = Memories.of(store, name, clock=clock, embedder=None)
        for number in range(4):
            memories.say(
                "s", "user", f"Our server number {number} is called host-{number}. " + "So it is. " * 60
            )
        memories.close_session("s")
        calls = sum(1 for _ in iter(lambda: memories.capture_due(time_up=time_up), None))  # noqa: B023
        found.append((calls, sorted(memory.content for memory in memories.find().memories)))

    (slices, in_slices), (once, at_once) = found
    assert once == 1
    assert slices > once
    assert in_slices == at_once != []


def test_vectors_are_made_in_batches_that_take_a_moment(store: Store, clock: FixedClock) -> None:
    given: list[list[int]] = []

    class Watched(Hashing):
        def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
            given.append([len(text) for text in texts])
            return super().documents(texts)

    memories = Memories.of(store, "default", clock=clock, embedder=Watched(MEASURED_WITH))
    fill(store, "default", clock, [f"{number} " + "long " * 600 for number in range(10)])
    fill(store, "default", clock, [f"Host {number} is up" for number in range(100)])

    first = memories.embed(256, time_up=lambda: True)
    while memories.embed(256, time_up=lambda: True):
        pass

    assert first < 64
    assert all(len(sizes) == 1 or sum(sizes) <= 4_000 for sizes in given)
    assert memories.embed(256) == 0


def test_a_first_calibration_is_made_in_slices(store: Store, clock: FixedClock) -> None:
    given: list[int] = []

    class Watched(Hashing):
        def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
            given.append(len(texts))
            return super().documents(texts)

        def queries(self, texts: Sequence[str]) -> list[bytes]:
            given.append(len(texts))
            return super().queries(texts)

    found = []
    for name, time_up in (("slices", lambda: True), ("at-once", lambda: False)):
        create_space(name, store=store, clock=clock)
        memories = Memories.of(store, name, clock=clock, embedder=Watched("another"))
        fill(store, name, clock, ["Host 1 is up"])
        calls = sum(1 for _ in iter(lambda: memories.embed(256, time_up=time_up), 0))  # noqa: B023
        with store.read(name) as tx:
            [model] = tx.models.all()
        found.append((calls, model.calibration))

    (slices, in_slices), (once, at_once) = found
    assert max(given) <= 8
    assert slices > 20
    assert once == 1
    assert in_slices == at_once is not None


def test_no_space_waits_for_the_vectors_of_another(store: Store, clock: FixedClock) -> None:
    spaces = {}
    for name in ("a", "b", "c"):
        create_space(name, store=store, clock=clock)
        fill(store, name, clock, [f"Host {number} is up" for number in range(200)])
        spaces[name] = Memories.of(store, name, clock=clock, embedder=Hashing(MEASURED_WITH))
    chore = vectors(lambda: list(spaces), spaces.__getitem__)
    done = []
    for _ in range(3):
        chore(lambda: True)
        done.append([name for name, one in spaces.items() if embedded(one)])

    assert done == [["a"], ["a", "b"], ["a", "b", "c"]]


def embedded(memories: Memories) -> bool:
    with memories.store.read(memories.space) as tx:
        return any(model.memories_to for model in tx.models.all())


def test_a_stop_ends_whatever_looks_at_its_time() -> None:
    begun = threading.Event()

    def endless(time_up: TimeUp) -> bool:
        begun.set()
        while not time_up():
            pass
        return True

    worker = Worker([endless])
    worker.start()
    begun.wait(60)
    worker.stop(60)

    assert not worker._thread.is_alive()


@pytest.mark.slow
def test_a_service_that_is_stopped_in_the_middle_of_its_upkeep_ends_and_loses_nothing(
    tmp_path: Path,
) -> None:
    home = tmp_path / "holdfast"
    home.mkdir(mode=0o700)
    url = f"sqlite:///{home / 'holdfast.db'}"
    store = open_store(url)
    past = datetime.now(UTC) - timedelta(days=170)
    create_space("ops", store=store, clock=lambda: past, profile="ops")
    fill(store, "ops", lambda: past, [f"Takes {number} minutes to start" for number in range(500)])
    ops = Memories.of(store, "ops", embedder=None)

    service = Service(home, HOLDFAST_EMBEDDER="none")
    wait_until(lambda: faded(ops) > 0)
    code = service.stop(signal.SIGTERM)
    left = ops.find(EVERYTHING, limit=1).total
    ops.tend()

    assert code == 0
    assert left == 500
    assert faded(ops) == 500
    assert "login" not in service.told
    store.close()


def faded(memories: Memories) -> int:
    return memories.find(Filter(states=("inactive",)), limit=1).total


def wait_until(done: Callable[[], bool]) -> None:
    until = monotonic() + 240
    while not done():
        assert monotonic() < until
        threading.Event().wait(0.05)


def test_a_long_text_is_embedded_part_by_part_over_several_slices(store: Store, clock: FixedClock) -> None:
    class Slow(Hashing):
        made = 0

        def load(self) -> None:
            raise AssertionError("nobody asked for it")

        def parts(self, text: str) -> Iterator[bytes]:
            for start in range(0, len(text), 1_000):
                self.made += 1
                yield self.query(text[start : start + 1_000])

    embedder = Slow(MEASURED_WITH)
    memories = Memories.of(store, "default", clock=clock, embedder=embedder)
    fill(store, "default", clock, ["long " * 800])

    slices = [memories.embed(256, time_up=lambda: True) for _ in range(4)]

    assert embedder.made == 4
    assert not embedded(memories)
    assert all(slices)
    while memories.embed(256, time_up=lambda: True):
        pass
    assert embedder.made == 4
    assert embedded(memories)


def test_models_are_loaded_before_the_first_slice() -> None:
    order: list[str] = []
    done = threading.Event()

    def chore(time_up: TimeUp) -> bool:
        order.append("slice")
        done.set()
        return False

    def loads() -> Iterator[None]:
        order.append("model")
        yield
        order.append("rules")

    loading = loads()
    worker = Worker([chore], loads=lambda time_up: next(loading, True) is None)
    worker.start()
    done.wait(60)
    worker.stop(60)

    assert order == ["model", "rules", "slice"]


def test_the_warm_up_leaves_what_has_no_vector_yet_to_the_slices(sqlite_url: str, clock: FixedClock) -> None:
    registry = SpaceRegistry(sqlite_url)
    registry.embedder = Hashing(MEASURED_WITH)
    memories = registry.memories()
    fill(memories.store, memories.space, clock, [f"Host {number} is up" for number in range(40)])

    for _ in registry.warm_up():
        pass

    assert gc.get_freeze_count() > 0  # no slice looks through what was loaded
    gc.unfreeze()
    with memories.store.read(memories.space) as tx:
        left = tx.memory_vectors.missing(MEASURED_WITH, 100).owners
    registry.close()
    assert len(left) == 39
