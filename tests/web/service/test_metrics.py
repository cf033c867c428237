"""/metrics: figures that Prometheus can read, for who may read them, without a name or a text of anybody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from holdfast.app.wiring import utc_now
from holdfast.domain.jobs import Job
from holdfast.domain.spend import ModelCall, Usage
from holdfast.engine.jobs import LEASE
from holdfast.errors import Unavailable
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served

MARK = "zanzibar-7731"

Labels = tuple[tuple[str, str], ...]


@pytest.fixture
def served(database_url: str) -> Iterator[Served]:
    service = Served(database_url)
    yield service
    service.registry.close()


def figures(served: Served, secret: str | None = None) -> dict[tuple[str, Labels], float]:
    """What is told, by name and labels."""
    caller = served.caller() if secret is None else served.caller(secret)
    answer = caller.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_requests_are_counted_by_the_form_of_their_route(served: Served) -> None:
    client = served.caller()
    client.get("/health")
    client.get(f"/api/memory/{MARK}")
    client.get(f"/nothing/{MARK}")
    client.get("/health", headers={"Host": "evil.example"})

    told = figures(served)

    counted = {labels: value for (name, labels), value in told.items() if name == "holdfast_requests_total"}
    assert counted == {
        (("method", "GET"), ("route", "/health"), ("status", "200")): 1,
        (("method", "GET"), ("route", "/api/memory/{memory_id}"), ("status", "404")): 1,
        (("method", "GET"), ("route", "unmatched"), ("status", "404")): 1,
        (("method", "GET"), ("route", "refused"), ("status", "421")): 1,
    }
    assert told["holdfast_request_seconds_count", (("route", "/health"),)] == 1


@pytest.mark.smoke
def test_what_is_stored_and_what_waits_is_summed_over_all_spaces(served: Served) -> None:
    for name in ("default", served.make(MARK)):
        memories = served.registry.memories(name)
        memories.remember(f"Jellyfin is called {MARK} here")
        memories.remember(f"Bread is baked by {MARK}", doubtful="it seems odd")
        memories.say("chat", "user", f"{MARK} said hello")
        memories.close_session("chat")
        now = utc_now()
        nightly = Job(
            id="nightly",
            kind="nightly",
            payload={"about": MARK},
            state="running",
            attempts=1,
            due_at=now,
            leased_until=now + LEASE,
            created_at=now,
        )
        with memories.store.write(name) as tx:
            tx.jobs.add(nightly)
            tx.spend.add(model_call(f"{name[:4]}-1"))

    told = figures(served)

    assert told["holdfast_spaces", ()] == 2
    assert told["holdfast_memories", (("state", "active"),)] == 2
    assert told["holdfast_memories", (("state", "waiting"),)] == 2
    assert told["holdfast_messages", ()] == 2
    assert told["holdfast_jobs", (("kind", "capture"), ("state", "queued"))] == 2
    assert told["holdfast_jobs", (("kind", "nightly"), ("state", "running"))] == 2
    assert told["holdfast_job_wait_seconds", (("kind", "capture"),)] >= 0
    assert told["holdfast_model_calls", (("model", "small"),)] == 2
    assert told["holdfast_spend_dollars", (("model", "small"),)] == pytest.approx(0.005)
    assert told["holdfast_model_tokens", (("kind", "input"), ("model", "small"))] == 2_000


def model_call(call_id: str) -> ModelCall:
    return ModelCall(
        id=call_id,
        purpose="extract",
        model="small",
        usage=Usage(1_000, 100),
        micro_dollars=2_500,
        outcome="answered",
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


@requirement("trust.spaces")
def test_no_name_and_no_text_stands_in_them(served: Served) -> None:
    memories = served.registry.memories(served.make(MARK, "ops"))
    memories.remember(f"Is called {MARK}", category="timing", subject=MARK)
    memories.open_session(MARK, name=MARK, project=MARK)
    memories.record_event("info", MARK, service=MARK)
    client = served.caller()
    client.get(f"/api/memory/{MARK}", params={"space": MARK})
    client.post(f"/webhook/{MARK}/messages", json={})
    client.request(MARK.upper(), "/health")

    text = served.caller().get("/metrics").text

    assert MARK not in text.lower()


@requirement("trust.spaces")
def test_they_are_for_holders_of_a_token_made_for_them(served: Served) -> None:
    answers = {
        scope: served.caller(served.token(scope)).get("/metrics").status_code
        for scope in ("read", "write", "admin", "metrics")
    }
    bound = served.caller(served.token("admin", spaces=("default",))) if served.registry.memories() else None
    assert bound is not None

    assert answers == {"read": 403, "write": 403, "admin": 200, "metrics": 200}
    assert served.caller(None).get("/metrics").status_code == 401
    assert bound.get("/metrics").status_code == 403
    assert served.caller(served.token("metrics")).get("/api/memory/").status_code == 403


def test_two_services_of_one_process_do_not_count_for_each_other(served: Served) -> None:
    other = Served(served.database)
    other.caller().get("/health")

    told = figures(served)

    other.registry.close()
    assert [labels for (name, labels) in told if name == "holdfast_requests_total"] == []


def test_without_the_database_the_rest_is_still_told(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise Unavailable("the server is away")

    service = Served(served.database)
    monkeypatch.setattr(service.registry, "_store", None)
    monkeypatch.setattr("holdfast.app.space_registry.SpaceRegistry.administration", lambda *_: away())

    told = figures(service)

    assert told["holdfast_store_up", ()] == 0
    assert ("holdfast_spaces", ()) not in told
