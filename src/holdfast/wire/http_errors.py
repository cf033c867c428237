"""Errors over HTTP as problem+json (RFC 9457), both ways, and the connection to a service."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from holdfast import errors
from holdfast.errors import HoldfastError, Invalid, Unavailable, UnknownCategory
from holdfast.wire.values import is_value, parts_of

if TYPE_CHECKING:
    import httpx2


MEDIA_TYPE: Final = "application/problem+json"

#: The first that an error is an instance of counts.
STATUSES: Final[tuple[tuple[type[HoldfastError], int], ...]] = (
    (errors.Invalid, 422),
    (errors.NotFound, 404),
    (errors.Outdated, 412),
    (errors.Conflict, 409),
    (errors.TokenExpired, 401),
    (errors.Forbidden, 403),
    (errors.Unavailable, 503),
)
_TITLES: Final = {
    400: "bad request",
    401: "token required",
    403: "forbidden",
    404: "not found",
    405: "method not allowed",
    408: "request timeout",
    409: "conflict",
    412: "version mismatch",
    413: "request too large",
    415: "the body must be JSON",
    422: "invalid",
    429: "too many requests",
    500: "internal error",
    503: "unavailable",
}


def problem(status: int, detail: str, **more: Any) -> dict[str, Any]:
    """A problem+json body; None fields are omitted."""
    told = {name: value for name, value in more.items() if value is not None}
    return {"title": _TITLES.get(status, "error"), "status": status, "detail": detail, **told}


def misfits(errors: Iterable[Mapping[str, Any]]) -> list[tuple[tuple[str, ...], str]]:
    """Validation errors of query and path parameters, as (location, message) pairs.

    A parameter of several possible types has an error for each; they are combined.
    """
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for each in errors:
        parts = [str(part) for part in each["loc"]]
        found.setdefault(tuple(parts[:2]), []).append(each)
    return [(place, _reason(several)) for place, several in found.items()]


def _reason(several: Sequence[Mapping[str, Any]]) -> str:
    values = [value for each in several for value in _values(each) if value]
    if values:
        return f"must be {' or '.join(filter(None, (', '.join(values[:-1]), values[-1])))}"
    if any(str(each["type"]).startswith("date_") for each in several):
        return "must be a date such as 2026-03-01"
    first = next((each for each in several if each["type"] != "literal_error"), several[0])
    return str(first["msg"]).replace("Input should", "must")


def _values(error: Mapping[str, Any]) -> list[str]:
    allowed = str(error.get("ctx", {}).get("expected", ""))
    return re.findall("'([^']*)'", allowed) if error["type"] in ("literal_error", "enum") else []


def of_error(error: HoldfastError) -> tuple[int, dict[str, Any]]:
    """Status and body of an error."""
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
    field = error.field if isinstance(error, Invalid) else None
    allowed = list(error.allowed) if isinstance(error, UnknownCategory) else None
    return status, problem(status, str(error), field=field, allowed=allowed)


def to_error(status: int, body: Mapping[str, Any]) -> HoldfastError:
    """Converts a problem+json response back to an exception."""
    detail = str(body.get("detail") or body.get("title") or f"the service answered with status {status}")
    field = body.get("field")
    if status == 401:
        return errors.Forbidden(detail)
    if status in (400, 413, 415, 422):
        return Invalid(detail, field=field if isinstance(field, str) else None)
    kind = next((kind for kind, known in STATUSES if known == status), errors.Unavailable)
    return kind(detail)


PATIENCE = 30.0  # seconds


class ServiceConnection:
    """A connection to a service, in the name of a token."""

    def __init__(self, url: str, token: str, *, space: str | None, http: "httpx2.Client | None") -> None:
        import httpx2

        self._http = http or httpx2.Client(base_url=url, timeout=PATIENCE)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._space = {"space": space} if space is not None else {}
        self._url = url

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        also: tuple[int, ...] = (),
    ) -> Any:
        """The JSON of a response with status 2xx or `also`. Raises: the service's error; Unavailable."""
        answer = self.send(method, path, query=query, body=body, headers=headers, also=also)
        return self._json(answer)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        also: tuple[int, ...] = (),
    ) -> "httpx2.Response":
        """The same, as it came."""
        import httpx2

        try:
            answer = self._http.request(
                method,
                f"/api{path}",
                params={**self._space, **without_nulls(query or {})},
                **({"content": body} if isinstance(body, bytes) else {"json": without_nulls(body)}),
                headers={**self._headers, **(headers or {})},
            )
        except httpx2.HTTPError as error:
            raise Unavailable(f"the service at {self._url} is unreachable: {error}") from error
        if answer.is_success or answer.status_code in also:
            return answer
        raise to_error(answer.status_code, self._json(answer))

    def close(self) -> None:
        self._http.close()

    def _json(self, answer: "httpx2.Response") -> Any:
        try:
            return answer.json()
        except ValueError:
            raise Unavailable(
                f"{self._url} is not a Holdfast service: it answered with status {answer.status_code}"
            ) from None


def without_nulls(value: Any) -> Any:
    """A value in JSON's terms without fields that are null, which have a default at the service."""
    kind: Any = type(value)
    if is_value(kind):
        value = {part.name: getattr(value, part.attribute) for part in parts_of(kind)}
    if isinstance(value, Mapping):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value
