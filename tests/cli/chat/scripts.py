"""Models on loopback that follow a script and check what they are sent: Messages API and chat completions."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.real_agents import scripted_model
from tests.real_agents.scripted_model import Failure, Request, ScriptedModel, Tool

Json = dict[str, Any]
Answer = scripted_model.Answer


@dataclass(frozen=True)
class Step:
    """What the model answers, and what must stand in the last message that it is sent; and in the system."""

    answer: Answer
    sees: tuple[str, ...] = ()
    knows: tuple[str, ...] = ()  # in the system prompt
    not_knows: tuple[str, ...] = ()


@dataclass
class Checking:
    """A script that is followed step by step. What does not fit is told by the model as an error."""

    steps: list[Step]
    wrong: list[str] = field(default_factory=list)
    taken: int = 0

    def next(self, system: str, last: str) -> Answer:
        if self.taken == len(self.steps):
            self.wrong.append(f"one request more than the script has: {last!r}")
            return Failure(message="the script is at its end")
        step = self.steps[self.taken]
        self.taken += 1
        self.wrong += [
            f"step {self.taken}: {text!r} not in {last!r}" for text in step.sees if text not in last
        ]
        self.wrong += [
            f"step {self.taken}: {text!r} not in the prompt" for text in step.knows if text not in system
        ]
        self.wrong += [
            f"step {self.taken}: {text!r} in the prompt" for text in step.not_knows if text in system
        ]
        return step.answer

    def followed(self) -> None:
        """Fails unless the script was followed to its end."""
        assert self.wrong == []
        assert self.taken == len(self.steps)


class CheckingModel(ScriptedModel):
    """The Messages API, by a script that checks."""

    script: Checking

    def answer(self, request: Request) -> Json | Failure:
        last = request.messages[-1][1]
        self.say(self.script.next(request.system, last))
        return super().answer(request)


def messages_model(*steps: Step) -> CheckingModel:
    model = CheckingModel()
    model.script = Checking(list(steps))
    return model


@dataclass
class CompletionsModel:
    """The chat completions API, streamed in small pieces, by a script that checks."""

    script: Checking
    requests: list[Json] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    numbers_every_call_zero: bool = False  # as some servers do
    raw_arguments: str | None = None  # sent in place of any tool's arguments

    def __post_init__(self) -> None:
        handler = type("Bound", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def chunks(self, body: Json) -> Iterator[Json] | Failure:
        self.requests.append(body)
        system = body["messages"][0]["content"]
        told = [m["content"] or "" for m in body["messages"][_last_answer(body["messages"]) :]]
        said = self.script.next(system, "\n".join(told))
        if isinstance(said, Failure):
            return said
        return self._pieces([said] if isinstance(said, str | Tool) else list(said))

    def _pieces(self, parts: Sequence[str | Tool]) -> Iterator[Json]:
        calls = 0
        for part in parts:
            if isinstance(part, str):
                for piece in (part[:3], part[3:]):
                    yield _chunk({"content": piece})
                continue
            place, calls = (0 if self.numbers_every_call_zero else calls), calls + 1
            text = self.raw_arguments or json.dumps(part.input)
            head = {"index": place, "id": f"call_{len(self.requests)}_{calls}", "type": "function"}
            yield _chunk({"tool_calls": [{**head, "function": {"name": part.name, "arguments": ""}}]})
            for piece in (text[:7], text[7:]):
                yield _chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
        yield _chunk({}, finish="tool_calls" if calls else "stop")
        yield {
            **_chunk({}),
            "choices": [],
            "usage": {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99},
        }


class _Handler(BaseHTTPRequestHandler):
    model: ClassVar[CompletionsModel]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test server says nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.model.paths.append(self.path)
        said = self.model.chunks(body)
        self.send_response(said.status if isinstance(said, Failure) else 200)
        self.send_header(
            "content-type", "application/json" if isinstance(said, Failure) else "text/event-stream"
        )
        self.end_headers()
        if isinstance(said, Failure):
            self.wfile.write(json.dumps({"error": {"message": said.message}}).encode())
            return
        for chunk in said:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


def completions_model(*steps: Step, **how: Any) -> CompletionsModel:
    return CompletionsModel(Checking(list(steps)), **how)


def _last_answer(messages: Sequence[Json]) -> int:
    """Where what the model has not seen begins."""
    places = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    return places[-1] + 1 if places else 1


def _chunk(delta: Json, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
