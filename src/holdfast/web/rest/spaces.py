"""Spaces and the tokens that open them."""

from typing import Annotated

from fastapi import APIRouter, Path, Request

from holdfast.domain.space import Token
from holdfast.engine.spaces import Overview
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
    """Sets whether the space stores messages."""
    administration.change_space(name, keeps_messages=changed.keeps_messages)
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
    """Creates a token. Its secret is shown only once."""
    spaces = tuple(new.spaces) if new.spaces is not None else None
    made = administration.create_token(*new.scopes, spaces=spaces, name=new.name)
    return JsonResponse(responses.Secret(made.token, made.secret), status_code=201)


@router.delete("/tokens/{token_id}", response_model=Token, tags=["tokens"])
def revoke_token(administration: AdminWrite, token_id: Annotated[str, Path(max_length=200)]) -> JsonResponse:
    """Revokes a token at once."""
    return JsonResponse(administration.revoke_token(token_id))
