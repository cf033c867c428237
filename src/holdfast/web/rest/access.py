"""Who asks, and in which space: what every route of the REST door starts with.

The guard has let the caller in already. A route declares the scope that it needs by the kind of memories that
it asks for, and the memories themselves check it again at each verb.
"""

from typing import Annotated, Protocol

from fastapi import Depends, Query, Request

from holdfast.domain.access import Grant, Scope
from holdfast.domain.memory import PEOPLE, Origin
from holdfast.engine.administration import Administration
from holdfast.engine.memories import Memories
from holdfast.errors import Forbidden


class RestRegistry(Protocol):
    """The spaces that the service keeps open."""

    def entered(self, grant: Grant, space: str | None = None) -> Memories: ...
    def administration(self, grant: Grant) -> Administration: ...
    def left(self, space: str) -> None: ...


class Checked:
    """Something that only a caller with at least this scope gets."""

    def __init__(self, scope: Scope) -> None:
        self.scope: Scope = scope


class RequireSpace(Checked):
    """The memories of the space that was asked for, for a caller with at least this scope."""

    def __call__(
        self,
        request: Request,
        space: Annotated[
            str | None,
            Query(max_length=63, description="Required if the token covers several spaces."),
        ] = None,
    ) -> Memories:
        grant: Grant = request.state.grant
        grant.require(self.scope)
        return registry_of(request).entered(grant, space)


class RequireAdmin(Checked):
    """Spaces and tokens, for a caller with at least this scope."""

    def __call__(self, request: Request) -> Administration:
        grant: Grant = request.state.grant
        grant.require(self.scope)
        return registry_of(request).administration(grant)


Reading = Annotated[Memories, Depends(RequireSpace("read"))]
Writing = Annotated[Memories, Depends(RequireSpace("write"))]
Deciding = Annotated[Memories, Depends(RequireSpace("admin"))]
LookingAround = Annotated[Administration, Depends(RequireAdmin("read"))]
Administering = Annotated[Administration, Depends(RequireAdmin("admin"))]


def registry_of(request: Request) -> RestRegistry:
    """The registry that the router was made for."""
    registry: RestRegistry = request.state.registry
    return registry


def speaking(
    memories: Memories,
    *,
    origin: Origin | None = None,
    session: str | None = None,
    project: str | None = None,
) -> Memories:
    """The memories for this speaker. What was heard elsewhere may be told as such; nobody may claim more.

    Raises: Forbidden.
    """
    if origin in PEOPLE and memories.origin not in PEOPLE:
        raise Forbidden(f"origin {origin!r} requires a token with scope 'admin': leave origin out")
    return memories.speaking_as(origin or memories.origin, session=session, project=project)
