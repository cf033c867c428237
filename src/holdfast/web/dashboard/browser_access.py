"""What the guard asks about browsers: which addresses are theirs, which are open, and whose a cookie is."""

from collections.abc import Collection, Mapping
from typing import Final

from holdfast.domain.access import Grant
from holdfast.web.dashboard.browsers import Browsers

OPEN: Final = frozenset({"login", "static"})
LOGIN: Final = "/login"


class BrowserAccess:
    """The addresses of the dashboard, told by the first part of their paths."""

    def __init__(self, browsers: Browsers, firsts: Collection[str]) -> None:
        self._browsers = browsers
        self._firsts = frozenset(firsts) | OPEN

    def covers(self, path: str) -> bool:
        return first_of(path) in self._firsts

    def is_open(self, path: str) -> bool:
        return first_of(path) in OPEN and path != f"{LOGIN}/link"

    def secret(self, headers: Mapping[str, str]) -> str:
        """What the cookie of this service holds; empty without one."""
        name = cookie_name(headers.get("host", ""))
        for part in headers.get("cookie", "").split(";"):
            found, _, value = part.strip().partition("=")
            if found == name:
                return value
        return ""

    def admit(self, secret: str) -> Grant | None:
        return self._browsers.admit(secret)

    @property
    def login(self) -> str:
        return LOGIN


def first_of(path: str) -> str:
    """`memories` of /memories/a1b2; empty for the root."""
    return path.lstrip("/").partition("/")[0]


def space_cookie(host: str) -> str:
    """The name of the cookie that tells which space a browser chose last."""
    return f"{cookie_name(host)}-space"


def cookie_name(host: str) -> str:
    """Browsers share cookies between ports: two services of one machine must not sign each other out."""
    port = host.rpartition("]")[2].rpartition(":")[2]
    return f"holdfast-{port}" if port.isdigit() else "holdfast"
