"""Over HTTP: tokens expire, are rotated, may make so many requests a minute, and store so much."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from holdfast.app.wiring import open_store
from holdfast.domain.access import Grant
from holdfast.engine.administration import Administration
from holdfast.testing import FixedClock
from holdfast.web.service.token_use import RequestRates
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served


@pytest.fixture
def second(served: Served) -> Iterator[Served]:
    """Another instance of the service on the same database."""
    other = Served(served.database)
    yield other
    other.registry.close()


def expired(served: Served, clock: FixedClock) -> str:
    """A token that was made for a day, long ago."""
    store = open_store(served.database)
    secret = Administration(store, clock=clock).create_token("read", lifetime=timedelta()).secret
    store.close()
    return secret


@requirement("trust.tokens.expire")
@pytest.mark.parametrize(
    "path", ["/api/spaces", "/memories", "/mcp", "/metrics", "/command", "/webhook/TOKEN/messages"]
)
def test_an_expired_token_gets_401_with_the_reason_at_every_instance_and_door(
    served: Served, second: Served, clock: FixedClock, path: str
) -> None:
    secret = expired(served, clock)

    answers = [one.caller(secret).get(path.replace("TOKEN", secret)) for one in (served, second)]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert all("expired on 2026-03-01" in answer.json()["detail"] for answer in answers)
    assert all(answer.headers["www-authenticate"] == "Bearer" for answer in answers)


@requirement("trust.tokens.expire")
def test_an_expired_token_signs_no_browser_in_and_says_why(served: Served, clock: FixedClock) -> None:
    answer = served.caller(None).post(
        "/login", data={"token": expired(served, clock)}, headers={"sec-fetch-site": "same-origin"}
    )

    assert answer.status_code == 403
    assert "expired on 2026-03-01" in answer.text


@requirement("trust.tokens.rotate")
def test_a_rotated_token_works_at_every_instance_and_the_old_secret_for_the_time_of_grace(
    served: Served, second: Served
) -> None:
    made = served.caller().post("/api/tokens", json={"scopes": ["read"], "expires": "90d"}).json()
    path = f"/api/tokens/{made['id']}/rotate"

    first = served.caller().post(path, json={"grace": "1h"}).json()
    later = [served.caller(one["token"]).get("/api/spaces").status_code for one in (made, first)]
    last = second.caller().post(path, json={}).json()

    assert later == [200, 200]
    codes = [served.caller(one["token"]).get("/api/spaces").status_code for one in (made, first, last)]
    assert codes == [401, 401, 200]
    assert "rotated" in served.caller(first["token"]).get("/api/spaces").json()["detail"]
    assert made["expires_at"] < last["expires_at"]
    assert "hash" not in str(served.caller().get("/api/tokens").json())


@requirement("trust.rates")
def test_a_token_over_its_rate_is_told_when_to_come_back_and_others_are_not(
    served: Served, second: Served
) -> None:
    body = {"scopes": ["read"], "max_requests": 2}
    busy, other = (served.caller().post("/api/tokens", json=body).json() for _ in range(2))
    caller = served.caller(busy["token"])

    codes = [caller.get("/api/spaces").status_code for _ in range(3)]
    refused = caller.get("/memories")

    assert codes == [200, 200, 429]
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert "this token may make 2 a minute" in refused.json()["detail"]
    assert served.caller(other["token"]).get("/api/spaces").status_code == 200
    assert second.caller(busy["token"]).get("/api/spaces").status_code == 200
    served.caller().patch(f"/api/tokens/{busy['id']}", json={"max_requests": None})
    assert caller.get("/api/spaces").status_code == 200


@requirement("trust.tokens.bounded")
def test_an_admin_token_makes_no_token_that_may_do_more_or_works_longer(served: Served) -> None:
    limits = {"expires": "30d", "max_requests": 60, "max_memories": 5}
    own = served.caller().post("/api/tokens", json={"scopes": ["admin"], **limits}).json()
    free = served.caller().post("/api/tokens", json={"scopes": ["read"], "expires": "never"}).json()
    caller = served.caller(own["token"])

    usual = caller.post("/api/tokens", json={"scopes": ["admin"]}).json()
    refused = [
        caller.post("/api/tokens", json={"scopes": ["read"], "expires": "31d"}),
        caller.post("/api/tokens", json={"scopes": ["read"], "max_memories": 6}),
        caller.patch(f"/api/tokens/{own['id']}", json={"max_requests": None}),
        caller.post(f"/api/tokens/{own['id']}/rotate", json={"expires": "never"}),
        caller.post(f"/api/tokens/{free['id']}/rotate", json={}),
    ]

    assert usual["expires_at"] == own["expires_at"]
    assert (usual["max_requests"], usual["max_memories"], usual["max_bytes"]) == (60, 5, None)
    assert [answer.status_code for answer in refused] == [403] * 5
    assert "your own token expires on" in refused[0].json()["detail"]
    assert refused[1].json()["detail"] == "max_memories can't be 6: your own token is limited to 5"
    assert served.caller(free["token"]).get("/api/spaces").status_code == 200
    assert caller.post(f"/api/tokens/{own['id']}/rotate", json={}).json()["expires_at"] == own["expires_at"]


def test_requests_come_back_one_by_one() -> None:
    now = [0.0]
    rates = RequestRates(lambda: now[0])
    grant = Grant(Grant.of("read").scopes, token="t", max_requests=60)
    burst = [rates.wait(grant) for _ in range(61)]

    now[0] = 2.5

    assert burst == [0] * 60 + [1]
    assert [rates.wait(grant) for _ in range(3)] == [0, 0, 1]
    assert rates.wait(Grant.of("read", token="t")) == 0


@requirement("trust.quotas")
def test_a_full_space_answers_403_with_the_limit_and_the_use(served: Served) -> None:
    served.make("small")
    served.caller().patch("/api/spaces/small", json={"max_memories": 1})
    caller = served.caller(served.token("write", spaces=("small",)))
    first = caller.post("/api/memory/", json={"content": "The sky is green"})

    second = caller.post("/api/memory/", json={"content": "The build takes nine minutes"})

    assert (first.status_code, second.status_code) == (201, 403)
    assert "the quota of space 'small' is 1 memories: 1 are in use" in second.json()["detail"]
    shown = served.caller().get("/api/spaces/small").json()
    assert (shown["max_memories"], shown["stored"]["memories"]) == (1, 1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expires": "soon"}, "expires"),
        ({"expires": "0h"}, "expires"),
        ({"max_requests": 0}, "max_requests"),
        ({"max_memories": -1}, "max_memories"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(served: Served, body: dict[str, object], field: str) -> None:
    answer = served.caller().post("/api/tokens", json={"scopes": ["read"], **body})

    assert answer.status_code == 422
    assert field in str(answer.json())
