"""The application that `holdfast serve` runs: health, hooks, MCP over HTTP, and the worker behind them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from holdfast import __version__
from holdfast.doors.service.guard import App, Guard
from holdfast.doors.service.worker import Worker

Answer = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]  # a hook's event and input to what it says


def application(*, token: str, answer_hook: Answer, mcp: "MountedMcp", worker: Worker) -> App:
    """Everything behind the guard."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.running():
            worker.start()
            try:
                yield
            finally:
                worker.stop()

    # The pages that describe the service come with its REST part.
    app = FastAPI(
        title="Holdfast",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )

    @app.get("/health")
    def health() -> dict[str, bool]:
        return {"ok": True}

    @app.post("/hooks/{event}")
    def hook(event: str, payload: dict[str, Any]) -> Mapping[str, Any]:
        return answer_hook(event, payload)

    app.mount("/", mcp.app)
    return Guard(app, token=token)  # type: ignore[arg-type]  # Starlette types ASGI messages as MutableMapping


class MountedMcp:
    """The MCP server as a part of the application. Stateless: any process may answer any request."""

    def __init__(self, server: Any) -> None:
        # The guard has checked host and origin already, and knows hosts that the SDK's own check does not.
        from mcp.server.transport_security import TransportSecuritySettings

        self.app: ASGIApp = server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._server = server

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._server.session_manager.run():
            yield
