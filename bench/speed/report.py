"""What a run of the speed benchmark found: every figure by name and size, held against the goals."""

import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

PROMISED = 1_000  # memories that are searched within a tenth of a second, over HTTP too
#: Milliseconds of processor time for a recall at a size.
_RECALL = {10_000: 5.0, 100_000: 15.0, 1_000_000: 80.0}
_EXACT_TO = 50_000  # memories up to which the search by vectors is one product
_BASE_MEMORY = 150.0  # megabytes
_MEMORY_EACH = 100  # bytes a memory above that size


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure should be, and what it is."""

    says: str
    figure: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def reached(self) -> bool:
        if self.at_most is not None:
            return self.figure <= self.at_most
        return self.at_least is None or self.figure >= self.at_least

    def as_json(self) -> dict[str, Any]:
        bounds = {"at_most": self.at_most, "at_least": self.at_least}
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"goal": self.says, "figure": rounded(self.figure), **given, "reached": self.reached}


@dataclass(slots=True)
class SpeedReport:
    """Figures by size (0: of no size), ours and the rivals'."""

    spaces: int
    ours: dict[int, dict[str, float]] = field(default_factory=dict)
    rivals: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def sizes(self) -> list[int]:
        return sorted(size for size in self.ours if size)

    def metrics(self) -> dict[str, float]:
        """All figures under one name each: `recall.cpu_ms@10000`, `chromadb.recall.wall_ms@10000`."""
        found = {_name(name, size): rounded(value) for name, value, size in _flat(self.ours)}
        for rival, by_size in self.rivals.items():
            found |= {f"{rival}.{_name(name, size)}": rounded(value) for name, value, size in _flat(by_size)}
        return found

    def goals(self) -> list[Goal]:
        return [*self._promises(), *self._own_goals(), *self._growth(), *self._beside_rivals()]

    def as_json(self) -> dict[str, Any]:
        return {
            "bench": "speed",
            "machine": machine(),
            "sizes": self.sizes,
            "other_spaces": self.spaces,
            "versions": self.versions,
            "metrics": self.metrics(),
            "goals": [goal.as_json() for goal in self.goals()],
        }

    def _promises(self) -> Iterator[Goal]:
        for size in self.sizes[:1]:
            figures = self.ours[size]
            both = figures["remember.wall_ms"] + figures["recall.wall_ms"]
            yield Goal(f"store and search, {size:,} memories, ms", both, at_most=500)
            if size == PROMISED:
                yield Goal(f"search {size:,} memories, ms", figures["recall.wall_ms"], at_most=100)
        served = self.ours.get(0, {})
        if "http.recall.wall_ms" in served:
            both = served["http.remember.wall_ms"] + served["http.recall.wall_ms"]
            yield Goal(f"store and search over HTTP, {PROMISED:,} memories, ms", both, at_most=500)
            searched = served["http.recall.wall_ms"]
            yield Goal(f"search {PROMISED:,} memories over HTTP, ms", searched, at_most=100)

    def _own_goals(self) -> Iterator[Goal]:
        for size in self.sizes:
            figures = self.ours[size]
            at = f"{size:,} memories"
            if size in _RECALL:
                yield Goal(f"recall, {at}, CPU ms", figures["recall.cpu_ms"], at_most=_RECALL[size])
            most = 2.0 if size <= _EXACT_TO else 0.3
            yield Goal(f"vectors against a bare product, {at}", figures["vectors.ratio"], at_most=most)
            yield Goal(f"remember against a bare insert, {at}", figures["remember.ratio"], at_most=2)
            if "recall.among_others.ratio" in figures:
                says = f"recall among {self.spaces:,} other spaces against alone, {at}"
                yield Goal(says, figures["recall.among_others.ratio"], at_most=1.1)
            allowed = _BASE_MEMORY + max(size - _EXACT_TO, 0) * _MEMORY_EACH / 2**20
            yield Goal(f"memory, {at}, MB", figures["memory_mb"], at_most=allowed)
        if share := self.ours.get(0, {}).get("bulk.share"):
            yield Goal("bulk import against the embedder alone", share, at_least=0.8)

    def _growth(self) -> Iterator[Goal]:
        small, large = self.ours.get(10_000), self.ours.get(1_000_000)
        if small and large:
            growth = large["recall.cpu_ms"] / small["recall.cpu_ms"]
            yield Goal("recall, 1,000,000 against 10,000 memories", growth, at_most=20)

    def _beside_rivals(self) -> Iterator[Goal]:
        for rival, by_size in self.rivals.items():
            for size, theirs in sorted(by_size.items()):
                ours = self.ours[size]
                for verb, says, most in (
                    ("recall", "recall", 1.0),
                    ("recall.filtered", "filtered recall", 1.0),
                    ("remember.with_vector", "adding one", 0.1),
                ):
                    share = ours[f"{verb}.wall_ms"] / theirs[f"{verb}.wall_ms"]
                    yield Goal(f"{says} against {rival}, {size:,} memories", share, at_most=most)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def rounded(value: float) -> float:
    """Three figures that mean something."""
    return float(f"{value:.3g}") if abs(value) < 1000 else round(value)


def _flat(by_size: Mapping[int, Mapping[str, float]]) -> Iterator[tuple[str, float, int]]:
    for size, figures in sorted(by_size.items()):
        for name, value in figures.items():
            yield name, value, size


def _name(name: str, size: int) -> str:
    return f"{name}@{size}" if size else name
