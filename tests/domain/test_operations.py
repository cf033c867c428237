"""Actions inside their window, and when another one is allowed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from holdfast.domain.operations import Attempt, cooldown_statuses
from holdfast.profiles import built_in
from tests.requirements_ledger import requirement

COOLDOWNS = built_in("ops").cooldowns
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def attempt(action: str, service: str, hours_ago: float, *, succeeded: bool = True) -> Attempt:
    return Attempt(
        id=f"{action}-{service}-{hours_ago}",
        action=action,
        service=service,
        succeeded=succeeded,
        content=None,
        session=None,
        created_at=NOW - timedelta(hours=hours_ago),
    )


@requirement("ops.cooldowns")
def test_two_restarts_in_four_hours_are_the_most() -> None:
    attempts = [attempt("restart", "jellyfin", 1), attempt("restart", "jellyfin", 3, succeeded=False)]

    (standing,) = cooldown_statuses(attempts, COOLDOWNS, NOW)

    assert [done.succeeded for done in standing.attempts] == [True, False]
    assert not standing.allowed
    assert standing.free_at == NOW + timedelta(hours=1)


@requirement("ops.cooldowns")
def test_what_left_its_window_counts_no_more() -> None:
    attempts = [attempt("restart", "jellyfin", 1), attempt("restart", "jellyfin", 4)]

    (standing,) = cooldown_statuses(attempts, COOLDOWNS, NOW)

    assert len(standing.attempts) == 1
    assert standing.allowed


@requirement("ops.cooldowns")
def test_each_service_and_each_action_stands_alone() -> None:
    attempts = [
        attempt("redeployment", "caddy", 23),
        attempt("restart", "caddy", 1),
        attempt("restart", "adguard", 0.5),
        attempt("redeployment", "adguard", 25),
    ]

    found = cooldown_statuses(attempts, COOLDOWNS, NOW)

    assert [(each.service, each.cooldown.name, each.allowed) for each in found] == [
        ("adguard", "restart", True),
        ("caddy", "restart", True),
        ("caddy", "redeployment", False),
    ]


def test_more_than_the_most_wait_until_enough_have_left() -> None:
    attempts = [attempt("restart", "a", hours) for hours in (0.5, 1, 2, 3)]

    (standing,) = cooldown_statuses(attempts, COOLDOWNS, NOW)

    assert standing.free_at == NOW + timedelta(hours=3)


def test_an_action_that_the_profile_no_longer_has_is_left_out() -> None:
    assert cooldown_statuses([attempt("reboot", "a", 1)], COOLDOWNS, NOW) == []
