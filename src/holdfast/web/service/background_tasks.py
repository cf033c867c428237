"""Background tasks (capture, embeddings, upkeep), and the threads that run them in short slices.

`app/service_host.py` has the list of what runs. Every task can be interrupted and repeated.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from holdfast.engine.memories import Memories
from holdfast.engine.ports import TimeUp
from holdfast.errors import HoldfastError, Unavailable

SLICE = 0.05  # seconds after which a task yields, at the end of an item: within 200 ms
STOP_TIMEOUT = 0.8  # seconds that a stop waits for the slice at hand; what is cut off there is done again
_log = logging.getLogger(__name__)

#: Does some of its work until its time is up, at least one item; true when there is more to do at once.
Chore = Callable[[TimeUp], bool]


class Worker:
    """A thread that runs the tasks in turn, woken by `wake` or after a pause; a second one for `beside`.

    Each task gets a slice in turn, the most urgent first; those of `when_idle` only if no other has more to
    do. `beside` are those that wait for remote models, so that nothing else waits for them. The task that
    `loads` models runs before the first slice of the others.
    """

    def __init__(
        self,
        chores: Sequence[Chore],
        *,
        when_idle: Sequence[Chore] = (),
        beside: Sequence[Chore] = (),
        loads: Chore = lambda time_up: False,
        pause: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chores = chores
        self._when_idle = when_idle
        self._loads = loads
        self._beside = Worker(beside, pause=pause, clock=clock) if beside else None
        self._pause = pause  # seconds between rounds without work
        self._clock = clock
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._db_unreachable = False  # whether the last round failed with Unavailable
        self._thread = threading.Thread(target=self._run, name="holdfast-worker", daemon=True)

    def start(self) -> None:
        self._thread.start()
        if self._beside is not None:
            self._beside.start()

    def wake(self) -> None:
        """There is work: the next round begins now."""
        self._woken.set()
        if self._beside is not None:
            self._beside.wake()

    def stop(self, patience: float = STOP_TIMEOUT) -> None:
        """Ends after the current item; the next service continues."""
        workers = [self] if self._beside is None else [self, self._beside]
        for worker in workers:
            worker._stopping.set()
            worker._woken.set()
        until = time.monotonic() + patience
        for worker in workers:
            if worker._thread.is_alive():
                worker._thread.join(max(until - time.monotonic(), 0))

    def _run(self) -> None:
        while self._turns([self._loads])[0]:
            pass
        while not self._stopping.is_set():
            if not self._round():
                self._woken.wait(self._pause)
            self._woken.clear()

    def _round(self) -> bool:
        more, away = self._turns(self._chores)
        if not more:
            more, also_away = self._turns(self._when_idle)
            away = away or also_away
        self._note(away)
        return more

    def _turns(self, chores: Sequence[Chore]) -> tuple[bool, bool]:
        """A slice for each; whether one has more to do, and whether the memory could not be used."""
        more = away = False
        for chore in chores:
            if self._stopping.is_set():
                return False, away
            try:
                more = chore(self._slice()) or more
            except Unavailable:
                away = True
            except Exception:  # broad: the background loop; one chore's trouble must not end the others
                _log.exception("a background task failed; it will be retried")
        return more, away

    def _slice(self) -> TimeUp:
        end = self._clock() + SLICE
        return lambda: self._stopping.is_set() or self._clock() >= end

    def _note(self, away: bool) -> None:
        """Logs once when the database becomes unreachable and once when it is back, not on every round."""
        if away and not self._db_unreachable:
            _log.error("the database is unreachable: run `holdfast doctor`; background work is paused")
        if self._db_unreachable and not away:
            _log.warning("the database is reachable again: background work resumes")
        self._db_unreachable = away


UPKEEP_EVERY = 3_600.0  # seconds
EMBEDDED_AT_A_TIME = 256


Open = Callable[[str], Memories]
Names = Callable[[], Sequence[str]]
Writes = Callable[[], Mapping[str, float]]  # when this process last wrote to which space
Quiet = Callable[[str | None, str], str | None]  # a project and a session: why nothing is captured there
#: Works for the space of that name until the time is up; true if there may be more to do.
Work = Callable[[str, TimeUp], bool]


def upkeep(
    names: Names, memories: Open, writes: Writes = dict, *, now: Callable[[], float] = time.monotonic
) -> Chore:
    """Tends every space once in a while, but for the vectors."""
    tended: dict[str, float] = {}
    under_way: dict[str, Iterator[object]] = {}

    def work(name: str, time_up: TimeUp) -> bool:
        if name not in under_way and now() - tended.get(name, float("-inf")) < UPKEEP_EVERY:
            return False
        tended[name] = now()
        steps = under_way.pop(name, None) or memories(name).upkeep()
        for _ in steps:
            if time_up():
                under_way[name] = steps
                return True
        return False

    return _in_turn(SpaceRounds(names, writes), work)


def vectors(names: Names, memories: Open, writes: Writes = dict) -> Chore:
    """Embeds new texts, a batch of each space at a time."""

    def work(name: str, time_up: TimeUp) -> bool:
        return memories(name).embed(EMBEDDED_AT_A_TIME, time_up=time_up) > 0

    return _in_turn(SpaceRounds(names, writes), work)


def capture(names: Names, memories: Open, quiet: Quiet, writes: Writes = dict) -> Chore:
    """Captures from a session of each space with new messages; `quiet` says where capture is off."""

    def work(name: str, time_up: TimeUp) -> bool:
        return memories(name).capture_due(quiet=quiet, time_up=time_up) is not None

    return _in_turn(SpaceRounds(names, writes), work)


def reading(names: Names, memories: Open, quiet: Quiet, writes: Writes = dict) -> Chore:
    """Runs the language model on chunks that the built-in model already read, one per space at a time."""
    rounds = SpaceRounds(names, writes)
    return _in_turn(rounds, lambda name, _: memories(name).read_due(quiet=quiet) is not None)


MANY = 100  # spaces; of more, a round does not ask all
OTHERS = 10  # spaces that a round asks then without a sign of work
CAPTURED_BY = 150.0  # seconds after its last message a session that goes on is captured, and some more


class SpaceRounds:
    """Which spaces a task asks in a round: all, but of many only those that may have work and some others.

    To ask costs a call's worth of processor time even where there is nothing to do. After a write of this
    process a space is asked until it has no more work, and once more when its sessions are due. What other
    processes left undone is found by asking the others in turn.
    """

    def __init__(self, names: Names, writes: Writes, *, now: Callable[[], float] = time.monotonic) -> None:
        self._names = names
        self._writes = writes
        self.now = now
        self._asked: dict[str, float] = {}  # when, of those that had no more work
        self._last = ""  # of the others

    def spaces(self) -> list[str]:
        """Those of the next round; of the first one all, since none was asked yet."""
        every = sorted(self._names())
        if len(every) <= MANY:
            return every
        others = [name for name in every if name > self._last][:OTHERS] or every[:OTHERS]
        self._last = others[-1]
        writes = self._writes()
        return [name for name in every if name in others or self._may_have_work(name, writes.get(name))]

    def note(self, name: str, began: float, *, again: bool) -> None:
        """It was asked at that moment; `again`: it had work, or could not be asked."""
        if again:
            self._asked.pop(name, None)
        else:
            self._asked[name] = began

    def _may_have_work(self, name: str, written: float | None) -> bool:
        asked = self._asked.get(name)
        if asked is None or written is None:
            return asked is None
        return asked <= written or asked < written + CAPTURED_BY <= self.now()


def _in_turn(rounds: SpaceRounds, work: Work) -> Chore:
    """Runs a task for each space; a slice continues where the last one ended."""
    left: list[str] = []  # of this round, the next one last
    told: dict[str, str] = {}  # what was logged of a space that has not worked since
    more = False

    def chore(time_up: TimeUp) -> bool:
        nonlocal more
        if not left:
            left.extend(reversed(rounds.spaces()))
            more = False
        while left:
            space, began = left.pop(), rounds.now()
            had_work = _quietly(space, time_up, work, told)
            rounds.note(space, began, again=had_work is not False)
            more = bool(had_work) or more
            if left and time_up():
                return True
        return more

    return chore


def _quietly(space: str, time_up: TimeUp, work: Work, told: dict[str, str]) -> bool | None:
    """Logs an error in one space once, so that the others continue; it is retried in the next round.

    None after an error.
    """
    try:
        more = work(space, time_up)
    except HoldfastError as error:
        if told.get(space) != str(error):
            _log.warning("space %s: %s", space, error)
        told[space] = str(error)
        return None
    told.pop(space, None)
    return more
