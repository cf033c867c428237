"""Asking a server: deadlines, second tries, sizes, redirects, keys and proxies."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from holdfast.models import http_json
from holdfast.models.http_json import Server, ServerRefusal, is_here
from tests.loopback import Answer
from tests.models.stand_in import Asked, StandIn, as_json

BODY = {"input": ["x"]}


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with StandIn().running() as server:
        yield server


def in_turn(*answers: Answer) -> object:
    left = iter(answers)
    return lambda _: next(left)


def test_the_answer_is_read_as_json(stand_in: StandIn) -> None:
    stand_in.play = lambda _: as_json({"ä": [1]})

    assert Server(stand_in.url).post("/path", BODY, within=5) == {"ä": [1]}
    assert stand_in.asked[0].path == "/path"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_is_asked_again_once(stand_in: StandIn, status: int) -> None:
    stand_in.play = in_turn(Answer(b"", status), as_json("good"))  # type: ignore[assignment]

    assert Server(stand_in.url).post("/", BODY, within=5) == "good"
    assert len(stand_in.asked) == 2


def test_a_second_refusal_is_the_last(stand_in: StandIn) -> None:
    stand_in.play = lambda _: Answer(b"", 503)

    with pytest.raises(ServerRefusal, match="answered 503"):
        Server(stand_in.url).post("/", BODY, within=5)

    assert len(stand_in.asked) == 2


def test_a_server_says_itself_when_it_may_be_asked_again(stand_in: StandIn) -> None:
    stand_in.play = in_turn(Answer(b"", 429, {"Retry-After": "1"}), as_json("good"))  # type: ignore[assignment]

    assert Server(stand_in.url).post("/", BODY, within=30) == "good"
    assert len(stand_in.asked) == 2


@pytest.mark.parametrize("wait", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_nobody_waits_beyond_the_deadline_for_a_busy_server(stand_in: StandIn, wait: str) -> None:
    stand_in.play = lambda _: Answer(b"", 429, {"Retry-After": wait})

    with pytest.raises(ServerRefusal) as refused:
        Server(stand_in.url).post("/", BODY, within=30)

    assert len(stand_in.asked) == 1
    assert (refused.value.wait or 0) >= 3600


@pytest.mark.parametrize("status", [400, 401, 404, 413])
def test_what_will_not_pass_is_not_asked_again(stand_in: StandIn, status: int) -> None:
    stand_in.play = lambda _: Answer(b"no", status)

    with pytest.raises(ServerRefusal, match=f"answered {status}"):
        Server(stand_in.url).post("/", BODY, within=5)

    assert len(stand_in.asked) == 1


def test_a_silent_server_is_left_at_the_deadline(stand_in: StandIn) -> None:
    stand_in.play = lambda _: Answer(None)

    with pytest.raises(ServerRefusal, match=r"did not answer within 0\.2 s"):
        Server(stand_in.url).post("/", BODY, within=0.2)


def test_a_server_that_sends_a_byte_now_and_then_does_not_move_the_deadline() -> None:
    """Each byte starts a socket's time-out anew, so that it alone would never end this."""
    stop = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not stop.wait(0.02):
                try:
                    connection.sendall(b"z")
                except OSError:
                    return

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(ServerRefusal, match="did not answer within"):
            Server(f"http://127.0.0.1:{listener.getsockname()[1]}").post("/", BODY, within=0.3)
    finally:
        stop.set()
        thread.join()
        listener.close()


def test_nobody_listening_is_said_plainly() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(ServerRefusal, match="is unreachable: connection refused"):
        Server(f"http://127.0.0.1:{port}").post("/", BODY, within=5)


def test_an_endless_answer_is_cut(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_json, "LARGEST", 1024)
    stand_in.play = lambda _: as_json("x" * 2000)

    with pytest.raises(ServerRefusal, match="returned more than"):
        Server(stand_in.url).post("/", BODY, within=5)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(stand_in: StandIn, status: int) -> None:
    with StandIn().running() as other:
        stand_in.play = lambda _: Answer(b"", status, {"Location": f"{other.url}/elsewhere"})

        with pytest.raises(ServerRefusal, match=f"redirects to {other.url}/elsewhere"):
            Server(stand_in.url, "secret").post("/", BODY, within=5)

        assert other.asked == []


def test_the_key_is_shown_to_the_server_and_to_nobody_else(stand_in: StandIn) -> None:
    server = Server(stand_in.url, "sk-very-secret")
    stand_in.play = lambda asked: Answer(f"bad key {asked.headers['Authorization']}".encode(), 401)

    with pytest.raises(ServerRefusal) as refused:
        server.post("/", BODY, within=5)

    assert stand_in.asked[0].headers["Authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in f"{refused.value} {server!r}"
    assert "Bearer ***" in str(refused.value)


def test_without_a_key_none_is_shown(stand_in: StandIn) -> None:
    stand_in.play = lambda _: as_json(1)

    Server(stand_in.url).post("/", BODY, within=5)

    assert "Authorization" not in stand_in.asked[0].headers


def test_a_proxy_is_not_asked_for_addresses_of_this_machine(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StandIn(lambda _: as_json("from the proxy")).running() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        stand_in.play = lambda _: as_json("from the server")

        assert Server(stand_in.url).post("/", BODY, within=5) == "from the server"
        assert Server("http://server.invalid").post("/", BODY, within=5) == "from the proxy"


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost:11434", True),
        ("http://ollama.localhost", True),
        ("http://10.0.0.7", False),
        ("https://localhost.example.org", False),
    ],
)
def test_which_addresses_are_of_this_machine(url: str, here: bool) -> None:
    assert is_here(url) is here


def test_a_servers_words_are_told_on_one_short_line(stand_in: StandIn) -> None:
    stand_in.play = lambda _: Answer(b"one\ntwo\x1b[31m \xff" + b"x" * 9_000, 400)

    with pytest.raises(ServerRefusal) as refused:
        Server(stand_in.url).post("/", BODY, within=5)

    said = str(refused.value)
    assert said.isprintable()
    assert len(said) < 300


def test_any_answer_shows_that_somebody_is_there(stand_in: StandIn) -> None:
    Server(stand_in.url).probe("/", within=5)

    assert stand_in.probed == ["/"]


def test_silence_and_refused_connections_show_that_nobody_is() -> None:
    with StandIn().running() as server:
        server.hangs = True
        with pytest.raises(ServerRefusal, match="did not answer within"):
            Server(server.url).probe("/", within=0.2)

    with pytest.raises(ServerRefusal, match="connection refused"):
        Server(server.url).probe("/", within=5)


def test_asked_keeps_what_was_sent(stand_in: StandIn) -> None:
    stand_in.play = lambda _: as_json(1)

    Server(stand_in.url).post("/", {"input": ["Grüße", "\ud800"]}, within=5)

    assert stand_in.asked == [Asked("/", stand_in.asked[0].headers, ["Grüße", "\ud800"])]
