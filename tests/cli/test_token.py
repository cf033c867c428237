"""`holdfast token`: made, shown once, listed without secrets, revoked."""

from __future__ import annotations

import json

import pytest

from holdfast.app.wiring import open_store
from holdfast.engine.tokens import grant_of
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@pytest.fixture
def ours(shell: Shell) -> Shell:
    shell.in_space("ours", "default")
    return shell


@requirement("trust.spaces")
def test_a_token_is_created_for_a_space_and_shown_once(ours: Shell) -> None:
    made = ours.json("token", "create", "--space", "ours", "--scope", "write", "--name", "a frontend")

    store = open_store(ours.db)
    grant = grant_of(made["token"], store=store, now=ours.clock.now())
    store.close()
    assert grant is not None
    assert (grant.spaces, grant.allows("write"), grant.allows("admin")) == (("ours",), True, False)
    listed = ours.says("token", "list", "--json")
    assert made["token"] not in listed + ours.says("token", "list")
    [one] = json.loads(listed)["tokens"]
    assert (one["id"], one["name"], one["scopes"], one["spaces"]) == (
        made["id"],
        "a frontend",
        ["write"],
        ["ours"],
    )


def test_people_are_told_the_secret_and_that_it_is_not_shown_again(ours: Shell) -> None:
    said = ours.says("token", "create", "--space", "ours", "--scope", "read")

    assert "hf_" in said
    assert "not shown again" in said
    assert "read in ours" in ours.says("token", "list")


def test_a_revoked_token_opens_nothing(ours: Shell) -> None:
    made = ours.json("token", "create", "--all-spaces", "--scope", "admin")

    said = ours.says("token", "revoke", made["id"])

    store = open_store(ours.db)
    assert grant_of(made["token"], store=store, now=ours.clock.now()) is None
    store.close()
    assert "admin in all spaces" in said


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--scope", "read"), 2, "--all-spaces"),
        (("--scope", "read", "--space", "ours", "--all-spaces"), 2, "--all-spaces"),
        (("--space", "ours"), 2, "--scope"),
        (("--space", "ours", "--scope", "reed"), 2, "reed"),
        (("--space", "nothing", "--scope", "read"), 1, "there is no space 'nothing'"),
        (("--all-spaces", "--scope", "proxy"), 1, "one space"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(
    ours: Shell, arguments: tuple[str, ...], code: int, says: str
) -> None:
    result = ours("token", "create", *arguments)

    assert result.exit_code == code
    assert says in result.output
    assert ours.json("token", "list") == {"tokens": [], "total": 0}


def test_an_unknown_token_is_named(ours: Shell) -> None:
    result = ours("token", "revoke", "zzzzzzzz")

    assert result.exit_code == 1
    assert "no token 'zzzzzzzz'" in result.output


@requirement("trust.tokens.expire", "trust.tokens.rotate")
def test_a_token_is_made_for_a_time_limited_changed_and_rotated(ours: Shell) -> None:
    limits = ("--expires", "90d", "--max-requests", "120", "--max-bytes", "1000")
    made = ours.json("token", "create", "--space", "ours", "--scope", "write", *limits)
    changed = ours.says("token", "change", made["id"], "--max-memories", "5", "--max-bytes", "none")

    rotated = ours.json("token", "rotate", made["id"], "--grace", "24h")
    said = ours.says("token", "rotate", made["id"], "--expires", "never")

    assert made["expires_at"].startswith("2026-05-30")
    assert "120 requests/min, 5 memories" in changed
    assert rotated["token"] != made["token"]
    assert rotated["old_until"].startswith("2026-03-02")
    assert "never expires" in said
    assert "The old secret no longer works" in said
    listed = " ".join(ours.says("token", "list").split())
    assert "120 requests/min" in listed
    assert "never" in listed


@requirement("trust.tokens.bounded")
def test_whoever_owns_the_database_is_bound_by_no_token(ours: Shell) -> None:
    made = ours.json("token", "create", "--all-spaces", "--scope", "admin", "--expires", "1h")

    longer = ours.json("token", "create", "--all-spaces", "--scope", "admin", "--expires", "never")
    rotated = ours.json("token", "rotate", made["id"], "--expires", "90d")

    assert longer["expires_at"] is None
    assert rotated["expires_at"].startswith("2026-05-30")


def test_without_a_time_a_token_is_made_for_a_year(ours: Shell) -> None:
    said = ours.says("token", "create", "--space", "ours", "--scope", "read")

    assert "expires on 2027-03-01" in said


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("change", "x"), 2, "nothing to change"),
        (("change", "x", "--max-memories", "some"), 2, "use a whole number, or none"),
        (("change", "x", "--max-memories", "5"), 1, "no token 'x'"),
        (("rotate", "x"), 1, "no token 'x'"),
        (("rotate", "x", "--grace", "soon"), 1, "such as 24h, 90d or 8w"),
        (("create", "--all-spaces", "--scope", "read", "--expires", "1y"), 1, "such as 24h, 90d or 8w"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(
    ours: Shell, arguments: tuple[str, ...], code: int, says: str
) -> None:
    result = ours("token", *arguments)

    assert result.exit_code == code
    assert says in result.output
