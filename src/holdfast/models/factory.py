"""Opens embedders and language models by their specs. Nothing is loaded or called before it is used."""

from functools import partial
from typing import TYPE_CHECKING

from holdfast.engine.ports import Embedder, LanguageModel
from holdfast.models.specs import LanguageSpec, Spec

if TYPE_CHECKING:
    from holdfast.models.chat import ChatModel

WITHIN = 60.0  # seconds for one answer
CHAT_WITHIN = 600.0  # seconds for one answer; a person can interrupt it


def open_embedder(spec: Spec, *, key: str | None = None) -> Embedder | None:
    """The embedder of a spec; None for none. `key` is only sent to its server."""
    match spec.kind:
        case "none":
            return None
        case "own":
            from holdfast.models.embedders import BuiltinEmbedder

            return BuiltinEmbedder()
        case "multilingual":
            from holdfast.models.embedders import MultilingualEmbedder

            return MultilingualEmbedder()
        case "ollama" | "openai":
            from holdfast.models.remote import RemoteEmbedder

            return RemoteEmbedder(spec, key=key)


def open_model(spec: LanguageSpec, *, key: str | None = None, within: float = WITHIN) -> LanguageModel:
    """The language model of a spec. `key` is only sent to its server."""
    if spec.kind == "anthropic":
        from holdfast.models.anthropic_api import AnthropicModel

        return AnthropicModel(spec, key=key, within=within)
    from holdfast.models.openai_api import OpenAIModel

    return OpenAIModel(spec, key=key, within=within)


def open_chat(spec: LanguageSpec, *, key: str | None) -> "ChatModel":
    """The chat model of a spec. Raises: Unavailable, without the vendor's SDK or a key."""
    if spec.kind == "anthropic":
        from holdfast.models.anthropic_api import AnthropicModel, AnthropicTalk

        return partial(AnthropicTalk, spec, AnthropicModel(spec, key=key, within=CHAT_WITHIN).opened())
    from holdfast.models.openai_api import OpenAIModel, OpenAITalk

    return partial(OpenAITalk, spec, OpenAIModel(spec, key=key, within=CHAT_WITHIN).opened())
