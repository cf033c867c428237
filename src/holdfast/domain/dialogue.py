"""A conversation as a client of a model API sends it: all turns in every request, without ids.

A turn is identified by the messages up to it, so that it is stored once.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.domain.text import normal_form


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn: a message of the user, or an answer of the model."""

    role: Literal["user", "assistant"]
    text: str  # empty if the model only called tools
    place: int = -1  # the index of its message in the request; None for a new answer
    speaker: str | None = None
    calls: tuple[str, ...] = ()  # ids of the tools that the model called


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """All turns so far, and what the client reports about itself."""

    turns: tuple[Turn, ...]
    asks: bool = False  # whether the last turn is a user's, so that the answer is still missing
    session: str | None = None  # as the client names it, if it does
    project: str | None = None
    client: str | None = None
    tools: tuple[str, ...] = ()  # that the model may call, by the client's names

    def offers(self, tools: Sequence[str]) -> bool:
        """Whether the model can call one of these; clients put a server's name before a tool's."""
        return any(mine == name or mine.endswith(f"_{name}") for mine in self.tools for name in tools)

    @property
    def opening(self) -> str:
        """The first message of the user."""
        return next((turn.text for turn in self.turns if turn.role == "user"), "")

    @property
    def first_reply(self) -> str | None:
        """A hash of the model's first answer, for conversations with the same first message."""
        return next((mark(turn) for turn in self.turns if turn.role == "assistant"), None)


def mark(turn: Turn) -> str:
    """A hash that ignores surrounding white space, which clients trim."""
    return "\n".join((normal_form(turn.text), *turn.calls))


def names(turns: Sequence[Turn], session: str, key: str) -> list[str]:
    """A name for each turn: the same in every request, until an earlier turn is edited.

    A turn of the user is named by the user's messages up to it, an answer by its position after that turn:
    clients change answers, and a regenerated answer counts once.
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
    """A keyed hash, so that texts can't be guessed without the space's key."""
    made = hmac.new(bytes.fromhex(key), digestmod=hashlib.sha256)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        made.update(f"{len(encoded)}:".encode() + encoded)
    return made.hexdigest()[:40]
