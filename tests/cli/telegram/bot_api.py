"""A loopback stand-in for Telegram's Bot API: delivers updates as a test says, keeps what the bot calls."""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

Json = dict[str, Any]

TOKEN = "4242:Secret-token_of-the-bot"
NAME = "memory_test_bot"
ALICE = 700_001  # whom the bot is to answer
_PATIENCE = 60.0  # seconds until a test gives up


@dataclass(frozen=True, slots=True)
class Fault:
    """What a call is answered with in place of a result; status 0 cuts the connection."""

    status: int = 0
    body: Json | str | None = None


class BotApi:
    """The server."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Json]] = []  # method and parameters, getUpdates left out
        self.faults: defaultdict[str, deque[Fault]] = defaultdict(deque)  # by method
        self.polls = 0
        self._updates: list[Json] = []
        self._confirmed = 0  # every update before it was handled
        self._numbers = count(1)
        self._changed = threading.Condition()
        self._closed = False
        handler = type("Bound", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def sent(self) -> list[Json]:
        return [parameters for method, parameters in self.calls if method == "sendMessage"]

    @property
    def texts(self) -> list[str]:
        return [each["text"] for each in self.sent]

    def deliver(self, *updates: Json) -> None:
        """Hands updates to the bot and waits until it has handled all of them."""
        with self._changed:
            for update in updates:
                self._updates.append({"update_id": next(self._numbers), **update})
            last = self._updates[-1]["update_id"]
            self._changed.notify_all()
            done = self._changed.wait_for(lambda: self._confirmed > last, _PATIENCE)
        assert done, "the bot did not come back for more"

    def types(self, text: str, sender: int = ALICE) -> list[str]:
        """A person types a text; the texts that the bot answers."""
        before = len(self.texts)
        self.deliver(typed(text, sender))
        return self.texts[before:]

    def wait_for_polls(self, number: int) -> None:
        """Waits until the bot has asked for updates so often."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.polls >= number, _PATIENCE)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, parameters: Json) -> Fault | Any:
        with self._changed:
            if method == "getUpdates":
                self.polls += 1
                self._changed.notify_all()
            if self.faults[method]:
                return self.faults[method].popleft()
            if method == "getUpdates":
                return self._since(int(parameters["offset"]), int(parameters["timeout"]))
            self.calls.append((method, parameters))
            number = next(self._numbers)
        match method:
            case "getMe":
                return {"id": 4242, "is_bot": True, "first_name": "Memory", "username": NAME}
            case "sendMessage":
                return {
                    "message_id": number,
                    "date": 1_790_000_000,
                    "chat": {"id": int(parameters["chat_id"]), "type": "private"},
                    "text": parameters["text"],
                }
            case _:
                return True

    def _since(self, offset: int, wait: int) -> list[Json]:
        self._confirmed = max(self._confirmed, offset)
        self._updates = [each for each in self._updates if each["update_id"] >= offset]
        self._changed.notify_all()
        self._changed.wait_for(lambda: self._closed or bool(self._updates), wait)
        return list(self._updates)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: ClassVar[BotApi]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test server says nothing."""

    def do_POST(self) -> None:
        place = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        parameters = dict(parse_qsl(place.query, keep_blank_values=True))
        parameters |= dict(parse_qsl(raw, keep_blank_values=True))
        root, _, method = place.path.rpartition("/")
        if root != f"/bot{TOKEN}":
            return self._send(401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
        result = self.api.answer(method, parameters)
        if not isinstance(result, Fault):
            return self._send(200, {"ok": True, "result": result})
        if result.status == 0:
            self.close_connection = True
            self.connection.close()
            return None
        return self._send(result.status, result.body)

    def _send(self, status: int, body: Json | str | None) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        try:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:  # the bot has gone while it was kept waiting
            self.close_connection = True


def typed(text: str, sender: int = ALICE, /, **more: Any) -> Json:
    """An update: a person wrote to the bot in their private chat."""
    message: Json = {
        "message_id": 77,
        "date": 1_790_000_000,
        "from": {"id": sender, "is_bot": False, "first_name": "Somebody"},
        "chat": {"id": sender, "type": "private", "first_name": "Somebody"},
        "text": text,
    }
    if text.startswith("/"):
        length = len(text.split(maxsplit=1)[0])
        message["entities"] = [{"type": "bot_command", "offset": 0, "length": length}]
    return {"message": {**message, **more}}


def pressed(data: str, sender: int = ALICE, /, **more: Any) -> Json:
    """An update: a person pressed a button under a message of the bot."""
    query: Json = {
        "id": "991",
        "from": {"id": sender, "is_bot": False, "first_name": "Somebody"},
        "chat_instance": "5",
        "data": data,
        "message": {
            "message_id": 78,
            "date": 1_790_000_000,
            "from": {"id": 4242, "is_bot": True, "first_name": "Memory"},
            "chat": {"id": sender, "type": "private", "first_name": "Somebody"},
            "text": "Shall it be kept?",
        },
    }
    return {"callback_query": {**query, **more}}
