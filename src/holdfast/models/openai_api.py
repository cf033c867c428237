"""Extraction and chat through the chat completions API (OpenAI, Ollama, others), with OpenAI's SDK."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.spend import Price, Usage
from holdfast.language.model_call import Malformed, ModelAnswer, ModelPrompt
from holdfast.models import vendor_sdk
from holdfast.models.chat import INTERRUPTED, ModelTurn, Show, ToolCall, ToolResult
from holdfast.models.specs import LanguageSpec, price_of
from holdfast.models.vendor_sdk import bounded_client

if TYPE_CHECKING:
    from openai import OpenAI


class OpenAIModel:
    """Asks for JSON objects. The SDK is loaded with the first call."""

    def __init__(self, spec: LanguageSpec, *, key: str | None, within: float) -> None:
        self.name = spec.name
        self.price: Price | None = price_of(spec)
        self._spec = spec
        self._key = key
        self._within = within
        self._client: OpenAI | None = None

    def ask(self, question: ModelPrompt) -> ModelAnswer:
        """The model's answer.

        Raises: ModelTrouble and its subclasses; Unavailable, without the SDK or a key.
        """
        client = self.opened()
        import openai

        with vendor_sdk.understood(openai, self.name):
            raw = client.chat.completions.with_raw_response.create(
                model=self._spec.model,
                messages=[
                    {"role": "system", "content": question.system},
                    {"role": "user", "content": question.user},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": question.name, "schema": dict(question.schema), "strict": True},
                },
                **self._longest(question.max_tokens),
            )
            body = vendor_sdk.body_of(raw, self.name)
        usage = _usage(body.get("usage"))
        choice, message = _first(body, self.name, usage)
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise vendor_sdk.declined(self.name, usage)
        if choice.get("finish_reason") == "length":
            raise vendor_sdk.truncated(self.name, usage)
        content = message.get("content")
        return vendor_sdk.answered(content if isinstance(content, str) else "", usage, self.name)

    def _longest(self, most: int) -> Any:
        # OpenAI's newer models accept only the one name, most other servers only the other.
        own = self._spec.kind == "openai" and self._spec.usual
        return {"max_completion_tokens": most} if own else {"max_tokens": most}

    def opened(self) -> "OpenAI":
        """The vendor's client, also used for chat. Raises: Unavailable, without the SDK or a key."""
        if self._client is None:
            try:
                from openai import OpenAI
            except ImportError:
                raise vendor_sdk.missing("openai") from None
            if self._key is None and self._spec.needs_key:
                raise vendor_sdk.no_key(self.name, "OPENAI_API_KEY")
            # Ollama serves this API below /v1, and its address is written without that.
            below = "/v1" if self._spec.kind == "ollama" and not self._spec.url.endswith("/v1") else ""
            self._client = OpenAI(
                api_key=self._key or "none",
                organization="",  # not from the environment: that is meant for another server
                project="",
                base_url=self._spec.url + below,
                max_retries=0,  # the job is retried later
                http_client=bounded_client(self._spec.url, self._within),
                timeout=self._within,
            )
        return self._client


def _first(body: Any, name: str, usage: Usage | None) -> tuple[dict[str, Any], dict[str, Any]]:
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Malformed(f"{name} returned no message", usage=usage)
    return choice, message


def _usage(found: Any) -> Usage | None:
    read, written = vendor_sdk.tokens(found, "prompt_tokens"), vendor_sdk.tokens(found, "completion_tokens")
    if read is None or written is None:
        return None
    details = found.get("prompt_tokens_details")
    return Usage(
        input=read, output=written, cached=min(vendor_sdk.tokens(details, "cached_tokens") or 0, read)
    )


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

        heard = _StreamedAnswer()
        with vendor_sdk.understood(openai, self.name):
            chunks = self._client.chat.completions.create(
                model=self._model,
                messages=self._messages,
                tools=self._tools,
                stream=True,
                stream_options={"include_usage": True},
            )
            with chunks:
                heard.all(chunks, show)
        return self._record(heard)

    def break_off(self, said: str = "") -> None:
        if self._waiting:
            self.hand_back([ToolResult(call, INTERRUPTED, failed=True) for call in self._waiting])
        self._messages.append({"role": "assistant", "content": f"{said} {INTERRUPTED}".strip()})

    def close(self) -> None:
        self._client.close()

    def _record(self, heard: "_StreamedAnswer") -> ModelTurn:
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


class _StreamedAnswer:
    """An answer, assembled from its chunks."""

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
        # Some servers number every call 0; then only the ids differ.
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
