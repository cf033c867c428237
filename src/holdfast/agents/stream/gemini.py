"""Gemini CLI's `-o stream-json`. Its answers come in pieces, which are put together before they are read."""

from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.agents.stream.json_lines import counted, parsed, texts
from holdfast.domain.agent_events import AssistantText, Happening, OtherText, TurnEnd

_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cached",
    "duration_ms": "duration_ms",
}
_MODEL = {name: theirs for name, theirs in _TOKENS.items() if name != "duration_ms"}


class GeminiStream:
    """One run of `gemini -p`."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._all: list[str] = []

    def line(self, line: bytes) -> Iterable[Happening]:
        event = parsed(line)
        if event is None:
            return ()
        return list(self._event(event))

    def end(self) -> Iterable[Happening]:
        # What is still in pieces was never finished.
        return ()

    def _event(self, event: dict[str, Any]) -> Iterator[Happening]:
        content = event.get("content")
        if event.get("type") == "message" and event.get("role") == "assistant" and isinstance(content, str):
            if not event.get("delta"):
                yield from self._complete()
            self._pieces.append(content)
            self._all.append(content)
            if not event.get("delta"):
                yield from self._complete()
            return
        yield from self._complete()
        if event.get("type") == "tool_result":
            yield from map(OtherText, texts({name: value for name, value in event.items() if name != "type"}))
        elif event.get("type") == "result":
            shown = "".join(self._all)
            yield TurnEnd(shown.removesuffix("\n") + "\n" if shown else None, _usage(event.get("stats")))

    def _complete(self) -> Iterator[Happening]:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            yield AssistantText(text)


def _usage(stats: object) -> dict[str, Any]:
    found: dict[str, Any] = dict(counted(stats, _TOKENS))
    models = stats.get("models") if isinstance(stats, dict) else None
    if isinstance(models, dict):
        found["models"] = {str(name): counted(usage, _MODEL) for name, usage in models.items()}
    return found
