"""Generated output of Claude Code: markers everywhere, of which only the assistant's own are to be kept.

Every marker has a text of its own, so that what was stored tells where it came from.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from holdfast.domain.markers import written

CATEGORIES = ("timing", "dependency", "behavior", "remediation", "maintenance")
SERVICES = (None, "jellyfin", "caddy", "post-gres_2")
Json = dict[str, Any]


@dataclass
class Transcript:
    """Lines of output, the memories that are to be kept, and those that are to wait in the inbox."""

    lines: list[bytes] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    planted: set[str] = field(default_factory=set)  # everywhere else


def generated(seed: int) -> Transcript:
    """The same transcript for the same number."""
    return _Writer(random.Random(seed)).transcript


class _Writer:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.transcript = Transcript()
        self.bulk = chance.random() < 0.01  # some have very long lines
        self._write(
            {"type": "system", "subtype": "init", "session_id": "s", "tools": [self.marker("planted")]}
        )
        for _ in range(chance.randint(3, 12)):
            chance.choice(self.turns)()
        self._write(
            {"type": "result", "subtype": "success", "result": self.marker("planted"), "num_turns": 1}
        )

    @property
    def turns(self) -> list[Any]:
        return [
            self.says,
            self.says,
            self.quotes,
            self.thinks,
            self.is_asked,
            self.uses_a_tool,
            self.repeats_a_tool,
            self.hears_a_helper,
            self.streams_pieces,
            self.hears_a_hook,
            self.fails,
            self.babbles,
        ]

    # -------------------------------------------------------------------------- what may become a memory

    def says(self) -> None:
        lead = self.chance.choice(["", "- ", "**Note** ", "1. ", "Done. "])
        lines = [lead + self.marker("kept") for _ in range(self.chance.randint(1, 3))]
        self.assistant(self.chance.choice(["\n", "\r\n", "\n\n"]).join(lines))

    def repeats_a_tool(self) -> None:
        text = self.marker("waiting")
        self.tool_result(self.chance.choice(["{}", '{{"stdout": "{}"}}', "<td>{}</td>"]).format(text))
        self.assistant(f"I found this: {text}")

    # ------------------------------------------------------------------------------ what may never become one

    def quotes(self) -> None:
        text = self.marker("planted")
        form = self.chance.choice(["`{}`", "```\n{}\n```", "> {}", '"{}"', "~~~\n{}", "<pre>{}</pre>"])
        self.assistant(f"It is written so:\n\n{form.format(text)}")

    def thinks(self) -> None:
        self._assistant([{"type": "thinking", "thinking": self.marker("planted"), "signature": "x"}])

    def is_asked(self) -> None:
        text = self.marker("planted")
        content: object = text if self.chance.random() < 0.5 else [{"type": "text", "text": text}]
        self._write({"type": "user", "message": {"role": "user", "content": content}, "isReplay": True})

    def uses_a_tool(self) -> None:
        call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": self.marker("planted")}}
        self._assistant([call])
        self.tool_result(self.marker("planted"))

    def tool_result(self, text: str) -> None:
        content: object = text if self.chance.random() < 0.5 else [{"type": "text", "text": text}]
        # Some clients' results come under another role, and some carry a copy beside the message.
        block = {"type": "tool_result", "tool_use_id": "t", "content": content}
        event: Json = {
            "type": "user",
            "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": None,
        }
        if self.chance.random() < 0.5:
            event["tool_use_result"] = {"stdout": text, "stderr": self.marker("planted")}
        self._write(event)

    def hears_a_helper(self) -> None:
        message = {"role": "assistant", "content": [{"type": "text", "text": self.marker("planted")}]}
        self._write({"type": "assistant", "message": message, "parent_tool_use_id": "toolu_1"})

    def streams_pieces(self) -> None:
        text = self.marker("planted")
        for piece in (text[:9], text[9:], text):
            event = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}}
            self._write({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def hears_a_hook(self) -> None:
        kinds = ("hook_response", "task_notification", "informational", "notification", "compact_boundary")
        self._write(
            {"type": "system", "subtype": self.chance.choice(kinds), "output": self.marker("planted")}
        )
        message = {"role": "user", "content": self.marker("planted")}
        self._write({"type": "user", "message": message, "isSynthetic": True})

    def fails(self) -> None:
        text = f"API Error: 400 {self.marker('planted')}"
        message = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}
        self._write({"type": "assistant", "message": message, "parent_tool_use_id": None})

    def babbles(self) -> None:
        """Lines that are none of the format's, or only look so."""
        text = self.marker("planted")
        odd = [
            text,
            json.dumps(text),
            json.dumps([{"type": "assistant", "message": {"content": text}}]),
            json.dumps({"type": "assistants", "message": {"content": [{"type": "text", "text": text}]}}),
            json.dumps({"type": "assistant", "message": text}),
            json.dumps(
                {"type": "assistant", "message": {"content": [text, {"type": "output", "text": text}]}}
            ),
            json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": [text]}]}}),
            json.dumps(self.event([{"type": "text", "text": text}]))[:-3],
            '{"type":"assistant","message":' * 2_000,
            "",
        ]
        self.transcript.lines.append(self.chance.choice(odd).encode())
        self.transcript.lines.append(b"\xff\xfe\x00" + text.encode())

    # ------------------------------------------------------------------------------------------------ writing

    def assistant(self, text: str) -> None:
        self._assistant([{"type": "text", "text": text}])

    def _assistant(self, blocks: list[Json]) -> None:
        if self.bulk:
            blocks = [*blocks, {"type": "text", "text": "x " * 500_000}]
        self._write(self.event(blocks))

    def event(self, blocks: list[Json]) -> Json:
        message = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": blocks}
        return {"type": "assistant", "message": message, "parent_tool_use_id": None}

    def marker(self, fate: str) -> str:
        """A marker with words that no other one has, to be looked for under its fate."""
        # Words that mean nothing: no two of them are alike, opposite or numbers.
        text = " ".join("".join(self.chance.choices("bdfghjklmnprtvzaeiou" * 2, k=9)) for _ in range(5))
        getattr(self.transcript, fate).add(text)
        return written("MEMORY", self.chance.choice(CATEGORIES), self.chance.choice(SERVICES), text)

    def _write(self, event: Json) -> None:
        line = json.dumps(event, ensure_ascii=self.chance.random() < 0.5).encode("utf-8", "surrogatepass")
        if self.chance.random() < 0.1:
            line = b"\xef\xbb\xbf" + line
        self.transcript.lines.append(line + (b"\r" if self.chance.random() < 0.2 else b""))
