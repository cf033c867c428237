"""A server on this machine that speaks the Messages and the chat completions API, well or badly.

What it answers is decided by a function of what it was asked; unlike the agents' scripted model it answers
requests for objects, and can break every rule of HTTP while doing so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.loopback import Answer, Loopback

Json = dict[str, Any]
USAGE = (1_000, 400, 50)  # tokens of an answer: read, of them from a cache, written


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, whichever API it came by."""

    path: str
    headers: dict[str, str]
    body: Json

    @property
    def is_messages(self) -> bool:
        return self.path.endswith("/v1/messages")

    @property
    def system(self) -> str:
        if self.is_messages:
            return str(self.body["system"][0]["text"])
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def schema(self) -> Json:
        if self.is_messages:
            found: Json = self.body["output_config"]["format"]["schema"]
        else:
            found = self.body["response_format"]["json_schema"]["schema"]
        return found

    @property
    def purpose(self) -> str:
        wanted = self.schema["required"]
        return {"keep": "gate", "facts": "extract", "relation": "judge"}[wanted[0]]

    def lines(self, title: str) -> list[Json]:
        """The objects below a heading of the question."""
        part = self.user.split(title, 1)[1].strip().split("\n\n")[0]
        return [json.loads(line) for line in part.splitlines() if line.startswith("{")]


Play = Callable[[Asked], Answer]


def said(
    asked: Asked, text: str, *, stop: str = "", usage: Any = USAGE, refusal: str | None = None
) -> Answer:
    """An answer of the model that consists of `text`, in the form of the API that it was asked by."""
    return as_json(message(asked, text, stop=stop, usage=usage, refusal=refusal))


def message(
    asked: Asked, text: str, *, stop: str = "", usage: Any = USAGE, refusal: str | None = None
) -> Json:
    if asked.is_messages:
        counts = usage
        if isinstance(usage, tuple):
            read, cached, written = usage
            counts = {
                "input_tokens": read - cached,
                "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": written,
            }
        reason = "refusal" if refusal else {"length": "max_tokens"}.get(stop, stop or "end_turn")
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": asked.body["model"],
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": reason,
            "stop_sequence": None,
            **({"usage": counts} if counts is not None else {}),
        }
    counts = usage
    if isinstance(usage, tuple):
        read, cached, written = usage
        counts = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
    choice = {
        "index": 0,
        "finish_reason": stop or "stop",
        "message": {"role": "assistant", "content": text or None, "refusal": refusal},
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked.body["model"],
        "choices": [choice],
        **({"usage": counts} if counts is not None else {}),
    }


def as_json(body: object, **more: Any) -> Answer:
    return Answer(json.dumps(body).encode(), headers={"Content-Type": "application/json"}, **more)


def well(facts: Callable[[Asked], list[Json]], relation: str = "different") -> Play:
    """A model that lets everything pass and finds `facts`."""

    def play(asked: Asked) -> Answer:
        match asked.purpose:
            case "gate":
                return said(asked, json.dumps({"keep": True, "reason": "it states how something is"}))
            case "extract":
                return said(asked, json.dumps({"facts": facts(asked)}))
            case _:
                return said(asked, json.dumps({"relation": relation}))

    return play


def fact(text: str, **more: Any) -> Json:
    usual = {
        "category": "fact",
        "subject": "",
        "importance": 3,
        "tags": [],
        "message": 1,
        "relation": "new",
        "of": 0,
    }
    return {"text": text, **usual, **more}


class Scripted(Loopback):
    """Answers by `play`, which may be changed at any time, and keeps what it was asked."""

    def __init__(self, play: Play) -> None:
        super().__init__()
        self.play = play
        self.asked: list[Asked] = []

    def spec(self, vendor: str, model: str) -> str:
        """How a model behind this server is named in settings."""
        return f"{vendor}:{model}@{self.url}" + ("/v1" if vendor == "openai" else "")

    def sent(self, path: str, headers: dict[str, str], body: Json) -> Answer:
        asked = Asked(path.partition("?")[0], headers, body)
        self.asked.append(asked)
        return self.play(asked)
