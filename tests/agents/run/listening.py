"""A run without an agent: lines of its output go in, and what was kept is in the store."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterable
from typing import Any

from holdfast import Memories
from holdfast.agents.hooks.captures import end_later, end_noted
from holdfast.agents.run.recorder import Ends, Occasion, Recorder
from holdfast.agents.stream import ClaudeCodeStream
from holdfast.prompts import examples

PATIENCE = 60.0


class Listener:
    """Takes an agent's output into a space, as `holdfast run` does."""

    def __init__(self, memories: Memories) -> None:
        self.memories = memories
        self.lines: list[str] = []  # what a person was told
        self.brief = ""

    def session(
        self,
        *lines: bytes | dict[str, Any],
        tier: int | None = 1,
        session: str | None = None,
        captures: bool = True,
    ) -> Counter[str]:
        """One session with this output; what became of its markers."""
        occasion = Occasion(
            session=session or str(uuid.uuid4()),
            name=None,
            client="claude-code",
            directory="/srv",
            project=None,
            tier=tier,
            service=None,
            captures=captures,
        )
        ends = Ends(later=end_later, noted=end_noted)
        recorder = Recorder(occasion, lambda: self.memories, examples, self.lines.append, ends)
        opening = recorder.begin(PATIENCE)
        assert opening is not None, self.lines
        self.brief = opening.brief
        stream = ClaudeCodeStream()
        for line in lines:
            for happening in stream.line(line if isinstance(line, bytes) else json.dumps(line).encode()):
                recorder.take(happening)
        recorder.finish(0, PATIENCE)
        return recorder.kept

    def says(self, *texts: str, **session: Any) -> Counter[str]:
        """One session in which the assistant says these texts."""
        return self.session(*map(assistant, texts), **session)


def assistant(text: str, **fields: Any) -> dict[str, Any]:
    """A line in which the assistant says something."""
    message = {"role": "assistant", "model": "claude", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


def tool_result(text: str) -> dict[str, Any]:
    """A line with the output of a tool."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": text}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": None}


def contents(memories: Iterable[Any]) -> set[str]:
    return {memory.content for memory in memories}
