"""/api/memory-tool: Anthropic's memory tool over HTTP, for hosts that run the model's tool calls themselves.

The body is the tool's input as the model sent it; the answer is what goes into the tool result.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.agents.tools.anthropic_memory import answered
from holdfast.web.rest import request_bodies
from holdfast.web.rest.routing import BoundedRoute, JsonResponse, SpaceRead, speaking
from holdfast.wire.values import shaped

router = APIRouter(tags=["memory tool"], route_class=BoundedRoute)

_Path = Annotated[str, Field(max_length=1_000)]
_Line = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class MemoryCommand(request_bodies.Body):
    """One command of the tool `memory_20250818`, with the fields that it needs."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: _Path | None = None
    view_range: Annotated[list[_Line], Field(max_length=2)] | None = None
    file_text: request_bodies.Text | None = None
    old_str: request_bodies.Text | None = None
    new_str: request_bodies.Text | None = None
    insert_line: _Line | None = None
    insert_text: request_bodies.Text | None = None
    old_path: _Path | None = None
    new_path: _Path | None = None


@shaped(schema="ToolResult")
@dataclass(frozen=True, slots=True)
class MemoryToolResult:
    """The tool result for the model."""

    content: str
    is_error: bool


@router.post("/memory-tool", response_model=MemoryToolResult)
def memory_tool(
    memories: SpaceRead,
    command: MemoryCommand,
    session: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
) -> JsonResponse:
    """Runs a command of Anthropic's memory tool on the files of the space. All commands but view need a token
    with scope tools. An invalid command is answered with is_error and a message for the model."""
    model = speaking(memories, origin="assistant", session=session)
    answer = answered(model, command.model_dump(exclude_none=True))
    return JsonResponse(MemoryToolResult(answer.text, answer.failed))
