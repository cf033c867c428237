"""/settings as plain HTML, on both databases: rules, models, tokens, clients and health."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app import client_setup
from holdfast.profiles import BUILT_IN, built_in
from holdfast.web.dashboard.settings import rules
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board, posted

SETTINGS = "/settings?space=ops"


def shown(board: Board, path: str = SETTINGS) -> Page:
    answer = board.browser().get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def card(page: Page, name: str) -> str:
    [found] = [one for one in page.all("section") if one.attributes.get("aria-labelledby") == f"{name}-title"]
    return found.whole_text


def test_the_space_its_rules_and_its_models_are_told(board: Board) -> None:
    page = shown(board)

    assert "Profile ops" in card(page, "space")
    assert "deletes for good" in card(page, "profile")
    assert "2 in 4 hours" in card(page, "profile")
    assert "none (keyword search only)" in card(page, "models")


def test_every_profile_can_be_told_in_words() -> None:
    for name in BUILT_IN:
        told = dict(rules(built_in(name)))
        assert all(told.values()), name
        assert told["Deleting"]


@requirement("dash.browser")
def test_a_token_is_shown_once_works_and_ends_at_once(board: Board) -> None:
    browser = board.browser()

    made = Page(
        posted(
            browser,
            "/settings/tokens?space=ops",
            {"name": "Backup job", "scope": ["read", "write"], "reach": ""},
            script=False,
        ).text
    )
    [secret] = [one.whole_text for one in made.all("code") if one.whole_text.startswith("hf_")]
    assert board.browser(secret).get("/memories?space=ops").status_code == 200
    again = Page(browser.get(SETTINGS).text)
    assert "Backup job" in card(again, "tokens")
    assert secret not in browser.get(SETTINGS).text
    [ask] = [one.attributes["href"] for one in again.all("a") if "revoke" in one.attributes["href"]]
    token = Page(browser.get(ask).text).all("input", name="token")[0].attributes["value"]
    posted(browser, "/settings/revoke?space=ops", {"token": token}, script=False)

    assert board.browser(None).post("/login", data={"token": secret}).status_code != 200
    assert "Revoked the token Backup job." in browser.get(SETTINGS).text
    assert browser.get("/settings/tokens?space=ops").headers["location"] == SETTINGS


@requirement("trust.tokens.rotate")
def test_a_token_shows_when_it_expires_and_its_limits_and_is_rotated(board: Board) -> None:
    browser = board.browser()
    fields = {"name": "Job", "scope": ["read"], "reach": "", "expires": "90d", "max_requests": "60"}
    first = secret_on(posted(browser, "/settings/tokens?space=ops", fields, script=False).text)
    page = Page(browser.get(SETTINGS).text)
    [ask] = [one.attributes["href"] for one in page.all("a") if "rotate" in one.attributes["href"]]
    token = Page(browser.get(ask).text).all("input", name="token")[0].attributes["value"]

    rotated = posted(browser, "/settings/rotated?space=ops", {"token": token, "grace": "24h"}, script=False)

    assert "60 requests a minute" in card(page, "tokens")
    assert "The old secret works until" in rotated.text
    both = (first, secret_on(rotated.text))
    assert [board.browser(one).get("/memories?space=ops").status_code for one in both] == [200, 200]
    assert browser.get("/settings/rotated?space=ops").headers["location"] == SETTINGS


@requirement("trust.tokens.bounded")
def test_the_form_makes_a_token_that_ends_with_the_one_that_signed_in(board: Board) -> None:
    own = {"scope": ["admin"], "reach": "all", "expires": "30d", "max_requests": "600"}
    keeper = board.browser(secret_on(posted(board.browser(), "/settings/tokens", own, script=False).text))
    options = Page(keeper.get(SETTINGS).text).all("option")
    [usual] = [one for one in options if "selected" in one.attributes and "year" in one.text]
    fields = {"name": "Job", "scope": ["read"], "reach": "", "expires": usual.attributes["value"]}

    made = posted(keeper, "/settings/tokens?space=ops", fields, script=False)
    longer = posted(keeper, "/settings/tokens?space=ops", {**fields, "expires": "never"}, script=False)

    assert "in a year, or with your own token" in usual.text
    assert made.status_code == 200
    assert longer.status_code == 403
    assert "600 requests a minute" in card(Page(keeper.get(SETTINGS).text), "tokens")


def secret_on(text: str) -> str:
    [secret] = [one.whole_text for one in Page(text).all("code") if one.whole_text.startswith("hf_")]
    return secret


def test_who_administers_one_space_sees_and_makes_no_more_than_that(board: Board) -> None:
    keeper = board.browser(board.token("admin", spaces=("ops",)))
    board.token("read", spaces=("helper",))

    page = Page(keeper.get("/settings").text)

    assert "helper" not in card(page, "tokens")
    assert "all spaces" not in card(page, "tokens")
    assert not page.all("ul", class_="clients")
    assert keeper.get("/settings/checkup").status_code == 403
    made = posted(keeper, "/settings/tokens", {"scope": "read", "reach": "all"}, script=False)
    assert made.status_code == 403


def test_who_may_only_read_sees_no_token_and_tests_nothing(board: Board) -> None:
    reader = board.browser(board.token("read", spaces=("ops",)))

    text = reader.get("/settings").text

    assert "Create a token" not in text
    assert posted(reader, "/settings/try", {}, script=False).status_code == 403
    assert posted(reader, "/settings/tokens", {"scope": "read"}, script=False).status_code == 403


def test_doctors_findings_are_told_with_what_to_do(board: Board, dialect: str) -> None:
    file = Path(board.database.removeprefix("sqlite:///"))
    if dialect == "sqlite":
        file.chmod(0o644)

    page = shown(board, "/settings/checkup?space=ops")

    commands = [one.whole_text for one in page.all("code")]
    if dialect == "sqlite":
        assert "Other users can read the database file" in page.by_id("checkup").whole_text
        assert f"chmod 600 {file}" in commands
    else:
        assert "No problems found." in page.by_id("checkup").whole_text
    assert not any(command.startswith("holdfast ") for command in commands)


def test_without_models_there_is_nothing_to_test(board: Board) -> None:
    answer = posted(board.browser(), "/settings/try?space=ops", {})

    assert "No model is configured" in Page(answer.text).by_id("trials").whole_text


def test_clients_are_told_with_their_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", "")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".cursor").mkdir()
    before = {one.name: one.state for one in client_setup.client_states("ops")}
    client_setup.connection("claude-code", space="ops").connect()

    after = {one.name: one.state for one in client_setup.client_states("ops")}
    elsewhere = {one.name: one.state for one in client_setup.client_states("other")}

    assert before["claude-code"] == "none"
    assert after["claude-code"] == "connected"
    assert elsewhere["claude-code"] == "otherwise"
    assert after == {"claude-code": "connected", "cursor": "none"}
    (tmp_path / ".claude" / "settings.json").write_text("{ this is no JSON")
    [broken] = [one for one in client_setup.client_states("ops") if one.name == "claude-code"]
    assert broken.state == "unknown"
    assert "settings.json" in broken.says
