"""What all pages share: templates, the sections that exist, what browsers are told next, who is signed in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from holdfast import __version__
from holdfast.web.dashboard import assets, formats
from holdfast.web.dashboard.browsers import Browsers
from holdfast.web.dashboard.login_attempts import LoginAttempts
from holdfast.web.dashboard.notices import Notices
from holdfast.web.dashboard.sections import Section

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class Board:
    """One for the whole service."""

    browsers: Browsers
    sections: tuple[Section, ...]
    notices: Notices = field(default_factory=Notices)
    attempts: LoginAttempts = field(default_factory=LoginAttempts)

    def has(self, section: str) -> bool:
        """Whether there is a page to link to."""
        return any(section == one.name for one in self.sections)

    def home(self, section: str) -> str:
        """The first page of a section; the root for what is none."""
        return next((one.path for one in self.sections if one.name == section), "/")

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
    )
    made.globals.update(asset=assets.address, count=formats.count, ago=formats.ago, release=__version__)
    return made
