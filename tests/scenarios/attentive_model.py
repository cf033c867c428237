"""A model that does what it is told: it acts on the guidance, memory and tools of a request, and no more.

Stateless like the real ones. Take the guidance away and it stores without asking; take the brief away and it
knows nobody; take the tools away and it can't remember.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.real_agents.scripted_model import Failure, Json, Request, ScriptedModel, Tool

_LINE = re.compile(r"^- \[id:(?P<id>\w+)\] (?:\[(?P<subject>[^\]]+)\] )?(?P<text>.+)$", re.MULTILINE)
_OFFER = "Would you like me to remember that {}?"
_OFFERED = re.compile(r"remember that (?P<fact>.+)\?$")


@dataclass(frozen=True)
class Known:
    """A memory as the model reads it."""

    id: str
    subject: str
    text: str


class AttentiveModel(ScriptedModel):
    """Answers by reading the request."""

    def answer(self, request: Request) -> Json | Failure:
        with self._lock:
            self.requests.append(request)
        said = Reading(request).answer()
        return self._message(request, [self._block(said)])


class Reading:
    """One request, understood."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._tools = {tool["name"]: tool["input_schema"] for tool in request.body.get("tools", [])}
        self._turns: list[Json] = request.body["messages"]
        self._memory = [
            Known(found["id"], found["subject"] or "", found["text"])
            for found in _LINE.finditer(request.text)
        ]

    def answer(self) -> str | Tool:
        if results := [part for part in self._last if part["type"] == "tool_result"]:
            return self._told(results[-1])
        text = "\n".join(part["text"] for part in self._last if part["type"] == "text").split("\n")[0]
        for pattern, act in self._rules().items():
            if found := re.fullmatch(pattern, text):
                return act(**found.groupdict())
        new = [known.text for known in self._memory if known.text in self._request.messages[-1][1]]
        return f"Good to know: {'; '.join(new)}" if new else "All right."

    def _rules(self) -> dict[str, Callable[..., str | Tool]]:
        return {
            r"(?P<name>\w+) is my boss by the way": self._boss,
            r"I'm working with (?P<name>\w+) on this project": self._colleague,
            r"Yes.*": self._agreed,
            r"No\b.*": self._declined,
            r"(?P<name>\w+) moved to the (?P<team>\w+) team last week": self._moved,
            r"Can you create a task to update (?P<name>\w+) on the project\?": self._task,
            r"Remember that I prefer (?P<wish>.+)": self._at_once,
        }

    @property
    def _last(self) -> list[Json]:
        content = self._turns[-1]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)

    def _about(self, name: str) -> Known | None:
        return next((known for known in self._memory if known.subject == name), None)

    def _boss(self, name: str) -> str | Tool:
        return self._new(name, f"{name} is the user's boss")

    def _colleague(self, name: str) -> str | Tool:
        return self._new(name, f"{name} works with the user on the project")

    def _new(self, name: str, fact: str) -> str | Tool:
        if self._about(name):
            return f"I know {name}."
        if "only after a yes" in self._request.system:
            return _OFFER.format(fact)
        return self._add(fact, "person", name)

    def _agreed(self) -> str | Tool:
        offer = _OFFERED.search(self._said_before())
        if offer is None:
            return "Yes to what?"
        return self._add(offer["fact"], "person", offer["fact"].split()[0])

    def _declined(self) -> str:
        return "No problem, I won't store that." if _OFFERED.search(self._said_before()) else "All right."

    def _moved(self, name: str, team: str) -> str | Tool:
        known = self._about(name)
        if known is None:
            return _OFFER.format(f"{name} works on the {team} team")
        if "call update_memory with the id" not in self._request.system or "update_memory" not in self._tools:
            return "I can't change what I know."
        return Tool("update_memory", {"id": known.id, "content": f"{name} works on the {team} team"})

    def _task(self, name: str) -> str:
        known = self._about(name)
        return f"I'll create a task to update {name}. ({known.text})" if known else f"Who is {name}?"

    def _at_once(self, wish: str) -> str | Tool:
        if '"remember that"' not in self._request.system:
            return _OFFER.format(f"the user prefers {wish}")
        return self._add(f"The user prefers {wish}", "preference", None)

    def _add(self, fact: str, category: str, subject: str | None) -> str | Tool:
        schema = self._tools.get("add_to_memory")
        if schema is None or category not in schema["properties"]["category"]["enum"]:
            return "I have no place to keep that."
        given: dict[str, Any] = {"content": fact, "category": category}
        return Tool("add_to_memory", given | ({"subject": subject} if subject else {}))

    def _told(self, result: Json) -> str | Tool:
        content = result["content"]
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        if advice := re.search(r"If it changed, call update_memory with id (\w+)\.", text):
            asked = next(part["input"] for part in self._turns[-2]["content"] if part["type"] == "tool_use")
            return Tool("update_memory", {"id": advice[1], "content": asked["content"]})
        if result.get("is_error") or text.startswith(("Nothing", "Not stored")):
            return f"That did not work: {text}"
        return f"Done. {text}"

    def _said_before(self) -> str:
        """The model's own last words."""
        for turn in reversed(self._turns):
            if turn["role"] == "assistant":
                return "".join(part.get("text", "") for part in turn["content"])
        return ""
