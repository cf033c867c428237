"""Signing in and out: by a one-time link, or by a token that a person pastes. And the links themselves."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from holdfast.engine import security_log
from holdfast.errors import Forbidden, TokenExpired
from holdfast.web.dashboard.browsers import BROWSER_SECONDS, LOGIN, Browsers, cookie_name
from holdfast.web.dashboard.page_context import Board
from holdfast.web.dashboard.responses import PageRoute, local
from holdfast.web.dashboard.visit import Sent

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_MAX_SECRET = 500
Next = Annotated[str, Query(max_length=2_000)]


@router.get(LOGIN)
def login(
    request: Request,
    code: Annotated[str, Query(max_length=_MAX_SECRET)] = "",
    next: Next = "/",  # noqa: A002
) -> Response:
    """With a link's code straight in; without one, how to get in."""
    board = _board(request)
    if not code:
        return _asking(request, next)
    if slowed := _slowed(request, next):
        return slowed
    secret = board.browsers.by_link(code)
    if secret is None and _is_signed_in(request):  # the link was opened here before
        return RedirectResponse(local(next), 303)
    wrong = "This link was already used or is older than 15 minutes. Get a new one as described below."
    return _answer(request, secret, next, wrong)


@router.post(LOGIN)
async def sign_in(request: Request) -> Response:
    from anyio.to_thread import run_sync

    sent = await request.form(max_files=0, max_fields=10)
    token, going = sent.get("token"), sent.get("next")
    back = going if isinstance(going, str) else "/"
    given = token.strip()[:_MAX_SECRET] if isinstance(token, str) else ""
    if slowed := _slowed(request, back):
        return slowed
    wrong = "This token has no permissions. Check that you copied all of it."
    try:
        secret = await run_sync(_board(request).browsers.by_token, given) if given else None
    except TokenExpired as error:
        secret, wrong = None, f"{str(error).capitalize()}."
    return _answer(request, secret, back, wrong)


@router.post("/logout")
def logout(request: Request, _: Sent) -> Response:
    browser = getattr(request.state, "browser", None)
    if browser:
        _board(request).browsers.leave(browser)
    answer = RedirectResponse(LOGIN, 303)
    answer.delete_cookie(cookie_name(request.headers.get("host", "")), path="/")
    return answer


@router.post(f"{LOGIN}/link")
def link(request: Request) -> dict[str, str]:
    """A new one-time link, for `holdfast open`; only for this machine's user."""
    grant = request.state.grant
    if grant.token is not None or hasattr(request.state, "browser"):
        raise Forbidden("sign-in links require this machine's own token: sign in with your token")
    return {"path": link_path(_board(request).browsers)}


def link_path(browsers: Browsers) -> str:
    """The path of a new one-time link."""
    return f"{LOGIN}?{urlencode({'code': browsers.link()})}"


def _slowed(request: Request, going: str) -> Response | None:
    """429, for an address with too many failed attempts."""
    wait = _board(request).attempts.wait(_address(request))
    if not wait:
        return None
    answer = _asking(request, going, f"Too many failed attempts. Try again in {wait} s.", 429)
    answer.headers["Retry-After"] = str(wait)
    return answer


def _answer(request: Request, secret: str | None, going: str, wrong: str) -> Response:
    attempts = _board(request).attempts
    if secret is None:
        attempts.failed(_address(request))
        security_log.log.info("a browser failed to sign in")
        return _asking(request, going, wrong, 403)
    attempts.succeeded(_address(request))
    return _let_in(request, secret, going)


def _is_signed_in(request: Request) -> bool:
    cookie = request.cookies.get(cookie_name(request.headers.get("host", "")), "")
    return _board(request).browsers.admit(cookie) is not None


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def _asking(request: Request, going: str, wrong: str = "", status: int = 200) -> HTMLResponse:
    values = {"going": local(going), "wrong": wrong}
    return HTMLResponse(_board(request).render("login.html", values), status)


def _let_in(request: Request, secret: str, going: str) -> Response:
    """Redirects by a page of our own: browsers don't send a strict cookie after a redirect from another
    site.
    """
    answer = HTMLResponse(_board(request).render("welcome.html", {"going": local(going)}))
    answer.set_cookie(
        cookie_name(request.headers.get("host", "")),
        secret,
        max_age=BROWSER_SECONDS,
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


def _board(request: Request) -> Board:
    board: Board = request.state.board
    return board
