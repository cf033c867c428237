"""Who may use the proxy, and that nothing in a request can send it anywhere but to its upstream."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from holdfast.agents.proxy import CONVERSATIONS, PLAIN
from holdfast.errors import Invalid
from holdfast.settings import UPSTREAMS, Settings
from tests.agents.proxy.conftest import OWN, SPACE, Running, user
from tests.agents.proxy.upstream import PATIENCE, Upstream, fails
from tests.requirements_ledger import requirement
from tests.web.rest.routes import PROXY

ASKED: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [user("Good morning")]}
ROUTES = [
    *(("POST", vendor, path) for vendor, path in CONVERSATIONS.items()),
    *((method, vendor, path) for vendor, paths in PLAIN.items() for method, path in paths),
]

#: Addresses that try to lead elsewhere, or to what an upstream has not for all.
ODD_TARGETS = [
    "{elsewhere}/proxy/{token}/anthropic/v1/messages",
    "/proxy/{token}/anthropic/{elsewhere}/v1/messages",
    "/proxy/{token}/anthropic//{host}/v1/messages",
    "/proxy/{token}/anthropic/v1/messages?url={elsewhere}&base_url={elsewhere}",
    "/proxy/{token}/anthropic/v1/messages#@{host}/",
    "/proxy/{token}/anthropic@{host}/v1/messages",
    "/proxy/{token}/anthropic/v1/../../../{host}/v1/messages",
    "/proxy/{token}/anthropic/v1/models/..%2f..%2fadmin",
    "/proxy/{token}/anthropic/v1/models/../../admin",
    "/proxy/{token}/anthropic/v1/models/%2e%2e/%2e%2e/admin",
    "/proxy/{token}/anthropic/v1/models/@{host}",
    "/proxy/{token}/anthropic/v1/models/http:%2f%2f{host}",
    "/proxy/{token}/anthropic/v1/models/a%0d%0ahost:%20{host}",
    "/proxy/{token}/anthropic/v1/files",
    "/proxy/{token}/anthropic/v1/organizations/x/keys",
    "/proxy/{token}/{host}/v1/messages",
    "/proxy/{token}/openai/v1/../v1/chat/completions/../../admin",
]


@pytest.fixture
def service(service_on_file: Running) -> Running:
    return service_on_file


@pytest.fixture
def elsewhere() -> Iterator[Upstream]:
    """A server that nobody may be sent to."""
    server = Upstream()
    yield server
    server.close()


def ask(service: Running, token: str, method: str, vendor: str, path: str, **more: Any) -> httpx2.Response:
    url = f"{service.url}/proxy/{token}/{vendor}{path.replace('{model:path}', 'a-model')}"
    return httpx2.request(method, url, json=ASKED if method == "POST" else None, timeout=60, **more)


def test_all_routes_of_the_proxy_are_here() -> None:
    shown = {f"/proxy/{{token}}/{vendor}{path}".replace(":path", "") for _, vendor, path in ROUTES}

    assert shown == PROXY


@requirement("trust.local", "trust.spaces")
def test_each_route_answers_holders_of_its_scope_and_nobody_else(
    service: Running, upstream: Upstream
) -> None:
    callers = {
        "hf_" + "x" * 43: 401,
        "nonsense": 401,
        OWN: 403,  # reaches every space, and has no place in an address
        service.tokens["read"]: 403,
        service.tokens["write"]: 403,
        service.tokens["proxy"]: 200,
        service.tokens["admin"]: 200,
    }
    for route in ROUTES:
        for token, status in callers.items():
            answer = ask(service, token, *route)
            assert answer.status_code == status, (route, token[:6], answer.text)
            assert token not in answer.text
    assert len(upstream.requests) == 2 * len(ROUTES)


@requirement("trust.spaces")
def test_a_token_of_the_proxy_opens_nothing_else(service: Running, upstream: Upstream) -> None:
    known = {"Authorization": f"Bearer {service.token}"}

    for path in ("/api/memory/", "/api/recall?query=x", f"/api/sessions?space={SPACE}", "/api/export"):
        assert httpx2.get(f"{service.url}{path}", headers=known, timeout=60).status_code == 403
    assert httpx2.post(
        f"{service.url}/webhook/{service.token}/messages", json={}, timeout=60
    ).status_code in (403, 422)


def test_a_token_that_was_revoked_is_refused_at_once(service: Running, upstream: Upstream) -> None:
    office = service.registry.administration(service.memories._grant)
    [token] = [each for each in office.tokens() if each.scopes == ("proxy",)]
    assert ask(service, service.token, "POST", "anthropic", "/v1/messages").status_code == 200

    office.revoke_token(token.id)

    assert ask(service, service.token, "POST", "anthropic", "/v1/messages").status_code == 401


@requirement("trust.local")
def test_pages_and_other_names_are_refused_here_too(service: Running, upstream: Upstream) -> None:
    route = ("POST", "anthropic", "/v1/messages")

    assert ask(service, service.token, *route, headers={"Origin": "http://evil.example"}).status_code == 403
    assert ask(service, service.token, *route, headers={"Host": "evil.example"}).status_code == 421
    assert upstream.requests == []


@requirement("sem.inject.proxy", "trust.local")
def test_no_address_in_a_request_leads_anywhere_else(
    service: Running, upstream: Upstream, elsewhere: Upstream
) -> None:
    host = elsewhere.url.removeprefix("http://")
    for target in ODD_TARGETS:
        path = target.format(elsewhere=elsewhere.url, host=host, token=service.token)
        for method in ("GET", "POST"):
            _raw(service, method, path, host)

    assert elsewhere.requests == []
    assert len(upstream.requests) == 1  # a query is passed on, and means nothing here
    for seen in upstream.requests:
        assert seen.path.split("?")[0] in ("/v1/messages", "/v1/chat/completions"), seen.path
        assert seen.headers["host"] == upstream.url.removeprefix("http://")


def _raw(service: Running, method: str, target: str, host: str) -> bytes:
    """A request by hand: clients tidy up addresses before they send them."""
    name, port = service.url.removeprefix("http://").split(":")
    content = b'{"messages": [{"role": "user", "content": "hello"}], "base_url": "http://%s"}' % host.encode()
    head = (
        f"{method} {target} HTTP/1.1\r\nhost: {name}:{port}\r\nconnection: close\r\n"
        f"x-forwarded-host: {host}\r\nforwarded: host={host}\r\nx-original-url: http://{host}/\r\n"
        f"x-upstream: http://{host}\r\nx-holdfast-upstream: http://{host}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    )
    answer = b""
    with socket.create_connection((name, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(head.encode() + content)
        while data := connection.recv(65_536):
            answer += data
    return answer


@requirement("sem.inject.proxy")
@pytest.mark.parametrize("status", [301, 307, 308])
def test_where_an_upstream_points_to_is_not_followed(
    service: Running, upstream: Upstream, elsewhere: Upstream, status: int
) -> None:
    upstream.say(fails(status, b"over there", location=f"{elsewhere.url}/v1/messages"))

    answer = ask(service, service.token, "POST", "anthropic", "/v1/messages", follow_redirects=False)

    assert (answer.status_code, answer.content) == (status, b"over there")
    assert elsewhere.requests == []
    assert len(upstream.requests) == 1


def test_an_address_in_a_memory_is_text(service: Running, upstream: Upstream, elsewhere: Upstream) -> None:
    service.memories.remember(f"Good mornings are at {elsewhere.url}/v1/messages", category="fact")

    ask(service, service.token, "POST", "anthropic", "/v1/messages")
    service.stop()

    assert elsewhere.url in upstream.requests[0].raw.decode()
    assert elsewhere.requests == []


@requirement("sem.inject.proxy")
def test_what_else_a_client_asks_for_passes_as_it_is(service: Running, upstream: Upstream) -> None:
    service.memories.remember("Good mornings are quiet", category="fact")
    upstream.say(fails(200, b'{"input_tokens": 7}', access_control_allow_origin="*", x_kept="yes"))

    counted = ask(service, service.token, "POST", "anthropic", "/v1/messages/count_tokens?beta=true")
    model = ask(service, service.token, "GET", "openai", "/v1/models/vendor/a-model:1.5@latest")
    missing = ask(service, service.token, "POST", "anthropic", "/v1/messages/batches")

    assert counted.json() == {"input_tokens": 7}
    assert (counted.headers["x-kept"], "access-control-allow-origin" in counted.headers) == ("yes", False)
    assert model.status_code == 200
    assert missing.status_code == 404
    first, second = upstream.requests
    assert (first.path, first.body) == ("/v1/messages/count_tokens?beta=true", ASKED)
    assert (second.method, second.path) == ("GET", "/v1/models/vendor/a-model:1.5@latest")


def test_the_operator_says_where_an_upstream_is() -> None:
    named = {"HOLDFAST_OPENAI_UPSTREAM": "https://models.example/api/v1/"}

    assert Settings.read({}).upstreams == UPSTREAMS
    assert Settings.read(named).upstreams["openai"] == "https://models.example/api"
    assert Settings.read(named).upstreams["anthropic"] == UPSTREAMS["anthropic"]


@pytest.mark.parametrize(
    "text",
    [
        "models.example",
        "ftp://models.example",
        "https://",
        "https://me:key@models.example",
        "https://models.example?x=1",
        "https://models.example#x",
        "https://models.example:99999",
        "https://[::1",
        "http://a b",
    ],
)
def test_an_upstream_that_can_not_be_one_is_refused_with_its_variable(text: str) -> None:
    with pytest.raises(Invalid, match="HOLDFAST_ANTHROPIC_UPSTREAM") as told:
        Settings.read({"HOLDFAST_ANTHROPIC_UPSTREAM": text})

    assert "key" not in str(told.value)
