"""State shared by all pages: templates, static files, sections, notices and browsers."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from holdfast import __version__
from holdfast.web.dashboard import formats
from holdfast.web.dashboard.browsers import Browsers, LoginAttempts
from holdfast.wire.values import from_json, to_json

if TYPE_CHECKING:
    from jinja2 import Environment

_KINDS: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_NAMES: Final = (
    "style.css", "theme.js", "app.js", "live.js", "icons.svg", "mark.svg", "vendor/htmx-2.0.11.min.js",
    "vendor/htmx-LICENSE.txt",
)  # fmt: skip
_FOR_GOOD: Final = "public, max-age=31536000, immutable"

#: Style, scripts and icons of this package. Their version is in the URL, so they are cached forever.
static_files = APIRouter(include_in_schema=False)
Tone = Literal["done", "note", "wrong"]
_MAX_TOLD: Final = 500  # browsers


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the sidebar."""

    name: str  # also of its icon
    title: str
    path: str


SECTIONS: Final = (
    Section("overview", "Overview", "/"),
    Section("sessions", "Sessions", "/sessions"),
    Section("events", "Events", "/events"),
    Section("memories", "Memories", "/memories"),
    Section("cooldowns", "Cooldowns", "/cooldowns"),
    Section("inbox", "Inbox", "/inbox"),
    Section("search", "Search", "/search"),
    Section("stats", "Stats", "/stats"),
    Section("files", "Files", "/files"),
    Section("settings", "Settings", "/settings"),
)


@dataclass(frozen=True, slots=True)
class Offer:
    """An undo button: a form for `path` with these fields."""

    label: str
    path: str
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    text: str
    tone: Tone = "done"
    offer: Offer | None = None
    look: str = ""  # the URL of its subject


class Notices:
    """The latest notice for each browser, shown once by any service; by this one if it can't be stored."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._lock = threading.Lock()
        self._latest: OrderedDict[str, Notice] = OrderedDict()

    def put(self, browser: str, notice: Notice) -> None:
        if self._browsers.tell(browser, to_json(notice)):
            return
        with self._lock:
            self._latest[browser] = notice
            self._latest.move_to_end(browser)
            if len(self._latest) > _MAX_TOLD:
                self._latest.popitem(last=False)

    def take(self, browser: str) -> Notice | None:
        with self._lock:
            here = self._latest.pop(browser, None)
        if here is not None:
            return here
        told = self._browsers.told(browser)
        return from_json(Notice, told) if told is not None else None


@dataclass(frozen=True, slots=True)
class Board:
    """The state shared by all pages; one per service."""

    browsers: Browsers
    notices: Notices
    attempts: LoginAttempts = field(default_factory=LoginAttempts)

    def home(self, section: str) -> str:
        """The first page of a section; the start page for an unknown one."""
        return next((one.path for one in SECTIONS if one.name == section), "/")

    def render(self, template: str, values: Mapping[str, Any]) -> bytes:
        text = environment().get_template(template).render(board=self, **values)
        return text.encode("utf-8", "replace")  # half a character of some old message must not end a page


@cache
def environment() -> "Environment":
    """Every value is escaped, and a value that is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        number=formats.number,
        short=formats.short,
        exact=formats.exact,
        machine=formats.machine,
        listed=formats.listed,
        percent=formats.percent,
        day=formats.day,
        clock=formats.clock,
    )
    made.globals.update(
        asset=asset,
        count=formats.count,
        ago=formats.ago,
        release=__version__,
        sections=SECTIONS,
    )
    return made


@cache
def _content(name: str) -> bytes:
    return files(__package__).joinpath("static", *name.split("/")).read_bytes()


@cache
def version() -> str:
    """Changes with any of the files."""
    whole = hashlib.sha256()
    for name in _NAMES:
        whole.update(_content(name))
    return whole.hexdigest()[:12]


def asset(name: str) -> str:
    """The URL of a static file."""
    if name not in _NAMES:
        raise KeyError(name)
    return f"/static/{version()}/{name}"


@static_files.get("/static/{asked}/{name:path}")
def static(asked: str, name: str, request: Request) -> Response:
    if name not in _NAMES:
        return Response("file not found", 404, media_type="text/plain")
    tag = f'"{version()}"'
    headers = {
        "ETag": tag,
        "Cache-Control": _FOR_GOOD if asked == version() else "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(_content(name), headers=headers, media_type=_KINDS[name.rpartition(".")[2]])
