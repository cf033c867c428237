"""Codex's `codex exec --json`."""

from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.agents.stream.json_lines import counted, parsed, texts
from holdfast.domain.agent_events import AssistantText, Happening, OtherText, TurnEnd

_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cached_input_tokens",
    "cache_write_tokens": "cache_write_input_tokens",
}
#: Items in which the agent talks to itself, or the program to the user.
_UNHEARD = ("reasoning", "error", "todo_list")


class CodexStream:
    """One run of `codex exec`."""

    def __init__(self) -> None:
        self._last: str | None = None
        self._usage: dict[str, int | float] = {}

    def line(self, line: bytes) -> Iterable[Happening]:
        event = parsed(line)
        if event is None:
            return ()
        match event.get("type"):
            case "item.completed":  # `item.started` and `item.updated` are not complete
                return self._item(event.get("item"))
            case "turn.completed":
                return (self._ended(event),)
            case _:
                return ()

    def end(self) -> Iterable[Happening]:
        return ()

    def _item(self, item: Any) -> Iterator[Happening]:
        if not isinstance(item, dict) or item.get("type") in _UNHEARD:
            return
        text = item.get("text")
        if item.get("type") == "agent_message" and isinstance(text, str):
            self._last = text
            identity = item.get("id")
            # Its ids are counted anew in each run, so they name nothing outside of it.
            yield AssistantText(
                text, None if isinstance(identity, str) and identity.startswith("item_") else identity
            )
        else:
            yield from map(OtherText, texts(item))

    def _ended(self, event: dict[str, Any]) -> TurnEnd:
        for name, amount in counted(event.get("usage"), _TOKENS).items():
            self._usage[name] = self._usage.get(name, 0) + amount
        self._usage["turns"] = self._usage.get("turns", 0) + 1
        shown = None if self._last is None else self._last.removesuffix("\n") + "\n"
        return TurnEnd(shown, dict(self._usage))
