"""Requests to a service: one place for addresses, tokens, and what an answer that is none means."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import Unavailable
from holdfast.wire.http_errors import to_error

if TYPE_CHECKING:
    import httpx2

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
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        also: tuple[int, ...] = (),
    ) -> Any:
        """The answer's JSON; statuses in `also` are answers too.

        Raises: what the service says is wrong; Unavailable, when it can't be reached.
        """
        answer = self.send(method, path, query=query, body=body, headers=headers, also=also)
        return self._json(answer)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        also: tuple[int, ...] = (),
    ) -> "httpx2.Response":
        """The same, as it came."""
        import httpx2

        given = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            answer = self._http.request(
                method,
                f"/api{path}",
                params={**self._space, **given},
                json=_given(body) if body is not None else None,
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


def _given(body: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is none, and times as text."""
    from datetime import datetime

    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in body.items()
        if value is not None
    }
