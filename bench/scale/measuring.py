"""Measures verbs of the product on servers: what callers wait, and what the processors do for a call.

Callers are threads of this process with the contexts that a service has; no HTTP, and no models: the vectors
of questions and drafts are made from their text in 0.1 ms, nothing is judged or read. What is left is the
engine, the store and the servers.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import cast

import psycopg

from bench.speed.corpus import Corpus, GeneratedEmbedder
from holdfast import Memories
from holdfast.app import wiring
from holdfast.engine.ports import BuiltinModel, Store
from holdfast.language.judge import PairJudge

VERBS = ("recall", "remember", "brief")
ROUNDS = 4  # turns that each server gets within a figure
_SECONDS = 30.0  # after which a slow figure gets by with the turns that it had
_NODES = "SELECT nodename, nodeport FROM pg_dist_node WHERE isactive"
_IS_CLUSTER = "SELECT to_regclass('pg_dist_node') IS NOT NULL"
_PROCESS = "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int"


@dataclass(slots=True)
class Waits:
    """What calls of one kind took on one server."""

    waits: list[float] = field(default_factory=list)  # milliseconds
    seconds: float = 0.0
    service: float = 0.0  # CPU milliseconds of this process
    server: float | None = 0.0  # and of the servers'; none where they are on other machines

    def figures(self) -> dict[str, float]:
        """The same for one call."""
        ordered, calls = sorted(self.waits), len(self.waits)
        found = {
            "p50_ms": ordered[calls // 2],
            "p99_ms": ordered[int(0.99 * (calls - 1))],
            "per_second": calls / self.seconds,
            "service_cpu_ms": self.service / calls,
        }
        return found | ({"server_cpu_ms": self.server / calls} if self.server is not None else {})


class Server:
    """One database as a service has it, and the processes that serve it."""

    def __init__(self, name: str, owner: str, role: str, corpus: Corpus) -> None:
        self.name = name
        self._store: Store = wiring.open_store(role)
        self._corpus = corpus
        self._embedder = GeneratedEmbedder()
        self._processes = _processes(owner)
        self._new = count()
        # One context a space, as a service keeps it.
        self._memories = cache(self._opened)

    def calls(self, verb: str, spaces: Sequence[str], callers: int, amount: int, seed: int) -> Waits:
        """So many calls, each in one of the spaces, by so many callers at once."""
        chance = Random(f"{verb} {callers} {seed}")
        actions = [self._action(verb, chance.choice(spaces), chance) for _ in range(amount)]
        found = Waits()
        with ThreadPoolExecutor(callers) as threads:
            list(threads.map(lambda _: None, range(callers)))  # starts the threads
            cpu, server, began = time.process_time(), self._spent(), time.perf_counter()
            found.waits = list(threads.map(_timed, actions))
            found.seconds = time.perf_counter() - began
            found.service = 1_000 * (time.process_time() - cpu)
        found.server = None if server is None else 1_000 * ((self._spent() or 0.0) - server)
        return found

    def spaces(self) -> set[str]:
        return {space.name for space in self._store.spaces()}

    def close(self) -> None:
        self._store.close()

    def _action(self, verb: str, space: str, chance: Random) -> Callable[[], object]:
        memories, number = self._memories(space), next(self._new)
        if verb == "recall":
            question = self._corpus.question(chance.randrange(1_000_000))
            return lambda: memories.recall(question, limit=5)
        if verb == "remember":
            fact = self._corpus.fact(100_000_000 + number)
            return lambda: memories.remember(fact.content, category=fact.category)
        return memories.speaking_as("assistant", session=f"bench-{os.getpid()}-{number}").brief

    def _opened(self, space: str) -> Memories:
        ctx = wiring.context_for(space, self._store, embedder=self._embedder, waits=False)
        return Memories(replace(ctx, judge=PairJudge(), builtin_model=cast("BuiltinModel", None)))

    def _spent(self) -> float | None:
        """Seconds of CPU of the servers' processes so far."""
        return sum(_cpu_of(process) for process in self._processes) if self._processes else None


def compared(
    servers: Sequence[Server], verb: str, spaces: Sequence[str], callers: int, amount: int
) -> dict[str, dict[str, float]]:
    """The figures of each server, which take turns."""
    found = {server.name: Waits() for server in servers}
    for turn in range(ROUNDS + 1):
        if sum(waits.seconds for waits in found.values()) > _SECONDS:
            break
        for server in servers:
            some = server.calls(verb, spaces, callers, max(amount // ROUNDS, callers), turn)
            if turn:  # the first turn warms up
                one = found[server.name]
                one.waits += some.waits
                one.seconds += some.seconds
                one.service += some.service
                one.server = None if some.server is None else (one.server or 0.0) + some.server
    return {name: waits.figures() for name, waits in found.items()}


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return 1_000 * (time.perf_counter() - began)


def _processes(owner: str) -> list[int]:
    """The first process of each node, if all are on this machine."""
    found = []
    for node in _nodes(owner):
        with psycopg.connect(node) as connection:
            [(process,)] = connection.execute(_PROCESS)
        if not Path(f"/proc/{process}/stat").exists():
            return []
        found.append(process)
    return found


def _nodes(owner: str) -> Iterator[str]:
    with psycopg.connect(owner) as connection:
        [(is_cluster,)] = connection.execute(_IS_CLUSTER)
        rows = connection.execute(_NODES).fetchall() if is_cluster else []
    if not rows:
        yield owner
    for host, port in rows:
        yield psycopg.conninfo.make_conninfo(owner, host=host, port=port)


def _cpu_of(process: int) -> float:
    """Of a server with all that it started: those that ended are counted by it."""
    ticks = sum(_stat(process)[11:15])
    for stat in Path("/proc").glob("[0-9]*/stat"):
        values = _stat(int(stat.parent.name))
        if values and values[1] == process:
            ticks += sum(values[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[int]:
    """The numbers behind the name; none once it has ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return [int(value) if value.lstrip("-").isdigit() else 0 for value in text.rpartition(")")[2].split()]
