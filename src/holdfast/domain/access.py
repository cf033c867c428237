"""Access control: a grant is a set of scopes for some or all spaces."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, Final, Literal, ParamSpec, Protocol, TypeVar, get_args

from holdfast.domain.space import NO_QUOTA, Quota
from holdfast.errors import Forbidden, Invalid, no_space

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory

Scope = Literal["read", "tools", "write", "proxy", "metrics", "admin"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
#: The scopes that a scope includes.
_INCLUDED: Final[dict[Scope, frozenset[Scope]]] = {
    "read": frozenset({"read"}),
    "tools": frozenset({"read", "tools"}),
    "write": frozenset({"read", "tools", "write"}),
    "proxy": frozenset({"proxy"}),
    "metrics": frozenset({"metrics"}),
    "admin": frozenset(SCOPES),
}
_DOES: Final[dict[Scope, str]] = {
    "read": "read memories",
    "tools": "change memories",
    "write": "post messages",
    "proxy": "use the proxy",
    "metrics": "read the metrics",
    "admin": "administer a space",
}


_PERSON: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


def is_person(name: object) -> bool:
    """Whether it is the name of a person."""
    return isinstance(name, str) and _PERSON.fullmatch(name) is not None


def checked_person(name: str | None) -> str | None:
    """The name of a person, if one is given.

    Raises: Invalid.
    """
    if name is not None and not is_person(name):
        raise Invalid(
            f"{name[:60]!r} is not a name for a person: use 1 to 40 small letters, digits, '.', '_' and '-', "
            "such as ana",
            field="person",
        )
    return name


@dataclass(frozen=True, slots=True)
class Reader:
    """Which memories a transaction shows: the shared ones, and the private ones of one person or of all."""

    person: str | None = None
    everybody: bool = False
    shared: bool = True  # false: the private ones of `person` alone

    def sees(self, memory: "Memory") -> bool:
        """Whether a memory is shown; the store has it in SQL."""
        if not memory.private:
            return self.shared
        return self.everybody or (self.person is not None and memory.source.person == self.person)

    @classmethod
    def of_private(cls, person: str | None) -> "Reader":
        """Sees only what is private to `person`; None: only what is shared."""
        return cls(person, shared=person is None)


#: Whoever holds the database itself.
ALL_MEMORIES: Final = Reader(everybody=True)


@dataclass(frozen=True, slots=True)
class Grant:
    """Scopes in some spaces, or in all of them."""

    scopes: frozenset[Scope]
    spaces: tuple[str, ...] | None = None  # None: all spaces, including future ones
    token: str | None = None  # the id of the token that carries it; for the logs
    until: datetime | None = field(default=None, compare=False)  # when the token expires
    max_requests: int | None = field(default=None, compare=False)  # a minute
    quota: Quota = field(default=NO_QUOTA, compare=False)  # what it may add to each space
    person: str | None = field(default=None, compare=False)  # who uses the token

    @classmethod
    def of(cls, *scopes: str, spaces: tuple[str, ...] | None = None, token: str | None = None) -> "Grant":
        """Raises: Invalid, for an unknown scope."""
        held: set[Scope] = set()
        for scope in scopes:
            if scope not in SCOPES:
                raise Invalid(f"unknown scope {scope!r}: use {', '.join(SCOPES)}", field="scope")
            held |= _INCLUDED[scope]
        return cls(frozenset(held), spaces, token)

    @property
    def reader(self) -> Reader:
        """Which memories it shows: without a token, all of them."""
        return ALL_MEMORIES if self.token is None else Reader(self.person)

    def require_person(self, person: str | None) -> None:
        """Checks that the grant may act for a person. Raises: Forbidden."""
        if self.token is not None and person not in (None, self.person):
            raise Forbidden(
                f"this token may not act for {person}: use a token of that person, "
                "or the command line on the database"
            )

    def reaches(self, space: str) -> bool:
        return self.spaces is None or space in self.spaces

    def allows(self, scope: Scope) -> bool:
        return scope in self.scopes

    def require(self, scope: Scope, *, everywhere: str | None = None) -> None:
        """Checks a scope. Raises: Forbidden; with the text `everywhere`, if only some spaces are covered."""
        if scope not in self.scopes:
            raise Forbidden(f"this token may not {_DOES[scope]}: it needs the scope {scope!r}")
        if everywhere is not None and self.spaces is not None:
            raise Forbidden(everywhere)

    def require_space(self, space: str) -> str:
        """Checks that the grant covers a space, and returns its name.

        Raises: NotFound, not Forbidden, so that the existence of other spaces does not leak.
        """
        if not self.reaches(space):
            raise no_space(space)
        return space


#: The error for a token that covers only some spaces.
METRICS_EVERYWHERE: Final = "metrics cover all spaces: use a token for all spaces"
#: A program that holds the database itself may do everything.
EVERYTHING: Final = Grant.of("admin")


class Holder(Protocol):
    """An object with a grant."""

    _grant: Grant


HolderT = TypeVar("HolderT", bound=Holder)
Given = ParamSpec("Given")
Result = TypeVar("Result")
Method = Callable[Concatenate[HolderT, Given], Result]


def needs(
    scope: Scope, *, everywhere: str | None = None
) -> Callable[[Method[HolderT, Given, Result]], Method[HolderT, Given, Result]]:
    """Declares the scope of a method; `everywhere` is the error for a grant of only some spaces."""

    def declared(method: Method[HolderT, Given, Result]) -> Method[HolderT, Given, Result]:
        @wraps(method)
        def checked(self: HolderT, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
            self._grant.require(scope, everywhere=everywhere)
            return method(self, *args, **kwargs)

        checked.__needs__ = scope  # type: ignore[attr-defined]
        return checked

    return declared
