"""What goes wrong between a client and its model: told as it is, and nothing is left hanging."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.agents.proxy.conftest import Claude, Client, Gpt, Running, both_clients, user
from tests.agents.proxy.upstream import PATIENCE, Upstream, breaks_off, fails, hangs_up, pours, says, waits
from tests.requirements_ledger import requirement

STATUS_ERRORS = (anthropic.APIStatusError, openai.APIStatusError)
CONNECTION_ERRORS = (anthropic.APIConnectionError, openai.APIConnectionError, httpx2.RemoteProtocolError)
NO_CONVERSATIONS = [
    b"",
    b"not json",
    b"\xff\xfe\x00",
    b"[1, 2]",
    b'{"messages": "hello"}',
    b'{"messages": [1, null]}',
    b'{"messages": [{"role": "user", "content": 5}, {"role": "user"}]}',
    b'{"messages": [{"role": "user", "content": [null, {"type": "text"}, {"type": "text", "text": 1}]}]}',
    b'{"messages": [{"role": "user", "content": "Good morning"}], "x": NaN}',
    b'{"messages": [{"role": "user", "content": "Good morning"}], "x": 1e999}',
    b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
]
ROUTE = {Claude: "anthropic/v1/messages", Gpt: "openai/v1/chat/completions"}


@pytest.fixture
def service(service_on_file: Running) -> Running:
    return service_on_file


def post(service: Running, kind: type[Client], content: bytes, **headers: str) -> httpx2.Response:
    """A request as no client would make it."""
    url = f"{service.url}/proxy/{service.token}/{ROUTE[kind]}"
    return httpx2.post(
        url, content=content, headers={"content-type": "application/json", **headers}, timeout=60
    )


def body(**more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [user("Good morning")], **more}


def refused(client: Client) -> httpx2.Response:
    """The answer that the client's own package takes for an error."""
    with pytest.raises(STATUS_ERRORS) as told:
        client.say([user("Good morning")])
    error: Any = told.value
    answer: httpx2.Response = error.response
    return answer


@requirement("sem.inject.proxy")
@both_clients
def test_an_error_of_the_upstream_passes_with_its_status_and_words(
    service: Running, upstream: Upstream, kind: type[Client]
) -> None:
    said = b'{"type":"error",  "error": {"type":"odd_error","message":"as it was said"}}'
    client = kind(service)
    for status in (400, 401, 429, 500, 529):
        upstream.say(fails(status, said, retry_after="7"))

        told = refused(client)

        assert (told.status_code, told.content, told.headers["retry-after"]) == (status, said, "7")


@both_clients
def test_an_upstream_that_is_not_there_is_told_in_the_apis_own_form(
    service: Running, upstream: Upstream, kind: type[Client]
) -> None:
    upstream.close()

    told = refused(kind(service))

    assert told.status_code == 502
    assert "is unreachable" in told.text
    assert "error" in told.json()
    assert service.token not in told.text


@both_clients
def test_an_upstream_that_hangs_up_without_a_word(
    service: Running, upstream: Upstream, kind: type[Client]
) -> None:
    upstream.say(hangs_up)

    assert refused(kind(service)).status_code == 502


@both_clients
def test_an_answer_that_breaks_off_is_seen_to_break_off_and_is_not_kept(
    service: Running, upstream: Upstream, kind: type[Client]
) -> None:
    upstream.say(breaks_off("This will never be said to its end", after=5))

    with pytest.raises(CONNECTION_ERRORS):
        kind(service, stream=True).say([user("Good morning")])
    again = kind(service, stream=True).say([user("Good morning")])
    service.stop()

    assert again == "Done."
    assert service.said() == [("user", "Good morning"), ("assistant", "Done.")]


@both_clients
def test_a_slow_upstream_is_waited_for(service: Running, upstream: Upstream, kind: type[Client]) -> None:
    upstream.say(waits)
    told: list[str] = []
    asking = threading.Thread(target=lambda: told.append(kind(service).say([user("Good morning")])))

    asking.start()
    assert upstream.asked.acquire(timeout=PATIENCE)
    upstream.gate.set()
    asking.join(PATIENCE)

    assert told == ["At last."]


@requirement("sem.inject.proxy")
@pytest.mark.parametrize("script", [waits, pours], ids=["before an answer", "in the middle of one"])
def test_a_client_that_hangs_up_ends_the_request_to_the_upstream(
    service: Running, upstream: Upstream, script: Any
) -> None:
    upstream.say(script)
    host, port = service.url.removeprefix("http://").split(":")
    content = json.dumps(body(stream=script is pours)).encode()
    head = (
        f"POST /proxy/{service.token}/anthropic/v1/messages HTTP/1.1\r\nhost: {host}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    )

    client = socket.create_connection((host, int(port)))
    client.sendall(head.encode() + content)
    assert upstream.asked.acquire(timeout=PATIENCE)
    if script is pours:
        assert client.recv(100)
    client.close()

    assert upstream.gone.wait(PATIENCE)
    assert Claude(service).say([user("Is anybody there?")]) == "Done."


def test_bytes_come_as_the_upstream_sends_them(service: Running, upstream: Upstream) -> None:
    """The first event is there while the model still thinks about the second."""
    first = b'event: message_start\ndata: {"type":"message_start"}\n\n'

    def script(handler: Any, _: Any) -> None:
        handler.begin_events()
        handler.chunk(first)
        assert handler.upstream.gate.wait(PATIENCE)
        handler.chunk(b"event: message_stop\ndata: {}\n\n")
        handler.chunk(b"")

    upstream.say(script)
    url = f"{service.url}/proxy/{service.token}/anthropic/v1/messages"
    with httpx2.stream("POST", url, json=body(stream=True), timeout=60) as answer:
        coming: Iterator[bytes] = answer.iter_raw()
        seen = next(coming)
        upstream.gate.set()
        rest = b"".join(coming)

    assert seen == first
    assert rest == b"event: message_stop\ndata: {}\n\n"


@requirement("sem.inject.proxy")
@both_clients
def test_what_is_no_conversation_goes_on_as_it_came(
    service: Running, upstream: Upstream, kind: type[Client]
) -> None:
    service.memories.remember("Deploys run on Fridays", category="fact")
    for content in NO_CONVERSATIONS:
        upstream.say(fails(400, b"what is this?"))

        answer = post(service, kind, content)

        assert (answer.status_code, answer.content) == (400, b"what is this?")
        assert upstream.requests[-1].raw == content


def test_half_a_character_and_odd_blocks_survive(service: Running, upstream: Upstream) -> None:
    service.memories.remember("Deploys run on Fridays", category="fact")
    content = b'{"max_tokens":9,"messages":[{"role":"user","content":"half \\ud83d of it"}],"n":1.50}'
    upstream.say(fails(400))

    post(service, Claude, content)

    sent = upstream.requests[0].body
    assert sent["messages"][0]["content"] == json.loads(content)["messages"][0]["content"]
    assert "Fridays" in sent["system"][0]["text"]


def test_a_packed_request_is_understood_or_goes_on_as_it_came(service: Running, upstream: Upstream) -> None:
    service.memories.remember("Deploys run on Fridays", category="fact")
    packed = gzip.compress(json.dumps(body()).encode())
    bomb = gzip.compress(b" " * 64 * 1024 * 1024)
    upstream.say(says("One."), fails(400), fails(400))

    post(service, Claude, packed, **{"content-encoding": "gzip"})
    post(service, Claude, b"\x28\xb5\x2f\xfd", **{"content-encoding": "zstd"})
    post(service, Claude, bomb, **{"content-encoding": "gzip"})

    one, two, three = upstream.requests
    assert "Fridays" in one.body["system"][0]["text"]
    assert "content-encoding" not in one.headers
    assert (two.raw, two.headers["content-encoding"]) == (b"\x28\xb5\x2f\xfd", "zstd")
    assert (three.raw, three.headers["content-encoding"]) == (bomb, "gzip")


def test_a_body_beyond_the_limit_is_refused_and_not_forwarded(service: Running, upstream: Upstream) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(33):
            yield b"x" * 1024 * 1024

    url = f"{service.url}/proxy/{service.token}/anthropic/v1/messages"
    told = httpx2.post(url, content=b"x" * (32 * 1024 * 1024 + 1), timeout=60)
    untold = httpx2.post(url, content=endless(), timeout=60)

    assert (told.status_code, untold.status_code) == (413, 413)
    assert upstream.requests == []


@requirement("trust.secrets", "trust.local")
def test_no_token_or_key_is_in_any_log_or_error(
    service: Running, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="holdfast")
    caplog.set_level(logging.INFO)
    upstream.say(breaks_off("x", after=1), hangs_up, fails(500))
    texts = []
    for _ in range(3):
        with pytest.raises(Exception) as told:  # noqa: PT011
            Claude(service, stream=True).say([user("Good morning")])
        texts.append(str(told.value))
    upstream.close()
    texts.append(post(service, Claude, b"{}").text)
    service.stop()

    # The clients run in this process too, and tell whom they ask.
    logged = [record.getMessage() for record in caplog.records if record.name not in ("httpx2", "httpcore2")]
    everything = "\n".join([*logged, *texts])
    assert "the upstream 127.0.0.1 closed the connection" in everything
    assert service.token not in everything
    assert "sk-the-upstreams-own-key" not in everything
    assert "Good morning" not in everything


@requirement("sem.inject.proxy")
def test_many_clients_at_once_each_get_their_own_answer(service: Running, upstream: Upstream) -> None:
    def script(handler: Any, seen: Any) -> None:
        said = seen.body["messages"][-1]["content"]
        text = said if isinstance(said, str) else said[0]["text"]
        says(f"You said {text}")(handler, seen)

    upstream.say(*[script] * 24)
    told: dict[int, str] = {}

    def ask(number: int) -> None:
        client = Claude(service, {"X-Holdfast-Session": f"s{number}"}, stream=number % 2 == 0)
        told[number] = client.say([user(f"number {number}")])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    service.stop()

    assert told == {number: f"You said number {number}" for number in range(24)}
    assert sorted(content or "" for role, content in service.said() if role == "user") == sorted(
        f"number {number}" for number in range(24)
    )
    assert len(service.said()) == 48
