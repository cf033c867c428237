"""The one error tree. It knows nothing of HTTP, exit codes or databases.

    HoldfastError
    ├── Invalid                 what was given can't be taken as it is
    │   ├── UnknownCategory
    │   ├── TooShort
    │   └── TooLong
    ├── NotFound                no such memory, session or space here
    ├── Conflict                says something else than before, or than what is known
    │   └── Outdated            it changed since the caller looked
    ├── Forbidden               the caller's token does not allow it
    │   ├── TokenExpired        it did until some day
    │   └── QuotaExceeded       nothing more may be stored
    └── Unavailable             the store can't be used now; nothing was lost
        └── NewerSchema         a newer release wrote this store

Expected results (reinforced, refused, waiting ...) are outcomes, not errors.
"""

from collections.abc import Iterable

_NAMED = 10  # names in an error


class HoldfastError(Exception):
    """Something that a caller can be told in one line, with what would be right.

    `command` is advice for the command line, and only said there: other doors have other ways.
    """

    def __init__(self, message: str = "", *, command: str | None = None) -> None:
        super().__init__(message)
        self.command = command


class Invalid(HoldfastError):
    """What was given can't be taken as it is."""

    def __init__(self, message: str, *, field: str | None = None, command: str | None = None) -> None:
        super().__init__(message, command=command)
        self.field = field


class UnknownCategory(Invalid):
    """A category that the profile does not have."""

    def __init__(self, category: str, allowed: Iterable[str]) -> None:
        self.category = category
        self.allowed = tuple(allowed)
        names = ", ".join(self.allowed)
        super().__init__(f"unknown category {category!r}: use one of {names}", field="category")


class TooShort(Invalid):
    """A text under its least length."""


class TooLong(Invalid):
    """A text over its greatest length."""


class NotFound(HoldfastError):
    """No such memory, session or space here."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Some of the known names for an error, the most similar first."""
    from difflib import SequenceMatcher

    by_likeness = sorted(known, key=lambda each: (-SequenceMatcher(None, name, each).ratio(), each))
    more = f" and {len(by_likeness) - _NAMED:,} more" if len(by_likeness) > _NAMED else ""
    return f"{', '.join(by_likeness[:_NAMED])}{more}"


def no_space(name: str, known: Iterable[str] = ()) -> NotFound:
    """The error for a space that does not exist, or that the caller may not see; `known` do exist."""
    listed = nearest(name, known)
    command = f"create it with `holdfast space create {name}`"
    return NotFound(
        f"there is no space {name!r}", command=f"use {listed}, or {command}" if listed else command
    )


class Conflict(HoldfastError):
    """It changed meanwhile, or the same key came with something else."""


class Outdated(Conflict):
    """It has another version than the one that the caller last saw."""


class Forbidden(HoldfastError):
    """The caller's token does not allow it, whatever is there."""


class TokenExpired(Forbidden):
    """The token was valid until some day, or another secret has taken the place of this one."""


class QuotaExceeded(Forbidden):
    """The space or the token has stored as much as it may; nothing of the call was stored."""


class Unavailable(HoldfastError):
    """The store can't be used now; what was acknowledged before is safe."""


class NewerSchema(Unavailable):
    """A newer release of Holdfast wrote this store."""
