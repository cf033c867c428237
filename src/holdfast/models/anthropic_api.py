"""Extraction and chat through the Messages API (Claude and compatible models), with the vendor's SDK."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.spend import Price, Usage
from holdfast.language.model_call import ModelAnswer, ModelPrompt
from holdfast.models import vendor_sdk
from holdfast.models.chat import INTERRUPTED, ModelTurn, Show, ToolCall, ToolResult
from holdfast.models.specs import LanguageSpec, price_of
from holdfast.models.vendor_sdk import bounded_client

if TYPE_CHECKING:
    from anthropic import Anthropic


_CUT_SHORT = frozenset({"max_tokens", "model_context_window_exceeded"})


class AnthropicModel:
    """Asks for JSON objects. The SDK is loaded with the first call."""

    def __init__(self, spec: LanguageSpec, *, key: str | None, within: float) -> None:
        self.name = spec.name
        self.price: Price | None = price_of(spec)
        self._spec = spec
        self._key = key
        self._within = within
        self._client: Anthropic | None = None

    def ask(self, question: ModelPrompt) -> ModelAnswer:
        """The model's answer.

        Raises: ModelTrouble and its subclasses; Unavailable, without the SDK or a key.
        """
        client = self.opened()
        import anthropic

        with vendor_sdk.understood(anthropic, self.name):
            raw = client.messages.with_raw_response.create(
                model=self._spec.model,
                max_tokens=question.max_tokens,
                # The constant part ends with the cache marker.
                system=[{"type": "text", "text": question.system, "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": question.user}],
                output_config={"format": {"type": "json_schema", "schema": dict(question.schema)}},
            )
            body = vendor_sdk.body_of(raw, self.name)
        usage = _usage(body.get("usage"))
        if body.get("stop_reason") == "refusal":
            raise vendor_sdk.declined(self.name, usage)
        if body.get("stop_reason") in _CUT_SHORT:
            raise vendor_sdk.truncated(self.name, usage)
        return vendor_sdk.answered(_text(body.get("content")), usage, self.name)

    def opened(self) -> "Anthropic":
        """The vendor's client, also used for chat. Raises: Unavailable, without the SDK or a key."""
        if self._client is None:
            try:
                from anthropic import Anthropic
            except ImportError:
                raise vendor_sdk.missing("anthropic") from None
            if self._key is None and self._spec.needs_key:
                raise vendor_sdk.no_key(self.name, "ANTHROPIC_API_KEY")
            self._client = Anthropic(
                api_key=self._key or "none",
                base_url=self._spec.url,
                max_retries=0,  # the job is retried later
                http_client=bounded_client(self._spec.url, self._within),
                timeout=self._within,
            )
        return self._client


def _text(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(found: Any) -> Usage | None:
    """The tokens of a call; this API counts cached tokens separately."""
    plain, output = vendor_sdk.tokens(found, "input_tokens"), vendor_sdk.tokens(found, "output_tokens")
    if plain is None or output is None:
        return None
    read = vendor_sdk.tokens(found, "cache_read_input_tokens") or 0
    written = vendor_sdk.tokens(found, "cache_creation_input_tokens") or 0
    return Usage(input=plain + read + written, output=output, cached=read)


_MAX_TOKENS = 8_192  # of one answer
_CACHED = {"cache_control": {"type": "ephemeral"}}
_CHAT_CUT_SHORT = {
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
            vendor_sdk.understood(anthropic, self.name),
            self._client.messages.stream(
                model=self._model,
                max_tokens=_MAX_TOKENS,
                system=self._system,
                tools=self._tools,
                messages=_with_cache_marker(self._messages),
            ) as stream,
        ):
            for piece in stream.text_stream:
                show(piece)
            message = stream.get_final_message()
        return self._record(message)

    def break_off(self, said: str = "") -> None:
        if self._waiting:
            self.hand_back([ToolResult(call, INTERRUPTED, failed=True) for call in self._waiting])
        text = f"{said} {INTERRUPTED}".strip()
        self._messages.append({"role": "assistant", "content": [{"type": "text", "text": text}]})

    def close(self) -> None:
        self._client.close()

    def _record(self, message: Any) -> ModelTurn:
        blocks = [_block(block) for block in message.content]
        kept = [block for block in blocks if block.get("text") != ""]
        calls = tuple(
            ToolCall(block["id"], block["name"], block["input"] if isinstance(block["input"], dict) else None)
            for block in kept
            if block["type"] == "tool_use"
        )
        # This API rejects an empty message.
        self._messages.append(
            {"role": "assistant", "content": kept or [{"type": "text", "text": "(no answer)"}]}
        )
        self._waiting = calls
        usage = message.usage
        read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        return ModelTurn(
            text="".join(block["text"] for block in kept if block["type"] == "text"),
            calls=calls,
            cut_short=_CHAT_CUT_SHORT.get(message.stop_reason or ""),
            input_tokens=usage.input_tokens + read + written,
            output_tokens=usage.output_tokens,
        )


def _block(block: Any) -> dict[str, Any]:
    """A block of an answer, as it is sent in the next request."""
    match block.type:
        case "text":
            return {"type": "text", "text": block.text}
        case "tool_use":
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case _:
            return dict(block.to_dict())


def _with_cache_marker(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages, with the cache marker on the last one."""
    *before, last = messages
    *blocks, end = last["content"]
    return [*before, {**last, "content": [*blocks, {**end, **_CACHED}]}]
