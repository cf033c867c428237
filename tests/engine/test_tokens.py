"""Tokens: until when their secrets work, how they are rotated, and what limits they have."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from holdfast.domain.space import Quota
from holdfast.engine.administration import Administration
from holdfast.engine.ports import Store
from holdfast.engine.tokens import LIFETIME, IssuedToken, duration, grant_of, lifetime
from holdfast.errors import Conflict, Forbidden, Invalid, NotFound, TokenExpired
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement


@pytest.fixture
def administration(store: Store, clock: FixedClock) -> Administration:
    made = Administration(store, clock=clock)
    made.create_space("ours")
    made.create_space("theirs")
    return made


def made(administration: Administration, days: int | None = 90) -> IssuedToken:
    span = timedelta(days=days) if days is not None else None
    return administration.create_token("write", spaces=("ours",), lifetime=span)


@requirement("trust.tokens.expire")
def test_a_token_works_until_it_expires_and_then_says_so(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    issued = made(administration)
    clock.advance(days=89, hours=23)
    before = grant_of(issued.secret, store=store, now=clock.now())
    clock.advance(hours=1)

    with pytest.raises(TokenExpired, match="expired on 2026-05-30"):
        grant_of(issued.secret, store=store, now=clock.now())

    assert before is not None
    assert before.until == issued.token.expires_at == clock.now()


@requirement("trust.tokens.expire")
def test_a_token_of_an_older_release_does_not_expire(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    usual = administration.create_token("read", spaces=("ours",))
    forever = made(administration, days=None)
    clock.advance(days=4_000)

    grant = grant_of(forever.secret, store=store, now=clock.now())

    assert grant is not None
    assert grant.until is None
    assert usual.token.expires_at == usual.token.created_at + LIFETIME


@requirement("trust.tokens.rotate")
def test_after_a_rotation_the_old_secret_works_for_the_time_of_grace_alone(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    first = made(administration)
    clock.advance(days=30)
    second = administration.rotate_token(first.token.id, grace=timedelta(hours=24))
    clock.advance(hours=23)
    both = [grant_of(one.secret, store=store, now=clock.now()) for one in (first, second)]
    clock.advance(hours=1)

    with pytest.raises(TokenExpired, match="rotated on 2026-03-31: use its new secret"):
        grant_of(first.secret, store=store, now=clock.now())

    assert both[0] == both[1] == grant_of(second.secret, store=store, now=clock.now())
    assert [grant.until for grant in both if grant] == [clock.now(), second.token.expires_at]
    assert second.token.expires_at == clock.now() - timedelta(days=1) + timedelta(days=90)


@requirement("trust.tokens.rotate")
def test_without_grace_the_old_secret_stops_working_at_once_and_the_one_before_is_unknown(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    first = made(administration)
    second = administration.rotate_token(first.token.id, grace=timedelta(days=1))

    third = administration.rotate_token(first.token.id)

    with pytest.raises(TokenExpired, match="rotated"):
        grant_of(second.secret, store=store, now=clock.now())
    assert grant_of(first.secret, store=store, now=clock.now()) is None
    assert grant_of(third.secret, store=store, now=clock.now()) is not None
    assert not any(one.secret in repr(store.tokens.all()) for one in (first, second, third))


@requirement("trust.tokens.rotate")
def test_an_expired_token_can_be_rotated_and_a_revoked_one_not(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    expired, revoked = made(administration, days=1), made(administration)
    administration.revoke_token(revoked.token.id)
    clock.advance(days=2)

    again = administration.rotate_token(expired.token.id)

    assert grant_of(again.secret, store=store, now=clock.now()) is not None
    with pytest.raises(Conflict, match="was revoked"):
        administration.rotate_token(revoked.token.id)
    with pytest.raises(NotFound):
        administration.rotate_token("nothing")


def test_a_revoked_token_is_unknown_by_both_of_its_secrets(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    first = made(administration)
    second = administration.rotate_token(first.token.id, grace=timedelta(days=1))

    administration.revoke_token(first.token.id)

    assert [grant_of(one.secret, store=store, now=clock.now()) for one in (first, second)] == [None, None]


def test_limits_are_part_of_the_grant_and_change_one_by_one(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    issued = made(administration)

    administration.change_token(issued.token.id, max_requests=60, max_memories=5)
    administration.change_token(issued.token.id, max_memories=None, max_bytes=0)

    grant = grant_of(issued.secret, store=store, now=clock.now())
    assert grant is not None
    assert (grant.max_requests, grant.quota.max_memories, grant.quota.max_bytes) == (60, None, 0)
    assert administration.tokens() == [
        replace(issued.token, max_requests=60, quota=grant.quota, used_at=clock.now())
    ]


@pytest.mark.parametrize(
    "limits", [{"max_requests": 0}, {"max_memories": -1}, {"max_bytes": 2**60}, {"max_requests": 10**9}]
)
def test_a_limit_that_is_none_is_refused(administration: Administration, limits: dict[str, int]) -> None:
    issued = made(administration)

    with pytest.raises(Invalid) as wrong:
        administration.change_token(issued.token.id, **limits)

    assert wrong.value.field in limits
    assert administration.tokens() == [issued.token]


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1.5d", "90 days", "1y", "4000d", "٣d", "9999999d"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="such as 24h, 90d or 8w"):
        duration(text, "grace")


def test_times_are_hours_days_and_weeks() -> None:
    assert [duration(text, "grace") for text in ("24h", " 1d", "2w", "0h")] == [
        timedelta(days=1),
        timedelta(days=1),
        timedelta(days=14),
        timedelta(),
    ]
    assert lifetime("never") is None
    with pytest.raises(Invalid, match="at least 1h"):
        lifetime("0d")


def limited_admin(administration: Administration, store: Store, clock: FixedClock) -> Administration:
    """Tokens as an admin token for 30 days, 60 requests a minute and 5 memories sees them."""
    issued = administration.create_token(
        "admin",
        spaces=("ours",),
        lifetime=timedelta(days=30),
        max_requests=60,
        quota=Quota(max_memories=5),
    )
    grant = grant_of(issued.secret, store=store, now=clock.now())
    assert grant is not None
    return administration.granted(grant)


@requirement("trust.tokens.bounded")
def test_a_token_made_by_a_limited_token_has_its_limits_and_its_expiry(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    admin = limited_admin(administration, store, clock)
    clock.advance(days=10)

    usual = admin.create_token("admin", spaces=("ours",)).token
    less = admin.create_token(
        "read",
        spaces=("ours",),
        lifetime=timedelta(days=20),
        max_requests=2,
        quota=Quota(max_memories=5, max_bytes=9),
    ).token

    assert (usual.expires_at, usual.max_requests, usual.quota) == (
        clock.now() + timedelta(days=20),
        60,
        Quota(max_memories=5),
    )
    assert (less.expires_at, less.max_requests) == (usual.expires_at, 2)
    assert less.quota == Quota(max_memories=5, max_bytes=9)


@requirement("trust.tokens.bounded")
@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"lifetime": timedelta(days=31)}, "your own token expires on 2026-03-31"),
        ({"lifetime": None}, "your own token expires on 2026-03-31"),
        ({"max_requests": 61}, "max_requests can't be 61: your own token is limited to 60"),
        ({"quota": Quota(max_memories=6)}, "max_memories can't be 6: your own token is limited to 5"),
    ],
)
def test_a_limited_token_makes_none_that_may_do_more_or_works_longer(
    store: Store, administration: Administration, clock: FixedClock, more: dict[str, Any], says: str
) -> None:
    admin = limited_admin(administration, store, clock)

    with pytest.raises(Forbidden, match=says):
        admin.create_token("read", spaces=("ours",), **more)

    assert len(admin.tokens()) == 1


@requirement("trust.tokens.bounded")
def test_a_limited_token_neither_lifts_limits_nor_takes_over_a_token_without_them(
    store: Store, administration: Administration, clock: FixedClock
) -> None:
    free = made(administration, days=None)
    admin = limited_admin(administration, store, clock)
    [own] = [one for one in admin.tokens() if one.max_requests == 60]

    for name, most in (("max_requests", None), ("max_memories", 6)):
        with pytest.raises(Forbidden, match=name):
            admin.change_token(own.id, **{name: most})
    with pytest.raises(Forbidden, match="max_requests can't be none"):
        admin.rotate_token(free.token.id)
    clock.advance(days=10)
    again = admin.rotate_token(own.id)

    assert grant_of(free.secret, store=store, now=clock.now()) is not None
    assert again.token.expires_at == own.expires_at
    assert admin.change_token(free.token.id, max_requests=9, max_memories=1).max_requests == 9
