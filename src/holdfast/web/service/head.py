"""HEAD, for who watches over the service or wants to know a version: what GET would say, without its body.

Only where GET may be asked at any time. News is told to a session once, and a page's address may hold a code
that counts once: whoever asks without wanting to read the answer would use them up.
"""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_PATHS: Final = ("/health", "/metrics", "/api/memory/", "/api/docs", "/api/openapi.json")


class HeadToo:
    """An application that answers HEAD wherever these paths answer GET."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or not scope["path"].startswith(_PATHS):
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, without_body)
        finally:
            scope.update({**asked, "method": "HEAD"})  # logs and figures ask it for the route
