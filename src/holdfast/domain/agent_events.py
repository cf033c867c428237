"""What can happen in an agent's output, in words that all agents share.

Who reads an agent's format and who acts on what is read do not know each other; both know this.
"""

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

    shown: str | None  # the last answer as the agent prints it, line end included; none = nothing known
    usage: Mapping[str, Any] | None


Happening = AssistantText | OtherText | TurnEnd


class Stream(Protocol):
    """Reads one agent's output; one object for one run."""

    def line(self, line: bytes) -> Iterable[Happening]:
        """What one whole line tells, its line end taken off."""

    def end(self) -> Iterable[Happening]:
        """What is left to tell when the output has ended."""
