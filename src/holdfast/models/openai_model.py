"""Models behind the chat completions API (OpenAI, Ollama, other servers), asked through OpenAI's SDK."""

from typing import TYPE_CHECKING, Any

from holdfast.domain.spend import Price, Usage
from holdfast.language.model_call import Malformed, ModelAnswer, ModelPrompt
from holdfast.models import sdk_errors
from holdfast.models.bounded_client import bounded_client
from holdfast.models.language_spec import LanguageSpec
from holdfast.models.prices import price_of

if TYPE_CHECKING:
    from openai import OpenAI


class OpenAIModel:
    """Asks for objects. The SDK is loaded with the first question."""

    def __init__(self, spec: LanguageSpec, *, key: str | None, within: float = sdk_errors.WITHIN) -> None:
        self.name = spec.name
        self.price: Price | None = price_of(spec)
        self._spec = spec
        self._key = key
        self._within = within
        self._client: OpenAI | None = None

    def ask(self, question: ModelPrompt) -> ModelAnswer:
        """The model's answer.

        Raises: ModelTrouble and its kinds; Unavailable, without the SDK or a key.
        """
        client = self.opened()
        import openai

        with sdk_errors.understood(openai, self.name):
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
            body = sdk_errors.body_of(raw, self.name)
        usage = _usage(body.get("usage"))
        choice, message = _first(body, self.name, usage)
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise sdk_errors.declined(self.name, usage)
        if choice.get("finish_reason") == "length":
            raise sdk_errors.truncated(self.name, usage)
        content = message.get("content")
        return sdk_errors.answered(content if isinstance(content, str) else "", usage, self.name)

    def _longest(self, most: int) -> Any:
        # OpenAI's newer models know only the one name, most other servers only the other.
        own = self._spec.kind == "openai" and self._spec.usual
        return {"max_completion_tokens": most} if own else {"max_tokens": most}

    def opened(self) -> "OpenAI":
        """The vendor's client; a chat asks through it as well.

        Raises: Unavailable, without the SDK or a key.
        """
        if self._client is None:
            try:
                from openai import OpenAI
            except ImportError:
                raise sdk_errors.missing("openai") from None
            if self._key is None and self._spec.needs_key:
                raise sdk_errors.no_key(self.name, "OPENAI_API_KEY")
            # Ollama speaks this API below /v1, and its address is written without that.
            below = "/v1" if self._spec.kind == "ollama" and not self._spec.url.endswith("/v1") else ""
            self._client = OpenAI(
                api_key=self._key or "none",
                organization="",  # not what the environment says: it is meant for another server
                project="",
                base_url=self._spec.url + below,
                max_retries=0,  # a job is tried again later; nobody waits here
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
    read, written = sdk_errors.tokens(found, "prompt_tokens"), sdk_errors.tokens(found, "completion_tokens")
    if read is None or written is None:
        return None
    details = found.get("prompt_tokens_details")
    return Usage(
        input=read, output=written, cached=min(sdk_errors.tokens(details, "cached_tokens") or 0, read)
    )
