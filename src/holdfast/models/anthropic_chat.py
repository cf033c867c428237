"""A talk through the Messages API, streamed by the vendor's SDK."""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.models import sdk_errors
from holdfast.models.chat import INTERRUPTED, ModelTurn, Show, ToolCall, ToolResult
from holdfast.models.language_spec import LanguageSpec

_MOST_TOKENS = 8_192  # of one answer
_CACHED = {"cache_control": {"type": "ephemeral"}}
_CUT_SHORT = {
    "max_tokens": "the answer was cut off at the maximum length",
    "model_context_window_exceeded": "the conversation is too long for the model: start a new one",
    "refusal": "the model declined to answer",
}


class AnthropicTalk:
    """One conversation."""

    def __init__(
        self, spec: LanguageSpec, client: Any, *, system: str, tools: Sequence[Mapping[str, Any]]
    ) -> None:
        self.name = spec.name
        self._model = spec.model
        self._client = client
        self._system = [{"type": "text", "text": system, **_CACHED}]  # the tools come before it
        self._tools = [dict(tool) for tool in tools]
        self._messages: list[dict[str, Any]] = []
        self._waiting: tuple[ToolCall, ...] = ()

    def hear(self, text: str) -> None:
        self._messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def take_back(self) -> None:
        self._messages.pop()

    def hand_back(self, results: Sequence[ToolResult]) -> None:
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": result.call.id,
                "content": result.text,
                "is_error": result.failed,
            }
            for result in results
        ]
        self._messages.append({"role": "user", "content": blocks})
        self._waiting = ()

    def answer(self, show: Show) -> ModelTurn:
        import anthropic

        with (
            sdk_errors.understood(anthropic, self.name),
            self._client.messages.stream(
                model=self._model,
                max_tokens=_MOST_TOKENS,
                system=self._system,
                tools=self._tools,
                messages=_marked(self._messages),
            ) as stream,
        ):
            for piece in stream.text_stream:
                show(piece)
            message = stream.get_final_message()
        return self._taken(message)

    def break_off(self, said: str = "") -> None:
        if self._waiting:
            self.hand_back([ToolResult(call, INTERRUPTED, failed=True) for call in self._waiting])
        text = f"{said} {INTERRUPTED}".strip()
        self._messages.append({"role": "assistant", "content": [{"type": "text", "text": text}]})

    def close(self) -> None:
        self._client.close()

    def _taken(self, message: Any) -> ModelTurn:
        blocks = [_block(block) for block in message.content]
        kept = [block for block in blocks if block.get("text") != ""]
        calls = tuple(
            ToolCall(block["id"], block["name"], block["input"] if isinstance(block["input"], dict) else None)
            for block in kept
            if block["type"] == "tool_use"
        )
        # An answer of nothing is no message to this API.
        self._messages.append(
            {"role": "assistant", "content": kept or [{"type": "text", "text": "(no answer)"}]}
        )
        self._waiting = calls
        usage = message.usage
        read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        return ModelTurn(
            text="".join(block["text"] for block in kept if block["type"] == "text"),
            calls=calls,
            cut_short=_CUT_SHORT.get(message.stop_reason or ""),
            input_tokens=usage.input_tokens + read + written,
            output_tokens=usage.output_tokens,
        )


def _block(block: Any) -> dict[str, Any]:
    """A block of an answer as it is sent back."""
    match block.type:
        case "text":
            return {"type": "text", "text": block.text}
        case "tool_use":
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case _:
            return dict(block.to_dict())


def _marked(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation with the mark up to which a cache may hold it, which moves on with every request."""
    *before, last = messages
    *blocks, end = last["content"]
    return [*before, {**last, "content": [*blocks, {**end, **_CACHED}]}]
