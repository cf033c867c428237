"""A conversation as a model's client sends it: the whole of it at every request, and names for its turns.

The client knows nothing of a memory, so a turn is known again by what was said up to it. Pure; knows no wire
format and no storage.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.domain.text import normal_form


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a person said, or what the model answered."""

    role: Literal["user", "assistant"]
    text: str  # empty, when the model said nothing and called tools
    place: int = -1  # which of the request's messages it is; none of them for an answer that just came
    speaker: str | None = None
    calls: tuple[str, ...] = ()  # ids of the tools that the model called


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """All turns so far, and what the client says of itself."""

    turns: tuple[Turn, ...]
    asks: bool = False  # whether the last turn is a person's, who waits for the answer to it
    session: str | None = None  # as the client names it, if it does
    project: str | None = None
    client: str | None = None
    tools: tuple[str, ...] = ()  # that the model may call, by the client's names

    def offers(self, tools: Sequence[str]) -> bool:
        """Whether the model can call one of these; clients put a server's name before a tool's."""
        return any(mine == name or mine.endswith(f"_{name}") for mine in self.tools for name in tools)

    @property
    def opening(self) -> str:
        """What the person said first."""
        return next((turn.text for turn in self.turns if turn.role == "user"), "")

    @property
    def first_reply(self) -> str | None:
        """A mark of the model's first answer, by which conversations that begin alike are told apart."""
        return next((mark(turn) for turn in self.turns if turn.role == "assistant"), None)


def mark(turn: Turn) -> str:
    """What an answer is known by, though clients trim it before they send it back."""
    return "\n".join((normal_form(turn.text), *turn.calls))


def names(turns: Sequence[Turn], session: str, key: str) -> list[str]:
    """A name for each turn: the same at every request, another one once anything before it was edited.

    A person's turn is named by what people said up to it, an answer by its number behind that turn: clients
    change answers, and what was asked for again counts once.
    """
    found: list[str] = []
    so_far, answers = digest(key, "session", session), 0
    for turn in turns:
        if turn.role == "user":
            so_far, answers = digest(key, so_far, turn.text), 0
            found.append(f"turn-{so_far}")
        else:
            answers += 1
            found.append(f"turn-{so_far}-{answers}")
    return found


def digest(key: str, *parts: str) -> str:
    """A hash that nobody can guess texts from who does not hold the space's key."""
    made = hmac.new(bytes.fromhex(key), digestmod=hashlib.sha256)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        made.update(f"{len(encoded)}:".encode() + encoded)
    return made.hexdigest()[:40]
