"""Prometheus metrics: requests, jobs, sums. No names and no texts."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from starlette.responses import Response

from holdfast import __version__
from holdfast.domain.access import METRICS_EVERYWHERE, Grant
from holdfast.domain.health import ReplicaState
from holdfast.domain.spend import MICRO
from holdfast.engine.stats import Figures
from holdfast.errors import Unavailable
from holdfast.web.service.logs import RequestFacts

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FRESH = 10.0  # seconds for which figures of the database are cached
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Ask = Callable[[], Figures]


class Metrics:
    """The figures of one application."""

    def __init__(self, ask: Ask) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "holdfast_requests",
            "Requests by response status",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "holdfast_request_seconds",
            "Request duration",
            ["route"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        ProcessCollector(registry=self._registry)
        self._registry.register(_Stored(ask))

    def seen(self, seen: RequestFacts) -> None:
        """A watcher that counts."""
        self._requests.labels(seen.method, seen.route, str(seen.status)).inc()
        self._seconds.labels(seen.route).observe(seen.seconds)

    def text(self) -> bytes:
        """All figures, as Prometheus reads them."""
        return generate_latest(self._registry)


router = APIRouter()


@router.get("/metrics", include_in_schema=False)
def read(request: Request) -> Response:
    """The figures of the application that is asked (`request.state.metrics`)."""
    grant: Grant = request.state.grant
    grant.require("metrics", everywhere=METRICS_EVERYWHERE)
    metrics: Metrics = request.state.metrics
    return Response(metrics.text(), media_type=MEDIA_TYPE)


class _Stored:
    """Figures of the database, read when scraped."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._asking = threading.Lock()
        self._known: tuple[float, Figures | None] | None = None

    def describe(self) -> list[Metric]:
        return []  # so that registration reads nothing

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("holdfast", "Holdfast version", {"version": __version__})
        found = self._figures()
        yield _gauge("store_up", "1 if the database is reachable", {(): 0 if found is None else 1})
        if found is not None:
            yield from _families(found)

    def _figures(self) -> Figures | None:
        with self._asking:
            now = time.monotonic()
            if self._known is None or now - self._known[0] >= FRESH:
                try:
                    self._known = (now, self._ask())
                except Unavailable:
                    self._known = (now, None)
            return self._known[1]


def _families(found: Figures) -> Iterator[Metric]:
    yield _gauge("spaces", "Spaces", {(): found.spaces})
    yield _gauge("sessions", "Sessions, in all spaces", {(): found.sessions})
    yield _gauge("messages", "Messages, in all spaces", {(): found.messages})
    waiting = "Memory changes and messages waiting to be embedded"
    yield _gauge("embedding_backlog", waiting, {(): found.not_embedded})
    if found.copy_followed is not None:
        following = "1 if the continuous copy of the database is being followed"
        yield _gauge("copy_followed", following, {(): found.copy_followed})
    states = {(state,): count for state, count in found.memories.items()}
    yield _gauge("memories", "Memories, in all spaces", states, "state")
    yield _gauge("jobs", "Unfinished jobs", found.jobs, "kind", "state")
    waits = {(kind,): wait.total_seconds() for kind, wait in found.longest_wait.items()}
    yield _gauge("job_wait_seconds", "Age of the oldest due job", waits, "kind")
    spend = found.spend.items()
    yield _gauge("model_calls", "Model calls", {(model,): spent.calls for model, spent in spend}, "model")
    money = {(model,): spent.micro_dollars / MICRO for model, spent in spend}
    yield _gauge("spend_dollars", "Model cost, where the price is known", money, "model")
    tokens = {
        (model, kind): getattr(spent.usage, kind)
        for model, spent in spend
        for kind in ("input", "output", "cached")
    }
    yield _gauge("model_tokens", "Model tokens", tokens, "model", "kind")
    if found.replica is not None:
        yield from _of_replica(found.replica)


def _of_replica(replica: ReplicaState) -> Iterator[Metric]:
    up = "1 if the read replica can be used"
    yield _gauge("replica_up", up, {(): 0 if replica.trouble is not None else 1})
    if replica.trouble is None:
        lag = "Time since the last commit that the read replica shows, if it lacks any"
        yield _gauge("replica_lag_seconds", lag, {(): replica.seconds_behind})
        yield _gauge("replica_lag_bytes", "Log that the read replica lacks", {(): replica.bytes_behind})
    reads = {(server,): count for server, count in replica.reads.items()}
    yield _gauge("replica_reads", "Reads meant for the replica, by who answered", reads, "server")


def _gauge(name: str, says: str, values: Mapping[Any, float], *labels: str) -> Metric:
    """A figure for each combination of the labels' values."""
    found = GaugeMetricFamily(f"holdfast_{name}", says, labels=labels)
    for named, value in sorted(values.items()):
        found.add_metric(named, value)
    return found
