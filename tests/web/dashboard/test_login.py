"""Who gets to see the pages: one-time links, pasted tokens, and a cookie that counts for pages alone."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from holdfast.app.wiring import open_store
from holdfast.domain.access import EVERYTHING
from holdfast.engine.ports import Store
from holdfast.errors import Unavailable
from holdfast.testing import FixedClock
from holdfast.web.dashboard.browsers import (
    BROWSER_SECONDS,
    FREE_FAILURES,
    LINK_SECONDS,
    Browsers,
    LoginAttempts,
    cookie_name,
)
from holdfast.web.dashboard.responses import POLICY
from tests.requirements_ledger import requirement
from tests.web.dashboard.serving import OWN, SAME_ORIGIN, URL, Board, form_key_of, posted

COOKIE = cookie_name("127.0.0.1:7437")


def link(board: Board) -> str:
    answer = TestClient(board.app, base_url=URL).post(
        "/login/link", headers={"Authorization": f"Bearer {OWN}"}
    )
    return str(answer.json()["path"])


def test_a_link_lets_one_browser_in_and_only_once(board: Board) -> None:
    path = link(board)
    first, second = board.browser(None), board.browser(None)

    let_in = first.get(path)
    refused = second.get(path)

    assert let_in.status_code == 200
    assert first.get("/memories").status_code == 200
    assert refused.status_code == 403
    assert "already used" in refused.text
    assert second.get("/memories").headers["location"] == "/login?next=%2Fmemories"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(board: Board) -> None:
    answer = board.browser(None).get(link(board))

    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))


def test_behind_tls_the_cookie_is_for_tls_alone(board: Board) -> None:
    browser = TestClient(board.app, base_url=URL.replace("http:", "https:"))

    assert "Secure" in browser.get(link(board)).headers["set-cookie"].split("; ")


def test_a_pasted_token_opens_what_it_is_for_until_it_is_revoked(board: Board) -> None:
    browser = board.browser(board.token("read", spaces=("helper",)))

    before = browser.get("/memories")
    elsewhere = browser.get("/memories?space=ops")
    [token] = board.registry.administration(EVERYTHING).tokens()
    board.registry.administration(EVERYTHING).revoke_token(token.id)
    after = browser.get("/memories")

    assert before.status_code == 200
    assert elsewhere.status_code == 404
    assert after.headers["location"].startswith("/login")


@requirement("trust.security-log")
def test_every_sign_in_and_every_failed_one_is_logged(board: Board, caplog: pytest.LogCaptureFixture) -> None:
    path, secret = link(board), board.token("read", spaces=("helper",))
    [token] = board.registry.administration(EVERYTHING).tokens()
    caplog.set_level(logging.INFO, "holdfast.security")

    board.browser(None).get(path)
    board.browser(secret)
    board.browser(None).get(path)

    assert [entry.getMessage() for entry in caplog.records] == [
        "this machine's user (dashboard) signed in a browser by a link",
        f"token {token.id} (dashboard) signed in a browser",
        "a browser failed to sign in",
    ]


def test_a_token_that_opens_nothing_is_told_so(board: Board) -> None:
    answer = board.browser(None).post("/login", data={"token": "hf_" + "x" * 43}, headers=SAME_ORIGIN)

    assert answer.status_code == 403
    assert "has no permissions" in answer.text
    assert "set-cookie" not in answer.headers


@requirement("trust.local")
def test_the_cookie_counts_for_pages_and_nowhere_else(board: Board) -> None:
    browser = board.browser()

    for path in ("/api/memory/?space=ops", "/mcp", "/hooks/session-start", "/login/link"):
        answers = [browser.get(path), browser.post(path, json={}, headers=SAME_ORIGIN)]

        assert {answer.status_code for answer in answers} <= {401, 403, 404, 405}, path


FOREIGN: list[dict[str, str]] = [
    {},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "http://localhost:7437"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "none"},
    {**SAME_ORIGIN, "Sec-Fetch-Site": "same-site"},
]


@requirement("trust.local")
def test_a_form_on_another_page_changes_nothing(board: Board) -> None:
    browser = board.browser()
    fields = {"content": "Caddy must start last", "category": "dependency"}

    for headers in FOREIGN:
        answer = browser.post(
            "/memories/new?space=ops", data=fields, headers={**headers, "HX-Request": "true"}
        )
        assert answer.status_code == 403, headers

    assert board.memories().find().total == 0


def test_a_form_without_its_key_changes_nothing(board: Board) -> None:
    browser = board.browser()
    fields = {"content": "Caddy must start last", "category": "dependency"}

    without = browser.post("/memories/new?space=ops", data=fields, headers=SAME_ORIGIN)
    of_another = {**fields, "key": form_key_of(board.browser())}
    wrong = browser.post("/memories/new?space=ops", data=of_another, headers=SAME_ORIGIN)
    right = posted(browser, "/memories/new?space=ops", fields, script=False)

    assert (without.status_code, wrong.status_code, right.status_code) == (403, 403, 303)
    assert board.memories().find().total == 1


def test_every_form_of_every_page_wants_its_key() -> None:
    from holdfast.web.dashboard import PAGES, login

    routes: list[Any] = [route for module in (login, *PAGES) for route in module.router.routes]
    forms = [route for route in routes if "POST" in route.methods and not route.path.startswith("/login")]
    unchecked = [
        route.path
        for route in forms
        if not {"_fields", "_file"}
        & {getattr(one.call, "__name__", "") for one in route.dependant.dependencies}
    ]

    assert len(forms) > 10
    assert unchecked == []


def test_signing_out_ends_it_for_the_cookie_too(board: Board) -> None:
    browser = board.browser()
    secret = browser.cookies[COOKIE]

    left = posted(browser, "/logout", {})
    again = board.browser(None).get("/memories", headers={"Cookie": f"{COOKIE}={secret}"})

    assert left.headers["location"] == "/login"
    assert again.headers["location"].startswith("/login")


ELSEWHERE = ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:evil()", "/\r\nX: evil")


def test_signing_in_leads_nowhere_else(board: Board) -> None:
    for going in ELSEWHERE:
        answer = board.browser(None).post("/login", data={"token": OWN, "next": going}, headers=SAME_ORIGIN)

        assert answer.status_code == 200
        assert 'content="0; url=/"' in answer.text
        assert "evil" not in answer.text


def test_signing_in_leads_back_to_where_one_wanted_to_go(board: Board) -> None:
    sent_away = board.browser(None).get("/memories?space=ops&q=caddy")
    form = board.browser(None).get(sent_away.headers["location"])

    assert 'name="next" value="/memories?space=ops&amp;q=caddy"' in form.text


def test_a_part_of_a_page_sends_the_whole_page_to_sign_in(board: Board) -> None:
    answer = board.browser(None).get("/memories/rows", headers={"HX-Request": "true"})

    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/login")


def test_links_are_made_for_this_machines_user_alone(board: Board) -> None:
    admin = board.token("admin")
    answer = TestClient(board.app, base_url=URL).post(
        "/login/link", headers={"Authorization": f"Bearer {admin}"}
    )

    assert answer.status_code == 403


@requirement("dash.browser")
def test_every_answer_carries_the_policy(board: Board) -> None:
    browser = board.browser()

    for path in (
        "/login",
        "/",
        "/memories",
        "/memories/new",
        "/memories/nothing",
        "/said",
        "/memories?state=x",
    ):
        answer = browser.get(path)
        assert {name: answer.headers[name] for name in POLICY} == POLICY, path
        assert answer.headers["cache-control"] == "no-store", path
    assert "unsafe" not in POLICY["Content-Security-Policy"]


def test_style_and_scripts_keep_for_good_under_an_address_with_their_version(board: Board) -> None:
    browser = board.browser(None)
    found = set(re.findall(r'(?:href|src)="(/static/[^"#]+)', browser.get("/login").text))

    answers = {path: browser.get(path) for path in found}

    assert len(found) >= 3
    for answer in answers.values():
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        again = browser.get(answer.url.path, headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
    assert browser.get("/static/older/style.css").headers["cache-control"] == "no-cache"
    assert browser.get("/static/older/browsers.py").status_code == 404


# ------------------------------------------------------------------------------------------- who is signed in


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    store = open_store(sqlite_url)
    yield store
    store.close()


def browsers(store: Store, clock: FixedClock, own: str = OWN) -> Browsers:
    """Those of one service."""
    from holdfast.web.dashboard.browsers import hashed

    held = {hashed(own): EVERYTHING}.get
    return Browsers(own=own, held=held, rows=lambda: store.browsers, clock=clock)


def test_links_and_browsers_have_their_time(store: Store, clock: FixedClock) -> None:
    known = browsers(store, clock)
    late, in_time = known.link(), known.link()

    secret = known.by_link(in_time)
    clock.advance(seconds=LINK_SECONDS + 1)

    assert secret is not None
    assert known.by_link(late) is None
    assert known.admit(secret) == EVERYTHING
    clock.advance(seconds=BROWSER_SECONDS)
    assert known.admit(secret) is None


def test_a_restart_signs_nobody_out_and_another_token_of_the_owner_everybody(
    store: Store, clock: FixedClock
) -> None:
    secret = browsers(store, clock).by_token(OWN)
    assert secret is not None

    again = browsers(store, clock)
    replaced = browsers(store, clock, own="another-token-of-the-owner")

    assert again.admit(secret) == EVERYTHING
    assert replaced.admit(secret) is None
    assert store.browsers.get(secret) is None  # by its hash alone


def test_a_link_and_a_browser_are_known_at_every_service_of_the_database(
    store: Store, clock: FixedClock
) -> None:
    one, other = browsers(store, clock), browsers(store, clock)
    stranger = browsers(store, clock, own="the-token-of-another-user")
    code = one.link()

    refused = stranger.by_link(code)
    secret = other.by_link(code)
    again = one.by_link(code)

    assert (refused, again) == (None, None)
    assert secret is not None
    assert one.admit(secret) == EVERYTHING
    assert other.admit(code) is None
    other.leave(secret)
    assert one.admit(secret) is None


def test_the_links_and_browsers_of_a_token_have_a_limit(store: Store, clock: FixedClock) -> None:
    known = browsers(store, clock)
    made = [(known.link(), clock.advance(seconds=1)) for _ in range(101)]

    first, second = known.by_link(made[0][0]), known.by_link(made[1][0])

    assert first is None
    assert second is not None


def test_where_nothing_can_be_written_a_browser_signs_in_at_this_service(
    store: Store, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Full:
        def __getattr__(self, name: str) -> Any:
            if name in ("get", "take_notice"):
                return getattr(store.browsers, name)
            raise Unavailable("the disk is full")

    known = browsers(store, clock)
    known._rows = Full
    secret = known.by_link(known.link())

    assert secret is not None
    assert known.admit(secret) == EVERYTHING
    assert browsers(store, clock).admit(secret) is None
    assert "the disk is full" in caplog.text


def test_while_the_database_is_away_who_was_signed_in_stays_so(store: Store, clock: FixedClock) -> None:
    def away() -> Any:
        raise Unavailable("the server is away")

    known = browsers(store, clock)
    secret, other = known.by_token(OWN), known.by_token(OWN)
    assert secret is not None
    assert other is not None
    known.admit(secret)
    known._rows = away

    assert known.admit(secret) == EVERYTHING
    with pytest.raises(Unavailable):
        known.admit(other)


def test_the_token_in_a_header_works_for_pages_as_well(board: Board) -> None:
    asked: Any = TestClient(board.app, base_url=URL, headers={"Authorization": f"Bearer {OWN}"})
    answer: httpx2.Response = asked.get("/memories?space=ops")

    assert answer.status_code == 200


def test_whoever_fails_to_sign_in_again_and_again_is_told_to_come_back_later(board: Board) -> None:
    browser = board.browser(None)
    failures = [wrong_token(browser) for _ in range(FREE_FAILURES)]
    refused = wrong_token(browser)
    right = browser.post("/login", data={"token": OWN}, headers=SAME_ORIGIN)
    link_too = browser.get("/login?code=guessed")
    page = browser.get("/login")
    elsewhere = TestClient(board.app, base_url=URL, client=("192.0.2.7", 50_000))

    assert [answer.status_code for answer in failures] == [403] * FREE_FAILURES
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert "Try again in 1 s" in refused.text
    assert (right.status_code, link_too.status_code, page.status_code) == (429, 429, 200)
    assert wrong_token(elsewhere).status_code == 403


def wrong_token(browser: TestClient) -> httpx2.Response:
    answer: httpx2.Response = browser.post("/login", data={"token": "wrong"}, headers=SAME_ORIGIN)
    return answer


def test_the_wait_after_a_failed_login_grows_and_ends_with_a_success() -> None:
    now = 0.0
    attempts = LoginAttempts(lambda: now)
    waits = []
    for _ in range(FREE_FAILURES + 10):
        attempts.failed("here")
        waits.append(attempts.wait("here"))
        now += waits[-1]
        assert attempts.wait("here") == 0
    attempts.succeeded("here")
    attempts.failed("here")

    assert waits == [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert attempts.wait("here") == attempts.wait("elsewhere") == 0
