"""What a run of the speed benchmark found: every figure by name and size."""

import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.goals import Goal, rounded, rows

PROMISED = 1_000  # memories that are searched within a tenth of a second, over HTTP too


@dataclass(slots=True)
class SpeedReport:
    """Figures by size (0: of no size), ours and those of peers."""

    spaces: int
    ours: dict[int, dict[str, float]] = field(default_factory=dict)
    peers: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)  # peers, and why they were not measured

    @property
    def sizes(self) -> list[int]:
        return sorted(size for size in self.ours if size)

    def metrics(self) -> dict[str, float]:
        """All figures under one name each: `recall.cpu_ms@10000`, `chromadb.recall.wall_ms@10000`."""
        found = {_name(name, size): rounded(value) for name, value, size in _flat(self.ours)}
        for peer, by_size in self.peers.items():
            found |= {f"{peer}.{_name(name, size)}": rounded(value) for name, value, size in _flat(by_size)}
        small, large = (found.get(f"recall.cpu_ms@{size}") for size in (10_000, 1_000_000))
        return found | ({"growth": rounded(large / small)} if small and large else {})

    def as_json(self) -> dict[str, Any]:
        metrics = self.metrics()
        return {
            "bench": "speed",
            "machine": machine(),
            "sizes": self.sizes,
            "other_spaces": self.spaces,
            "versions": self.versions,
            "missing": self.missing,
            "metrics": metrics,
            "goals": [*self._promises(), *rows("speed", metrics)],
        }

    def _promises(self) -> Iterator[dict[str, Any]]:
        for size in self.sizes[:1]:
            figures = self.ours[size]
            searched = figures["recall.wall_ms"]
            both = figures["remember.with_vector.wall_ms"] + searched
            yield _promise(f"store and search, {size:,} memories, ms", both, 500)
            if size == PROMISED:
                yield _promise(f"search {size:,} memories, ms", searched, 100)
        served = self.ours.get(0, {})
        if "http.recall.wall_ms" in served:
            searched = served["http.recall.wall_ms"]
            both = served["http.remember.wall_ms"] + searched
            yield _promise(f"store and search over HTTP, {PROMISED:,} memories, ms", both, 500)
            yield _promise(f"search {PROMISED:,} memories over HTTP, ms", searched, 100)


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


def _promise(says: str, value: float, most: float) -> dict[str, Any]:
    return Goal("speed", says, says, at_most=most).row({says: rounded(value)})


def _flat(by_size: Mapping[int, Mapping[str, float]]) -> Iterator[tuple[str, float, int]]:
    for size, figures in sorted(by_size.items()):
        for name, value in figures.items():
            yield name, value, size


def _name(name: str, size: int) -> str:
    return f"{name}@{size}" if size else name
