"""Reads what agents print while they run, line by line: messages, and how it ended.

One reader per agent. Only complete texts of the assistant in the main conversation are messages; other text
is reported separately, because an agent may repeat it. Unknown and invalid lines are skipped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from holdfast.domain.agent_events import AssistantText, Happening, OtherText, Stream, TurnEnd

_COUNTS = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}  # called the same everywhere


def parsed(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None for anything else."""
    text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def texts(value: object) -> Iterator[str]:
    """All texts in a JSON value, however deep."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict):
            waiting.extend(reversed(found.values()))
        elif isinstance(found, list):
            waiting.extend(reversed(found))


def counted(found: object, names: Mapping[str, str]) -> dict[str, int | float]:
    """The numbers of a usage report under our names (ours: theirs); only valid ones."""
    amounts: dict[str, Any] = {}
    if isinstance(found, dict):
        amounts = {ours: found.get(theirs) for ours, theirs in names.items()}
    return {
        ours: amount
        for ours, amount in amounts.items()
        if type(amount) in (int, float) and 0 <= amount < 1e15
    }


class _JsonStream:
    """A stream of JSON objects, one per line."""

    def line(self, line: bytes) -> Iterable[Happening]:
        event = parsed(line)
        return () if event is None else list(self._event(event))

    def end(self) -> Iterable[Happening]:
        return ()

    def _event(self, event: dict[str, Any]) -> Iterable[Happening]:
        raise NotImplementedError


# Ours: theirs. Of a `result` line.
_CLAUDE_TOKENS = {
    **_COUNTS,
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}
_CLAUDE_REST = {"cost_usd": "total_cost_usd", "turns": "num_turns", "duration_ms": "duration_ms"}
_CLAUDE_MODEL = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cacheReadInputTokens",
    "cache_write_tokens": "cacheCreationInputTokens",
    "cost_usd": "costUSD",
}
#: Messages that the client itself puts into the assistant's mouth, such as an error of the API.
_NOT_THE_MODEL = "<synthetic>"


class ClaudeCodeStream(_JsonStream):
    """One run of `claude -p --output-format stream-json`."""

    def _event(self, event: dict[str, Any]) -> Iterable[Happening]:
        match event.get("type"):
            case "assistant":
                return _assistant(event)
            case "user":
                return _user(event)
            case "system":
                # Output of hooks, and reports of other agents. No one repeats the content of `init`.
                return () if event.get("subtype") == "init" else map(OtherText, texts(event))
            case "result":
                return (TurnEnd(_shown(event), _claude_usage(event)),)
            case _:
                return ()


def _assistant(event: dict[str, Any]) -> Iterator[Happening]:
    main = event.get("parent_tool_use_id") is None
    for block in _blocks(event):
        kind, text = block.get("type"), block.get("text")
        if kind == "text" and isinstance(text, str):
            if main and _of_the_model(event):
                uuid = event.get("uuid")
                yield AssistantText(text, uuid if isinstance(uuid, str) else None)
            else:
                yield OtherText(text)
        elif isinstance(kind, str) and kind.endswith("_result"):
            # Results of the provider's own tools are inside of the assistant's message.
            yield from map(OtherText, texts(block))


def _of_the_model(event: dict[str, Any]) -> bool:
    message = event["message"]
    return (
        message.get("role", "assistant") == "assistant"
        and message.get("model") != _NOT_THE_MODEL
        and not event.get("isSynthetic")
    )


def _user(event: dict[str, Any]) -> Iterator[Happening]:
    """Messages with the role user: tool results, by their type.

    What a person typed is ignored: agents are supposed to record it.
    """
    added = bool(event.get("isSynthetic") or event.get("isMeta") or event.get("parent_tool_use_id"))
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        if added:
            yield OtherText(content)
    elif isinstance(content, list):
        for block in content:
            if added or not (isinstance(block, dict) and block.get("type") == "text"):
                yield from map(OtherText, texts(block))
    yield from map(OtherText, texts(event.get("tool_use_result")))


def _blocks(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The blocks of a message; a message that is one text is one block."""
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _shown(event: dict[str, Any]) -> str | None:
    """The text that the client prints at the end without JSON output."""
    result = event.get("result")
    if isinstance(result, str):
        return result if result.endswith("\n") else f"{result}\n"
    errors = event.get("errors")
    if isinstance(errors, list) and errors:
        return f"Error: {errors[0]}".replace("Reached maximum number of turns", "Reached max turns")
    return "Execution error" if event.get("is_error") else None


def _claude_usage(event: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {**counted(event.get("usage"), _CLAUDE_TOKENS), **counted(event, _CLAUDE_REST)}
    models = event.get("modelUsage")
    if isinstance(models, dict):
        each = {str(name): counted(usage, _CLAUDE_MODEL) for name, usage in models.items()}
        found["models"] = {name: usage for name, usage in each.items() if usage}
    return found


_CODEX_TOKENS = {
    **_COUNTS,
    "cache_read_tokens": "cached_input_tokens",
    "cache_write_tokens": "cache_write_input_tokens",
}
#: Items in which the agent talks to itself, or the program to the user.
_UNHEARD = ("reasoning", "error", "todo_list")


class CodexStream(_JsonStream):
    """One run of `codex exec --json`."""

    def __init__(self) -> None:
        self._last: str | None = None
        self._usage: dict[str, int | float] = {}

    def _event(self, event: dict[str, Any]) -> Iterable[Happening]:
        match event.get("type"):
            case "item.completed":  # `item.started` and `item.updated` are not complete
                return self._item(event.get("item"))
            case "turn.completed":
                return (self._ended(event),)
            case _:
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
        for name, amount in counted(event.get("usage"), _CODEX_TOKENS).items():
            self._usage[name] = self._usage.get(name, 0) + amount
        self._usage["turns"] = self._usage.get("turns", 0) + 1
        shown = None if self._last is None else self._last.removesuffix("\n") + "\n"
        return TurnEnd(shown, dict(self._usage))


_GEMINI_TOKENS = {
    **_COUNTS,
    "cache_read_tokens": "cached",
    "duration_ms": "duration_ms",
}
_GEMINI_MODEL = {name: theirs for name, theirs in _GEMINI_TOKENS.items() if name != "duration_ms"}


class GeminiStream(_JsonStream):
    """One run of `gemini -p -o stream-json`; the parts of an answer are joined first."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._all: list[str] = []

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
            yield TurnEnd(
                shown.removesuffix("\n") + "\n" if shown else None, _gemini_usage(event.get("stats"))
            )

    def _complete(self) -> Iterator[Happening]:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            yield AssistantText(text)


def _gemini_usage(stats: object) -> dict[str, Any]:
    found: dict[str, Any] = dict(counted(stats, _GEMINI_TOKENS))
    models = stats.get("models") if isinstance(stats, dict) else None
    if isinstance(models, dict):
        found["models"] = {str(name): counted(usage, _GEMINI_MODEL) for name, usage in models.items()}
    return found


_MOST = 8_000_000  # characters that are read of one run


class PlainTextStream:
    """One run of an agent that prints only its answer, which is complete at the end of the output."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0

    def line(self, line: bytes) -> Iterable[Happening]:
        text = line.decode("utf-8", "replace")
        self._size += len(text) + 1
        if self._size <= _MOST:
            self._lines.append(text)
        return ()

    def end(self) -> Iterable[Happening]:
        return (AssistantText("\n".join(self._lines)),) if self._lines else ()


#: By the name of the agent.
READERS: Final[Mapping[str, Callable[[], Stream]]] = {
    "claude": ClaudeCodeStream,
    "codex": CodexStream,
    "gemini": GeminiStream,
    "plain": PlainTextStream,
}
