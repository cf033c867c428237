"""The events in an agent's output, the same for all agents: from the parsers to the recorder."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class AssistantText:
    """A complete text of the assistant, in the main conversation."""

    text: str
    message: str | None = None  # the agent's own id of it


@dataclass(frozen=True, slots=True)
class OtherText:
    """A text that the assistant did not write: tool output, another agent's words, what a hook put in."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn is over: what the agent would have printed, and what it cost."""

    shown: str | None  # the last answer as the agent prints it, line end included; None if unknown
    usage: Mapping[str, Any] | None


Happening = AssistantText | OtherText | TurnEnd


class Stream(Protocol):
    """Reads one agent's output; one object for one run."""

    def line(self, line: bytes) -> Iterable[Happening]:
        """The events of one line, without its line end."""

    def end(self) -> Iterable[Happening]:
        """The events that are left when the output has ended."""
