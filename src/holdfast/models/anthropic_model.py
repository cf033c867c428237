"""Claude and everything else that speaks the Messages API, asked through the vendor's SDK."""

from typing import TYPE_CHECKING, Any

from holdfast.domain.spend import Price, Usage
from holdfast.language.model_call import ModelAnswer, ModelPrompt
from holdfast.models import sdk_errors
from holdfast.models.bounded_client import bounded_client
from holdfast.models.language_spec import LanguageSpec
from holdfast.models.prices import price_of

if TYPE_CHECKING:
    from anthropic import Anthropic

_CUT_SHORT = frozenset({"max_tokens", "model_context_window_exceeded"})


class AnthropicModel:
    """Asks for objects. The SDK is loaded with the first question."""

    def __init__(self, spec: LanguageSpec, *, key: str | None, within: float = sdk_errors.WITHIN) -> None:
        self.name = spec.name
        self.price: Price | None = price_of(spec)
        self._spec = spec
        self._key = key
        self._within = within
        self._client: Anthropic | None = None

    def ask(self, question: ModelPrompt) -> ModelAnswer:
        """The model's answer.

        Raises: ModelTrouble and its kinds; Unavailable, without the SDK or a key.
        """
        client = self.opened()
        import anthropic

        with sdk_errors.understood(anthropic, self.name):
            raw = client.messages.with_raw_response.create(
                model=self._spec.model,
                max_tokens=question.max_tokens,
                # The part that never changes ends with the mark up to which a cache may hold it.
                system=[{"type": "text", "text": question.system, "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": question.user}],
                output_config={"format": {"type": "json_schema", "schema": dict(question.schema)}},
            )
            body = sdk_errors.body_of(raw, self.name)
        usage = _usage(body.get("usage"))
        if body.get("stop_reason") == "refusal":
            raise sdk_errors.declined(self.name, usage)
        if body.get("stop_reason") in _CUT_SHORT:
            raise sdk_errors.truncated(self.name, usage)
        return sdk_errors.answered(_text(body.get("content")), usage, self.name)

    def opened(self) -> "Anthropic":
        """The vendor's client; a chat asks through it as well.

        Raises: Unavailable, without the SDK or a key.
        """
        if self._client is None:
            try:
                from anthropic import Anthropic
            except ImportError:
                raise sdk_errors.missing("anthropic") from None
            if self._key is None and self._spec.needs_key:
                raise sdk_errors.no_key(self.name, "ANTHROPIC_API_KEY")
            self._client = Anthropic(
                api_key=self._key or "none",
                base_url=self._spec.url,
                max_retries=0,  # a job is tried again later; nobody waits here
                http_client=bounded_client(self._spec.url, self._within),
                timeout=self._within,
            )
        return self._client


def _text(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(found: Any) -> Usage | None:
    """The tokens of a call; what a cache took or gave is counted apart by this API."""
    plain, output = sdk_errors.tokens(found, "input_tokens"), sdk_errors.tokens(found, "output_tokens")
    if plain is None or output is None:
        return None
    read = sdk_errors.tokens(found, "cache_read_input_tokens") or 0
    written = sdk_errors.tokens(found, "cache_creation_input_tokens") or 0
    return Usage(input=plain + read + written, output=output, cached=read)
