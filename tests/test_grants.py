"""Rights are checked at the engine's entry: every verb declares its scope, and holds who has less to it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import timedelta
from inspect import getattr_static
from typing import Any

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.access import SCOPES, Grant, Scope
from holdfast.engine.administration import Administration
from holdfast.engine.ports import Store
from holdfast.engine.tokens import grant_of, hashed
from holdfast.errors import Forbidden, Invalid, NotFound
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

#: What holds no memory: how one gets hold of a space and lets go of it, and what is asked for to speak of it.
FREE = {"open", "of", "speaking_as", "granted", "space", "origin", "person", "profile", "budget", "close"}
VERBS = sorted(name for name in dir(Memories) if not name.startswith("_") and name not in FREE)
OFFICE = sorted(name for name in vars(Administration) if not name.startswith("_") and name != "granted")


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = open_store(database_url)
    yield store
    store.close()


def needed(method: Any) -> Scope | None:
    """The scope that a method or property was declared with."""
    scope: Scope | None = getattr(getattr(method, "fget", method), "__needs__", None)
    return scope


@pytest.fixture
def administration(store: Store, clock: FixedClock) -> Administration:
    made = Administration(store, clock=clock)
    made.create_space("ours")
    made.create_space("theirs")
    return made


@requirement("trust.spaces")
def test_no_verb_is_left_without_a_scope() -> None:
    assert [name for name in VERBS if needed(getattr_static(Memories, name)) is None] == []
    assert [name for name in OFFICE if needed(vars(Administration)[name]) is None] == []
    assert {needed(getattr_static(Memories, name)) for name in VERBS} == {
        "read",
        "tools",
        "write",
        "proxy",
        "admin",
    }


@requirement("trust.spaces")
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_refused_to_whoever_lacks_its_scope(sqlite_url: str, verb: str) -> None:
    scope = needed(getattr_static(Memories, verb))
    with Memories.open(sqlite_url) as memories:
        for held in SCOPES:
            grant = Grant.of(held)
            limited = memories.granted(grant)
            if scope is not None and not grant.allows(scope):
                with pytest.raises(Forbidden):
                    _called(limited, verb)


def _called(memories: Memories, verb: str) -> None:
    """Calls it with anything: who may not, is not even asked what for."""
    method: Any = getattr(memories, verb)
    wanted = inspect.signature(method).parameters.values()
    positional = [
        object()
        for one in wanted
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    method(*positional)


@requirement("trust.spaces")
def test_a_grant_for_one_space_does_not_open_another(store: Store, administration: Administration) -> None:
    grant = Grant.of("admin", spaces=("ours",))

    with pytest.raises(NotFound) as foreign:
        Memories.of(store, "theirs").granted(grant)
    with pytest.raises(NotFound) as missing:
        administration.granted(grant).space("nothing")

    assert str(foreign.value).replace("theirs", "nothing") == str(missing.value)
    assert [one.space.name for one in administration.granted(grant).spaces()] == ["ours"]


def test_another_speaker_has_no_more_rights(store: Store, administration: Administration) -> None:
    reader = Memories.of(store, "ours").granted(Grant.of("read"))

    with pytest.raises(Forbidden):
        reader.speaking_as("operator").remember("Deploys run on Fridays")


@requirement("trust.spaces", "trust.secrets")
def test_of_a_token_only_the_hash_is_kept(store: Store, administration: Administration) -> None:
    made = administration.create_token("write", spaces=("ours",), name="a frontend")

    [known] = store.tokens.all()

    assert known == made.token
    assert (known.hash, known.name, known.spaces) == (hashed(made.secret), "a frontend", ("ours",))
    assert made.secret not in repr(known)


def test_a_token_grants_what_it_was_made_for_until_it_is_revoked(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    made = administration.create_token("write", spaces=("ours",))

    grant = grant_of(made.secret, store=store, now=clock.now())
    administration.revoke_token(made.token.id)

    assert grant == Grant.of("write", spaces=("ours",), token=made.token.id)
    assert grant_of(made.secret, store=store, now=clock.now()) is None


@pytest.mark.parametrize(
    "secret", ["", "hf_", "hf_" + "x" * 43, "hf_" + "é" * 43, "x" * 1_000_000, "\0", "hf_\ud800"]
)
def test_what_is_no_token_grants_nothing(
    store: Store, administration: Administration, clock: FixedClock, secret: str
) -> None:
    administration.create_token("read", spaces=("ours",))

    assert grant_of(secret, store=store, now=clock.now()) is None


def test_when_a_token_was_used_is_noted_once_an_hour(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    made = administration.create_token("read", spaces=("ours",))
    start = clock.now()
    noted = []
    for minutes in (0, 30, 29, 1):
        clock.advance(minutes=minutes)
        grant_of(made.secret, store=store, now=clock.now())
        noted.append(store.tokens.all()[0].used_at)

    assert noted == [start, start, start, start + timedelta(hours=1)]


@pytest.mark.parametrize(
    ("scopes", "spaces", "field"),
    [
        (("reed",), ("ours",), "scope"),
        ((), ("ours",), "scope"),
        (("proxy",), ("ours", "theirs"), "space"),
        (("proxy",), None, "space"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(
    administration: Administration, scopes: tuple[str, ...], spaces: tuple[str, ...] | None, field: str
) -> None:
    with pytest.raises(Invalid) as wrong:
        administration.create_token(*scopes, spaces=spaces)

    assert wrong.value.field == field
    assert administration.tokens() == []


def test_a_deleted_space_leaves_every_token(administration: Administration) -> None:
    administration.create_token("read", spaces=("ours", "theirs"))
    administration.create_token("read", spaces=("ours",))
    administration.create_token("read")

    administration.delete_space("ours")

    assert {token.spaces for token in administration.tokens()} == {("theirs",), (), None}
