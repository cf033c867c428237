"""The interface of a chat model that calls tools; implemented in `anthropic_api` and `openai_api`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

INTERRUPTED = "(interrupted)"

Show = Callable[[str], None]  # a piece of an answer, as it comes


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model; `arguments` is None if they are not a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call."""

    call: ToolCall
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """One answer of the model: text and tool calls."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    cut_short: str | None = None  # why the answer is incomplete, for the user
    input_tokens: int = 0
    output_tokens: int = 0


class Talk(Protocol):
    """One conversation. Messages are only appended, so that the prompt stays cached."""

    @property
    def name(self) -> str:
        """The name of the model in settings."""

    def hear(self, text: str) -> None:
        """Adds a message of the user."""

    def take_back(self) -> None:
        """Removes the last message of the user, after an error."""

    def hand_back(self, results: Sequence[ToolResult]) -> None:
        """Adds the results of all tool calls of the last answer."""

    def answer(self, show: Show) -> ModelTurn:
        """The model's next answer.

        Raises: ModelTrouble and its subclasses; the conversation is unchanged then.
        """

    def break_off(self, said: str = "") -> None:
        """Ends an interrupted exchange, so that the next one can begin; `said` is the text so far."""

    def close(self) -> None:
        """Closes the connection to the server."""


class ChatModel(Protocol):
    """A chat model."""

    def __call__(self, *, system: str, tools: Sequence[Mapping[str, Any]]) -> Talk:
        """Starts a conversation; `tools` are in the format of the Messages API."""
