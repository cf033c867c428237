"""The context of a page's request: space, grant, browser and form. Its type declares the scope."""

import hmac
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final, Protocol
from urllib.parse import urlencode, urlsplit

from fastapi import Depends, Query, Request
from starlette.datastructures import FormData, UploadFile

from holdfast.app import wiring
from holdfast.app.checkup import Checkup
from holdfast.domain.access import Grant, Scope
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter
from holdfast.engine.administration import Administration
from holdfast.engine.memories import Memories
from holdfast.errors import Forbidden, Invalid
from holdfast.web.dashboard.browsers import form_key, space_cookie
from holdfast.web.dashboard.page_context import Board, Notice, Offer, Tone

MAX_AT_ONCE: Final = 500  # memories that a form acts on
_HALF_A_STEP: Final = 0.00501  # of the slider for confidence, with room for a float's last digits


class DashboardRegistry(Protocol):
    """The open spaces of the service."""

    @property
    def usual(self) -> str: ...
    def entered(self, grant: Grant, space: str | None = None) -> Memories: ...
    def administration(self, grant: Grant) -> Administration: ...
    def checkup(self, grant: Grant) -> Checkup: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request for a page."""

    request: Request
    board: Board
    registry: DashboardRegistry
    grant: Grant
    browser: str | None  # the cookie's secret; None with a bearer token
    memories: Memories
    spaces: Sequence[str]
    now: datetime
    titles: dict[str, str] = field(default_factory=dict)  # of the sessions that the page names

    @property
    def space(self) -> str:
        return self.memories.space

    @property
    def profile(self) -> Profile:
        return self.memories.profile

    @property
    def may_write(self) -> bool:
        return self.grant.allows("tools")

    @property
    def may_decide(self) -> bool:
        return self.grant.allows("admin")

    @property
    def partial(self) -> bool:
        """Whether a script requests a part of a page."""
        return "hx-request" in self.request.headers

    @property
    def here(self) -> str:
        """The URL of the open page, also if a script requests a part of it."""
        asked = self.request.headers.get("hx-current-url", "") if self.partial else str(self.request.url)
        found = urlsplit(asked)
        return f"{found.path}?{found.query}" if found.query else found.path

    @property
    def waiting(self) -> int:
        """The number of memories that wait for review."""
        return self.memories.find(Filter(states=("waiting",)), limit=1).total

    @property
    def form_key(self) -> str:
        return form_key(self.browser) if self.browser else ""

    @property
    def acts(self) -> list[tuple[str, str]]:
        """What the command palette offers to do, besides going to pages."""
        told = [("Find junk and duplicates", "/stats/audit")]
        if self.may_write:
            told = [("Add a memory", "/memories/new"), ("Undo the last session", "/undo-session"), *told]
        if self.may_decide:
            told += [("Import a file", "/import"), ("Create a token", "/settings#new-token")]
            told.append(("Test the models", "/settings#models"))
        if self.may_decide and self.grant.spaces is None:
            told += [("Create a space", "/spaces/new"), ("Check the health", "/settings/checkup")]
        split = [(says, goal.partition("#")) for says, goal in told]
        return [(says, f"{self.address(path)}{mark}{part}") for says, (path, mark, part) in split]

    def address(self, path: str, /, **choices: object) -> str:
        """A path with query parameters in this space; empty values are left out, lists are repeated."""
        asked: list[tuple[str, str]] = []
        if len(self.spaces) > 1:
            asked.append(("space", self.space))
        for name, value in choices.items():
            for one in value if isinstance(value, list | tuple) else (value,):
                if one not in (None, "", False):
                    asked.append((name, "1" if one is True else str(one)))
        return f"{path}?{urlencode(asked)}" if asked else path

    def session_title(self, session_id: str) -> str:
        """What a session is called; empty if it has no name and nothing was said in it."""
        if session_id not in self.titles:
            self.read_titles([session_id])
        return self.titles[session_id]

    def read_titles(self, session_ids: Iterable[str]) -> None:
        """Reads the titles of the sessions of a list in one step."""
        wanted = dict.fromkeys(session_ids, "")
        self.titles.update(wanted | self.memories.session_titles(*wanted))

    def say(self, text: str, tone: Tone = "done", offer: Offer | None = None, look: str = "") -> None:
        """Shows a notice on the browser's next page, or at once if a script asked."""
        self.board.notices.put(self.teller, Notice(text, tone, offer, look))

    def undo(self, ids: Sequence[str], since: int) -> Offer | None:
        """A button that undoes the changes to these memories since then."""
        fields = (*(("id", one) for one in ids), ("since", str(since)))
        return Offer("Undo", self.address("/memories/undo"), fields) if ids else None

    @property
    def looking_again(self) -> bool:
        """Whether an open page refreshes its list."""
        return self.partial and "x-seen" in self.request.headers

    def has_seen(self, seen: object) -> bool:
        return self.looking_again and self.request.headers["x-seen"] == str(seen)

    @property
    def teller(self) -> str:
        return self.browser or self.grant.token or "own"


class OpenSpace:
    """Opens the requested space for callers with at least this scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope: Scope = scope

    def __call__(self, request: Request, space: Annotated[str | None, Query(max_length=63)] = None) -> Visit:
        grant: Grant = request.state.grant
        grant.require(self.scope)
        registry: DashboardRegistry = request.state.registry
        names = registry.administration(grant).names()
        last = request.cookies.get(space_cookie(request.headers.get("host", "")))
        usual = next((name for name in (last, registry.usual) if name in names), next(iter(names), None))
        visit = Visit(
            request=request,
            board=request.state.board,
            registry=registry,
            grant=grant,
            browser=getattr(request.state, "browser", None),
            memories=registry.entered(grant, space or usual),
            spaces=names,
            now=wiring.utc_now(),
        )
        request.state.visit = visit
        return visit


ReadVisit = Annotated[Visit, Depends(OpenSpace("read"))]
WriteVisit = Annotated[Visit, Depends(OpenSpace("tools"))]
AdminVisit = Annotated[Visit, Depends(OpenSpace("admin"))]


class Fields:
    """The fields of a form."""

    def __init__(self, sent: FormData | None = None) -> None:
        self._sent = sent if sent is not None else FormData()

    def __contains__(self, name: object) -> bool:
        return name in self._sent

    def text(self, name: str, default: str = "") -> str:
        value = self._sent.get(name, default)
        return value if isinstance(value, str) else default

    def file(self, name: str) -> UploadFile | None:
        value = self._sent.get(name)
        return value if isinstance(value, UploadFile) else None

    def given(self, name: str) -> bool:
        return bool(self.text(name).strip())

    def all(self, name: str) -> list[str]:
        return list(dict.fromkeys(one for one in self._sent.getlist(name) if isinstance(one, str) and one))

    def chosen(self) -> list[str]:
        """The ids of the memories that were selected. Raises: Invalid."""
        ids = self.all("id")
        if not ids:
            raise Invalid("nothing selected: select at least one memory", field="id")
        if len(ids) > MAX_AT_ONCE:
            raise Invalid(f"{len(ids)} selected: select at most {MAX_AT_ONCE}", field="id")
        return ids

    def share(self, name: str) -> float | None:
        """A number from 0 to 1; None if empty. Raises: Invalid."""
        if not self.given(name):
            return None
        try:
            return round(float(self.text(name)), 4)
        except (ValueError, OverflowError):
            raise Invalid(f"{name} must be a number from 0 to 1", field=name) from None

    def moved(self, name: str, before: str) -> float | None:
        """The new value of a slider; None if it was not moved by a whole step. Raises: Invalid."""
        share, began = self.share(name), self.share(before)
        if share is None or (began is not None and abs(share - began) <= _HALF_A_STEP):
            return None
        return share

    def whole(self, name: str) -> int | None:
        """A whole number; None if empty. Raises: Invalid."""
        found = self.text(name).strip()
        if not found:
            return None
        if not (found.isascii() and found.isdigit() and len(found) <= 18):
            raise Invalid(f"{name} must be a whole number", field=name)
        return int(found)

    def words(self, name: str) -> tuple[str, ...]:
        """Texts between commas."""
        return tuple(one.strip() for one in self.text(name).split(",") if one.strip())

    def retagged(self) -> dict[str, tuple[str, ...]]:
        """The tags that a form adds and removes."""
        if "tags" not in self:
            return {}
        shown, wanted = self.words("tagged"), self.words("tags")
        changed = {
            "add_tags": tuple(one for one in wanted if one not in shown),
            "drop_tags": tuple(one for one in shown if one not in wanted),
        }
        return {name: tags for name, tags in changed.items() if tags}


async def _fields(request: Request) -> Fields:
    """The fields of a form, which has to come from our script or contain the key of our pages.

    Raises: Forbidden.
    """
    return _checked(request, await request.form(max_files=0, max_fields=2_000))


async def _file(request: Request) -> AsyncIterator[Fields]:
    """The same with one file, until the request is answered."""
    async with request.form(max_files=1, max_fields=20) as form:
        yield _checked(request, form)


def _checked(request: Request, form: FormData) -> Fields:
    sent = Fields(form)
    browser: str | None = getattr(request.state, "browser", None)
    by_script = request.headers.get("hx-request") == "true"
    if (
        browser
        and not by_script
        and not hmac.compare_digest(sent.text("key").encode(), form_key(browser).encode())
    ):
        raise Forbidden("this form has expired: reload the page and try again")
    return sent


Sent = Annotated[Fields, Depends(_fields)]
SentFile = Annotated[Fields, Depends(_file)]
