"""Spaces: created with a profile, listed, deleted."""

import re
from dataclasses import dataclass, field, replace
from typing import TypedDict, Unpack

from holdfast.domain.memory import STATES
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter
from holdfast.domain.space import Quota, Space, Stored
from holdfast.engine.ports import Clock, Store
from holdfast.engine.quota import checked
from holdfast.errors import Invalid, NotFound, nearest
from holdfast.profiles import BUILT_IN, built_in, parse

DEFAULT = "default"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


_MOST_DAYS = 3_650


class SpaceSettings(TypedDict, total=False):
    """What can be changed of a space."""

    keeps_messages: bool
    quota: Quota
    access_log: bool
    access_log_days: int


@dataclass(frozen=True, slots=True)
class Overview:
    """A space with counts of its contents."""

    space: Space
    active: int
    inactive: int
    waiting: int
    forgotten: int
    sessions: int
    stored: Stored = field(default_factory=Stored)


def create_space(
    name: str, *, store: Store, clock: Clock, profile: str = DEFAULT, text: str | None = None
) -> Space:
    """Creates a space with a built-in profile, or with the profile in the TOML `text`.

    Raises: Invalid, Conflict.
    """
    import secrets

    if not _NAME.fullmatch(name):
        raise Invalid(
            f"invalid space name {name!r}: use a-z, 0-9, _ and -, at most 63 characters", field="space"
        )
    if text is not None:
        profile = parse(text).name
    elif profile not in BUILT_IN:
        built_in(profile)  # raises an error that lists them
    space = Space(
        name=name, profile=profile, profile_text=text, key=secrets.token_hex(32), created_at=clock()
    )
    store.create_space(space)
    return space


def set_keeps_messages(name: str, keeps: bool, *, store: Store) -> Space:
    """Sets whether a space stores messages; stored ones stay.

    Raises: NotFound.
    """
    return change_space(name, store=store, keeps_messages=keeps)


def change_space(name: str, *, store: Store, **changed: Unpack[SpaceSettings]) -> Space:
    """Changes settings of a space; what is not named stays.

    Raises: NotFound, Invalid.
    """
    if not 1 <= changed.get("access_log_days", 1) <= _MOST_DAYS:
        raise Invalid(f"access_log_days must be 1 to {_MOST_DAYS:,}", field="access_log_days")
    space = replace(_existing(name, store), **changed)
    checked(space.quota)
    store.save_space(space)
    return space


def profile_of(space: Space) -> Profile:
    """The profile of a space."""
    if space.profile_text is not None:
        return parse(space.profile_text, where=f"the profile of space {space.name!r}")
    return built_in(space.profile)


def overview(name: str, *, store: Store) -> Overview:
    """Raises: NotFound."""
    _existing(name, store)
    with store.read(name) as tx:
        counts = {state: tx.memories.count(Filter(states=(state,))) for state in STATES}
        return Overview(space=tx.space, **counts, sessions=tx.sessions.count(), stored=tx.usage.total())


def delete_space(name: str, *, store: Store) -> None:
    """Deletes a space and its contents permanently.

    Raises: NotFound.
    """
    _existing(name, store)
    store.delete_space(name)
    store.scrub([], [], name)


def _existing(name: str, store: Store) -> Space:
    space = store.space(name)
    if space is None:
        there = nearest(name, [each.name for each in store.spaces()])
        raise NotFound(f"there is no space {name!r}", command=f"known spaces: {there or 'none yet'}")
    return space
