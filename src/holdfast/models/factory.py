"""Opens models by their names. Nothing is loaded and no server is asked before they are used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.engine.ports import Embedder, LanguageModel
    from holdfast.models.language_spec import LanguageSpec
    from holdfast.models.spec import Spec


def opened(spec: "Spec", *, key: str | None = None) -> "Embedder | None":
    """The embedder that `spec` names; none for none. `key` goes to its server and nowhere else."""
    match spec.kind:
        case "none":
            return None
        case "own":
            from holdfast.models.embedder import OwnEmbedder

            return OwnEmbedder()
        case "multilingual":
            from holdfast.models.multilingual import Multilingual

            return Multilingual()
        case "ollama" | "openai":
            from holdfast.models.remote import RemoteEmbedder

            return RemoteEmbedder(spec, key=key)


def opened_model(
    spec: "LanguageSpec", *, key: str | None = None, within: float | None = None
) -> "LanguageModel":
    """The model that `spec` names; `key` goes to its server and nowhere else."""
    from holdfast.models.sdk_errors import WITHIN

    if spec.kind == "anthropic":
        from holdfast.models.anthropic_model import AnthropicModel

        return AnthropicModel(spec, key=key, within=within or WITHIN)
    from holdfast.models.openai_model import OpenAIModel

    return OpenAIModel(spec, key=key, within=within or WITHIN)
