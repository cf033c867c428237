"""Opens a language model by its name. Nothing is loaded and no server is asked before it is used."""

from holdfast.engine.ports import LanguageModel
from holdfast.models.language_spec import LanguageSpec


def opened_model(spec: LanguageSpec, *, key: str | None = None, within: float | None = None) -> LanguageModel:
    """The model that `spec` names; `key` goes to its server and nowhere else."""
    from holdfast.models.sdk_errors import WITHIN

    if spec.kind == "anthropic":
        from holdfast.models.anthropic_model import AnthropicModel

        return AnthropicModel(spec, key=key, within=within or WITHIN)
    from holdfast.models.openai_model import OpenAIModel

    return OpenAIModel(spec, key=key, within=within or WITHIN)
