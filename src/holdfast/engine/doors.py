"""By which door a call comes in, and which verbs show memories or messages: what the access log records."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

from holdfast import engine
from holdfast.engine.space_context import SpaceContext, is_logged

DOORS: Final = ("rest", "dashboard", "mcp", "proxy", "hook", "webhook", "command line", "telegram", "python")
#: By which door the calls of this thread or task come in.
DOOR: ContextVar[str] = ContextVar("door", default="python")

Given = ParamSpec("Given")
Result = TypeVar("Result")


class SpaceReader(Protocol):
    """The memories of one space, as somebody reads them."""

    _ctx: SpaceContext
    _session: str | None


ReaderT = TypeVar("ReaderT", bound=SpaceReader)
Method = Callable[Concatenate[ReaderT, Given], Result]


def shows(method: Method[ReaderT, Given, Result]) -> Method[ReaderT, Given, Result]:
    """Declares that a verb shows memories or messages."""

    @wraps(method)
    def recorded(self: ReaderT, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        with is_logged(self._ctx) as logged:
            result = method(self, *args, **kwargs)
        if logged():
            engine.access_log.record(self._ctx, method.__name__, self._session, result)
        return result

    recorded.__shows__ = True  # type: ignore[attr-defined]
    return recorded
