"""Claude Code's `--output-format stream-json`."""

from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.agents.stream.json_lines import counted, parsed, texts
from holdfast.domain.agent_events import AssistantText, Happening, OtherText, TurnEnd

# Ours: theirs. Of a `result` line.
_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}
_REST = {"cost_usd": "total_cost_usd", "turns": "num_turns", "duration_ms": "duration_ms"}
_MODEL = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cacheReadInputTokens",
    "cache_write_tokens": "cacheCreationInputTokens",
    "cost_usd": "costUSD",
}
#: Messages that the client itself puts into the assistant's mouth, such as an error of the API.
_NOT_THE_MODEL = "<synthetic>"


class ClaudeCodeStream:
    """One run of `claude -p`."""

    def line(self, line: bytes) -> Iterable[Happening]:
        event = parsed(line)
        if event is None:
            return ()
        match event.get("type"):
            case "assistant":
                return _assistant(event)
            case "user":
                return _user(event)
            case "system":
                # Output of hooks, and reports of other agents. What is in `init` nobody would repeat.
                return () if event.get("subtype") == "init" else map(OtherText, texts(event))
            case "result":
                return (TurnEnd(_shown(event), _usage(event)),)
            case _:
                return ()

    def end(self) -> Iterable[Happening]:
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
            # Tools that the model's own service runs answer inside of the assistant's message.
            yield from map(OtherText, texts(block))


def _of_the_model(event: dict[str, Any]) -> bool:
    message = event["message"]
    return (
        message.get("role", "assistant") == "assistant"
        and message.get("model") != _NOT_THE_MODEL
        and not event.get("isSynthetic")
    )


def _user(event: dict[str, Any]) -> Iterator[Happening]:
    """What comes back under the user's name: tool results by their type, never by the role.

    What a person typed is told neither as said nor as heard: to record it is what an agent is there for.
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
    """What the client prints at the end when nobody asks for JSON."""
    result = event.get("result")
    if isinstance(result, str):
        return result if result.endswith("\n") else f"{result}\n"
    errors = event.get("errors")
    if isinstance(errors, list) and errors:
        return f"Error: {errors[0]}".replace("Reached maximum number of turns", "Reached max turns")
    return "Execution error" if event.get("is_error") else None


def _usage(event: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {**counted(event.get("usage"), _TOKENS), **counted(event, _REST)}
    models = event.get("modelUsage")
    if isinstance(models, dict):
        each = {str(name): counted(usage, _MODEL) for name, usage in models.items()}
        found["models"] = {name: usage for name, usage in each.items() if usage}
    return found
