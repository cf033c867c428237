"""A talk through the chat completions API, which OpenAI, Ollama and many other servers speak, streamed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.models import sdk_errors
from holdfast.models.chat import INTERRUPTED, ModelTurn, Show, ToolCall, ToolResult
from holdfast.models.language_spec import LanguageSpec

_CUT_SHORT = {
    "length": "the answer was cut off at the maximum length",
    "content_filter": "the model declined to answer",
}


class OpenAITalk:
    """One conversation."""

    def __init__(
        self, spec: LanguageSpec, client: Any, *, system: str, tools: Sequence[Mapping[str, Any]]
    ) -> None:
        self.name = spec.name
        self._model = spec.model
        self._client = client
        self._tools = [_function(tool) for tool in tools]
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
        self._waiting: tuple[ToolCall, ...] = ()

    def hear(self, text: str) -> None:
        self._messages.append({"role": "user", "content": text})

    def take_back(self) -> None:
        self._messages.pop()

    def hand_back(self, results: Sequence[ToolResult]) -> None:
        for result in results:
            text = f"Error: {result.text}" if result.failed else result.text
            self._messages.append({"role": "tool", "tool_call_id": result.call.id, "content": text})
        self._waiting = ()

    def answer(self, show: Show) -> ModelTurn:
        import openai

        heard = _Heard()
        with sdk_errors.understood(openai, self.name):
            chunks = self._client.chat.completions.create(
                model=self._model,
                messages=self._messages,
                tools=self._tools,
                stream=True,
                stream_options={"include_usage": True},
            )
            with chunks:
                heard.all(chunks, show)
        return self._taken(heard)

    def break_off(self, said: str = "") -> None:
        if self._waiting:
            self.hand_back([ToolResult(call, INTERRUPTED, failed=True) for call in self._waiting])
        self._messages.append({"role": "assistant", "content": f"{said} {INTERRUPTED}".strip()})

    def close(self) -> None:
        self._client.close()

    def _taken(self, heard: "_Heard") -> ModelTurn:
        calls = tuple(ToolCall(call["id"], call["name"], _object(call["text"])) for call in heard.calls)
        message: dict[str, Any] = {"role": "assistant", "content": heard.text or None}
        if heard.calls:
            message["tool_calls"] = [
                {"id": call["id"], "type": "function",
                 "function": {"name": call["name"], "arguments": call["text"]}}
                for call in heard.calls
            ]  # fmt: skip
        elif not heard.text:
            message["content"] = "(no answer)"
        self._messages.append(message)
        self._waiting = calls
        return ModelTurn(
            text=heard.text,
            calls=calls,
            cut_short=_CUT_SHORT.get(heard.finish or ""),
            input_tokens=getattr(heard.usage, "prompt_tokens", 0) or 0,
            output_tokens=getattr(heard.usage, "completion_tokens", 0) or 0,
        )


class _Heard:
    """An answer, put together from its pieces."""

    def __init__(self) -> None:
        self.text = ""
        self.calls: list[dict[str, str]] = []
        self.finish: str | None = None
        self.usage: Any = None
        self._open: dict[int, dict[str, str]] = {}

    def all(self, chunks: Iterable[Any], show: Show) -> None:
        for chunk in chunks:
            self.usage = chunk.usage or self.usage
            for choice in chunk.choices[:1]:
                self.finish = choice.finish_reason or self.finish
                if choice.delta is not None and choice.delta.content:
                    self.text += choice.delta.content
                    show(choice.delta.content)
                for piece in (choice.delta.tool_calls if choice.delta is not None else None) or ():
                    self._call(piece)

    def _call(self, piece: Any) -> None:
        place = piece.index if piece.index is not None else len(self.calls)
        known = self._open.get(place)
        # Some servers number every call 0, and tell them apart by their ids alone.
        if known is None or (piece.id and known["id"] and piece.id != known["id"]):
            known = {"id": "", "name": "", "text": ""}
            self._open[place] = known
            self.calls.append(known)
        known["id"] = known["id"] or piece.id or f"call_{len(self.calls)}"
        if piece.function is not None:
            known["name"] += piece.function.name or ""
            known["text"] += piece.function.arguments or ""


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["input_schema"],
        },
    }


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
