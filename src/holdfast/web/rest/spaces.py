"""Spaces and the tokens that open them."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from holdfast.domain.space import Quota, Token
from holdfast.engine.administration import SAME
from holdfast.engine.spaces import Overview
from holdfast.engine.tokens import duration, lifetime
from holdfast.web.rest import request_bodies, responses
from holdfast.web.rest.routing import (
    AdminRead,
    AdminWrite,
    BoundedRoute,
    JsonResponse,
    registry_of,
)

router = APIRouter(tags=["spaces"], route_class=BoundedRoute)

SpaceName = Annotated[str, Path(max_length=63)]
TokenId = Annotated[str, Path(max_length=200)]


@router.get("/spaces", response_model=responses.Spaces)
def list_(administration: AdminRead) -> JsonResponse:
    """Lists the spaces that the token covers."""
    found = administration.spaces()
    return JsonResponse(responses.Spaces(found, len(found)))


@router.post("/spaces", status_code=201, response_model=Overview)
def create(administration: AdminWrite, new: request_bodies.NewSpace) -> JsonResponse:
    """Creates a space."""
    administration.create_space(
        new.name, profile=new.profile, text=new.profile_text, keeps_messages=new.keeps_messages
    )
    return JsonResponse(administration.space(new.name), status_code=201)


@router.get("/spaces/{name}", response_model=Overview)
def show(administration: AdminRead, name: SpaceName) -> JsonResponse:
    """One space and its counts."""
    return JsonResponse(administration.space(name))


@router.patch("/spaces/{name}", response_model=Overview)
def change(administration: AdminWrite, name: SpaceName, changed: request_bodies.SpaceChange) -> JsonResponse:
    """Changes settings of the space: messages, quota, access log."""
    administration.change_space(name, **_given(changed))
    return JsonResponse(administration.space(name))


@router.delete("/spaces/{name}", response_model=Overview)
def delete(administration: AdminWrite, name: SpaceName, request: Request) -> JsonResponse:
    """Deletes a space and everything in it for good; returns its last counts."""
    gone = administration.delete_space(name)
    registry_of(request).left(name)
    return JsonResponse(gone)


@router.get("/tokens", response_model=responses.Tokens, tags=["tokens"])
def tokens(administration: AdminWrite) -> JsonResponse:
    """Lists tokens, without their secrets."""
    return JsonResponse(responses.Tokens(administration.tokens()))


@router.post("/tokens", status_code=201, response_model=responses.Secret, tags=["tokens"])
def create_token(administration: AdminWrite, new: request_bodies.NewToken) -> JsonResponse:
    """Creates a token, which may do no more than yours. Its secret is shown only once."""
    spaces = tuple(new.spaces) if new.spaces is not None else None
    made = administration.create_token(
        *new.scopes,
        spaces=spaces,
        name=new.name,
        lifetime=SAME if new.expires is None else lifetime(new.expires),
        person=new.person,
        max_requests=new.max_requests,
        quota=Quota(max_memories=new.max_memories, max_messages=new.max_messages, max_bytes=new.max_bytes),
    )
    return JsonResponse(responses.Secret(made.token, made.secret), status_code=201)


@router.patch("/tokens/{token_id}", response_model=Token, tags=["tokens"])
def change_token(
    administration: AdminWrite, token_id: TokenId, changed: request_bodies.TokenChange
) -> JsonResponse:
    """Changes the limits of a token."""
    return JsonResponse(administration.change_token(token_id, **_given(changed)))


@router.post("/tokens/{token_id}/rotate", response_model=responses.Secret, tags=["tokens"])
def rotate_token(
    administration: AdminWrite, token_id: TokenId, asked: request_bodies.Rotation
) -> JsonResponse:
    """Gives a token a new secret, which is shown only once."""
    until = SAME if asked.expires is None else lifetime(asked.expires)
    made = administration.rotate_token(token_id, grace=duration(asked.grace, "grace"), lifetime=until)
    return JsonResponse(responses.Secret(made.token, made.secret))


@router.delete("/tokens/{token_id}", response_model=Token, tags=["tokens"])
def revoke_token(administration: AdminWrite, token_id: TokenId) -> JsonResponse:
    """Revokes a token at once."""
    return JsonResponse(administration.revoke_token(token_id))


def _given(body: request_bodies.Body) -> Any:
    """What a body names, as arguments."""
    return body.model_dump(include=body.model_fields_set)
