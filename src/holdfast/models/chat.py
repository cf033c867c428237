"""A talk with a model that may call tools: what is said, what it answers as it comes, what tools gave.

Here is what all vendors have in common; how each is asked stands in `anthropic_chat` and `openai_chat`.
Knows nothing of memories: tools are names, descriptions and schemas.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.models.language_spec import LanguageSpec

WITHIN = 600.0  # seconds for one answer; a person can break it off
INTERRUPTED = "(interrupted)"

Show = Callable[[str], None]  # a piece of an answer, as it comes


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called; no arguments where what it sent is no object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave."""

    call: ToolCall
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """One answer of the model: what it said, and what it wants done before it goes on."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    cut_short: str | None = None  # why it is not whole, in words for the person
    input_tokens: int = 0
    output_tokens: int = 0


class Talk(Protocol):
    """One conversation. What was said stays as it was said: a prompt that only grows is cached."""

    @property
    def name(self) -> str:
        """The model, as settings spell it."""

    def hear(self, text: str) -> None:
        """Takes what the person said."""

    def take_back(self) -> None:
        """Unsays the last thing heard, when nothing came of it."""

    def hand_back(self, results: Sequence[ToolResult]) -> None:
        """Takes what the tools gave that the last answer called, all of them."""

    def answer(self, show: Show) -> ModelTurn:
        """The model's next answer.

        Raises: ModelTrouble and its kinds; then nothing was added to the conversation.
        """

    def break_off(self, said: str = "") -> None:
        """Ends an exchange in the middle, so that the next one can begin; `said` is how far it came."""

    def close(self) -> None:
        """Lets go of the connection to the server."""


class ChatModel(Protocol):
    """A model that can be talked with."""

    def __call__(self, *, system: str, tools: Sequence[Mapping[str, Any]]) -> Talk:
        """Begins a talk; `tools` are as the Messages API has them."""


def connected(spec: LanguageSpec, *, key: str | None, within: float = WITHIN) -> ChatModel:
    """The model that `spec` names; no server is asked yet.

    Raises: Unavailable, without the vendor's SDK or a key, saying what to do.
    """
    from functools import partial

    if spec.kind == "anthropic":
        from holdfast.models.anthropic_chat import AnthropicTalk
        from holdfast.models.anthropic_model import AnthropicModel

        return partial(AnthropicTalk, spec, AnthropicModel(spec, key=key, within=within).opened())
    from holdfast.models.openai_chat import OpenAITalk
    from holdfast.models.openai_model import OpenAIModel

    return partial(OpenAITalk, spec, OpenAIModel(spec, key=key, within=within).opened())
