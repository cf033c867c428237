"""Time on the wall and time on the processor, of one piece of work or as the median of many."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

_MILLISECOND = 1e-3


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds: as a person waits for them, and as the processor works, all threads together."""

    wall: float
    cpu: float

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.wall - other.wall, self.cpu - other.cpu)


def now() -> Cost:
    """The moment, to be taken off a later one."""
    return Cost(time.perf_counter() / _MILLISECOND, time.process_time() / _MILLISECOND)


class Meter:
    """Adds up what was spent in some part of the work, so that it can be left out."""

    def __init__(self) -> None:
        self.spent = Cost(0.0, 0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        began = now()
        try:
            yield
        finally:
            took = now() - began
            self.spent = Cost(self.spent.wall + took.wall, self.spent.cpu + took.cpu)


class Metered:
    """A model whose calls are counted apart."""

    def __init__(self, model: Any) -> None:
        self.meter = Meter()
        self._model = model

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._model, name)

        def called(*given: Any) -> Any:
            with self.meter.running():
                return method(*given)

        return called


def cost_of(action: Callable[[], object], *apart: Meter) -> Cost:
    """What an action costs without what the meters count meanwhile."""
    before = [meter.spent for meter in apart]
    began = now()
    action()
    took = now() - began
    for meter, spent in zip(apart, before, strict=True):
        took -= meter.spent - spent
    return took


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of each."""
    return Cost(median(cost.wall for cost in costs), median(cost.cpu for cost in costs))


class Patience:
    """Repeats work until it was done often enough, or for long enough."""

    def __init__(self, times: int, seconds: float, *, least: int = 3) -> None:
        self._times, self._least = times, least
        self._deadline = time.perf_counter() + seconds

    def rounds(self) -> Iterator[int]:
        for number in range(self._times):
            if number >= self._least and time.perf_counter() > self._deadline:
                return
            yield number
