"""Responses of pages: whole pages, parts and errors, with one strict security policy."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from holdfast.errors import HoldfastError
from holdfast.web.dashboard.browsers import BROWSER_SECONDS, space_cookie
from holdfast.web.dashboard.page_context import Board, Offer, Tone
from holdfast.web.dashboard.visit import Visit
from holdfast.wire.http_errors import misfits, of_error, problem

#: No external resources, nothing inline, no frames. Forms send their origin.
POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_TYPED: Final = frozenset({"q", "as_of"})  # choices that are made letter by letter, or by a slider
_FRESH: Final = {"Cache-Control": "no-store", "Vary": "HX-Request, Cookie"}


class PageRoute(APIRoute):
    """A route of the dashboard: errors are pages too, and every response has the security policy."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                given = await answer(request)
            except HoldfastError as error:
                status, body = of_error(error)
                given = wrong(request, status, str(body["detail"]))
            except RequestValidationError as error:
                given = wrong(request, 422, _misfit(error))
            except HTTPException as error:
                given = wrong(request, error.status_code, str(error.detail))
            _keep_space(request, given)
            for name, value in {**POLICY, **_FRESH}.items():
                given.headers.setdefault(name, value)
            return given

        return told


def _keep_space(request: Request, given: Response) -> None:
    """Remembers the selected space in a cookie, for URLs without one."""
    visit: Visit | None = getattr(request.state, "visit", None)
    name = space_cookie(request.headers.get("host", ""))
    if visit is None or "space" not in request.query_params or request.cookies.get(name) == visit.space:
        return
    given.set_cookie(name, visit.space, max_age=BROWSER_SECONDS, httponly=True, samesite="strict")


def page(visit: Visit, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page, with the latest notice; a script fetches the notice itself."""
    notice = None if visit.partial else visit.board.notices.take(visit.teller)
    body = visit.board.render(template, {"visit": visit, "notice": notice, **values})
    return HTMLResponse(body, status)


def part(visit: Visit, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A part of a page, for a script."""
    return HTMLResponse(visit.board.render(template, {"visit": visit, **values}), status)


def dialog(visit: Visit, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A dialog: a part for a script, a page of its own otherwise."""
    return (part if visit.partial else page)(visit, template, status=status, **values)


def live(visit: Visit, template: str, rows: str, /, **values: Any) -> Response:
    """A page whose `rows` refresh themselves; 204 if the browser already has `seen` this state."""
    if not visit.looking_again:
        return page(visit, template, refreshing=False, **values)
    if visit.has_seen(values["seen"]):
        return Response(status_code=204)
    return part(visit, rows, refreshing=True, **values)


def done(
    visit: Visit,
    text: str,
    *,
    back: str,
    tone: Tone = "done",
    offer: Offer | None = None,
    shown: Response | None = None,
    leave: str = "",
    look: str = "",
) -> Response:
    """Ends a form with a notice, and refreshes lists. A script gets `shown`, a browser goes `back`."""
    visit.say(text, tone, offer, look)
    if not visit.partial:
        return RedirectResponse(local(back), 303)
    given = shown if shown is not None else Response(status_code=204)
    if not leave and urlsplit(visit.here).path == visit.request.url.path:  # the form is a page of its own
        leave = back
    if leave:  # what the page was about is gone
        given.headers["HX-Redirect"] = local(leave)
    else:
        given.headers["HX-Trigger"] = "said, changed"
    return given


def in_address(visit: Visit, given: Response, address: str) -> Response:
    """Puts the choices of a form above a list into the address bar.

    A new choice is a step for the back button; the same choice or another letter of a word is none.
    """
    if not visit.partial:
        return given
    before, after = urlsplit(visit.request.headers.get("hx-current-url", "")), urlsplit(address)
    left, right = dict(parse_qsl(before.query)), dict(parse_qsl(after.query))
    differing = {name for name in left.keys() | right.keys() if left.get(name) != right.get(name)}
    typed_on = differing <= _TYPED and all(left.get(name) and right.get(name) for name in differing)
    if before.path != after.path or not typed_on:
        given.headers["HX-Push-Url"] = address
    elif differing:
        given.headers["HX-Replace-Url"] = address
    else:
        given.headers["HX-Push-Url"] = "false"
    return given


def local(address: str) -> str:
    """An address of this service; the root for any other."""
    inside = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if inside else "/"


def wrong(request: Request, status: int, detail: str) -> Response:
    """An error as a page, or as a notice for a script."""
    board: Board = request.state.board
    visit: Visit | None = getattr(request.state, "visit", None)
    if visit is not None and visit.partial:
        if "x-seen" not in request.headers:  # a refreshed list does not repeat its error
            visit.say(detail, "wrong")
        return Response(status_code=status, headers={"HX-Trigger": "said"})
    return _error_page(board, visit, status, detail)


def refusal(board: Board, status: int, detail: str, headers: Mapping[str, str]) -> Response:
    """The page of a request that never reached a route."""
    given = _error_page(board, None, status, detail)
    given.headers.update({**POLICY, **_FRESH, **headers})
    return given


def _error_page(board: Board, visit: Visit | None, status: int, detail: str) -> HTMLResponse:
    title = str(problem(status, detail)["title"])
    body = board.render("wrong.html", {"visit": visit, "status": status, "title": title, "detail": detail})
    return HTMLResponse(body, status)


def _misfit(error: RequestValidationError) -> str:
    place, reason = misfits(error.errors())[0]
    return f"{place[-1] if place else 'the address'}: {reason}"
