"""The proxy: a memory in front of a model's API, for programs where only the address can be set.

    /proxy/TOKEN/anthropic/v1/messages
    /proxy/TOKEN/openai/v1/chat/completions

Requests go to the upstream that the operator configured, and its answers come back unchanged.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from holdfast.agents import capture_off
from holdfast.agents.proxy.api_adapters import ApiAdapter, ChatCompletions, MessagesApi
from holdfast.agents.proxy.request_memory import PreparedRequest, ProxyRegistry, RecordQueue, RequestMemory
from holdfast.agents.proxy.upstream import AnswerReader, StreamedResponse, Upstream
from holdfast.domain.access import Grant
from holdfast.errors import Forbidden

ADAPTERS: Final[Mapping[str, ApiAdapter]] = {"anthropic": MessagesApi(), "openai": ChatCompletions()}
#: Paths of conversations.
CONVERSATIONS: Final = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}
#: What else a client asks for, passed on as it is. A list, for an upstream may have more that is not for all.
PLAIN: Final = {
    "anthropic": (
        ("POST", "/v1/messages/count_tokens"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{model:path}"),
    ),
    "openai": (
        ("POST", "/v1/responses"),
        ("POST", "/v1/completions"),
        ("POST", "/v1/embeddings"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{model:path}"),
    ),
}
_MODEL = re.compile(r"\w[\w.@:-]*(?:/\w[\w.@:-]*)*", re.ASCII)
_ONE_SPACE = "the proxy needs a token with scope proxy for one space: create one on the settings page"


class Proxy:
    """The proxy of one application; `heard` is called after messages were stored."""

    def __init__(
        self,
        registry: ProxyRegistry,
        *,
        upstreams: Mapping[str, str],
        heard: Callable[[], None] = lambda: None,
    ) -> None:
        self._queue = RecordQueue()
        self.memory = RequestMemory(registry, self._queue, quiet=capture_off.reason, heard=heard)
        self.upstreams = {vendor: Upstream(upstreams[vendor]) for vendor in ADAPTERS}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        from anyio.to_thread import run_sync

        yield
        for upstream in self.upstreams.values():
            await upstream.close()
        await run_sync(self._queue.close)


def _all_routes() -> APIRouter:
    made = APIRouter(include_in_schema=False)
    for vendor, path in CONVERSATIONS.items():
        made.add_api_route(f"/proxy/{{token}}/{vendor}{path}", _attended(vendor), methods=["POST"])
        for method, plain in PLAIN[vendor]:
            made.add_api_route(f"/proxy/{{token}}/{vendor}{plain}", _plain(vendor, plain), methods=[method])
    return made


def _attended(vendor: str) -> Callable[..., Any]:
    adapter, path = ADAPTERS[vendor], CONVERSATIONS[vendor]

    async def passed(request: Request) -> Response:
        grant = _require_grant(request)
        proxy: Proxy = request.state.proxy
        upstream = proxy.upstreams[vendor]
        raw = await _body(request)
        if request.state.too_often:
            proxy.memory.tell_of_limit(grant)
            ready = PreparedRequest(raw)
        else:
            ready = await proxy.memory.prepared(raw, request.headers, grant, adapter)
        forwarded = upstream.request(
            "POST", path, _query(request), request.headers.raw, ready.body, plain=ready.changed
        )
        keep = ready.keep

        def listening(headers: Mapping[str, str]) -> AnswerReader:
            return AnswerReader(adapter.reply(), headers)

        def told(hearing: AnswerReader) -> None:
            if keep is not None and hearing.answer is not None:
                keep(hearing.answer)

        return StreamedResponse(
            upstream,
            forwarded,
            problem=adapter.problem,
            listening=listening if keep is not None else None,
            heard=told,
        )

    return passed


def _plain(vendor: str, path: str) -> Callable[..., Any]:
    adapter = ADAPTERS[vendor]

    async def passed(request: Request) -> Response:
        _require_grant(request)
        proxy: Proxy = request.state.proxy
        upstream = proxy.upstreams[vendor]
        model = request.path_params.get("model", "")
        if model and not _MODEL.fullmatch(model):
            raise HTTPException(404, "invalid model name")
        target = path.replace("{model:path}", model)
        forwarded = upstream.request(
            request.method, target, _query(request), request.headers.raw, await _body(request)
        )
        return StreamedResponse(upstream, forwarded, problem=adapter.problem)

    return passed


def _require_grant(request: Request) -> Grant:
    """The grant of the caller. Raises: Forbidden."""
    grant: Grant = request.state.grant
    grant.require("proxy")
    if grant.spaces is None or len(grant.spaces) != 1:
        raise Forbidden(_ONE_SPACE)
    return grant


async def _body(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect:  # or the guard, which ends a body that grows too large
        raise HTTPException(413, "request body too large or incomplete") from None


def _query(request: Request) -> bytes:
    found: bytes = request.scope.get("query_string", b"")
    return found


#: The routes of every application; each brings its own `Proxy` at `request.state.proxy`.
router = _all_routes()
