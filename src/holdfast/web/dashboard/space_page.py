"""/spaces/new: creates a space, and goes to it."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from holdfast.errors import Conflict, Invalid
from holdfast.profiles import BUILT_IN, built_in
from holdfast.web.dashboard.responses import PageRoute, dialog, done
from holdfast.web.dashboard.visit import AdminVisit, Fields, Sent, Visit

router = APIRouter(route_class=PageRoute, include_in_schema=False)
LIMITED: Final = "this token is limited to its own spaces: use a token for all spaces"


@router.get("/spaces/new")
def new_space(visit: AdminVisit) -> Response:
    visit.grant.require("admin", everywhere=LIMITED)
    return _form(visit, Fields())


@router.post("/spaces/new")
def create_space(visit: AdminVisit, sent: Sent) -> Response:
    name = sent.text("name").strip()
    try:
        visit.registry.administration(visit.grant).create_space(
            name, profile=sent.text("profile"), keeps_messages=sent.given("keeps_messages")
        )
    except (Invalid, Conflict) as wrong:
        return _form(visit, sent, str(wrong))
    home = f"/?space={name}"
    return done(visit, f"Created the space {name}.", back=home, leave=home)


def _form(visit: Visit, sent: Fields, wrong: str = "") -> Response:
    status = 422 if wrong and not visit.partial else 200
    profiles = [built_in(name) for name in BUILT_IN]
    return dialog(visit, "space_new.html", status=status, sent=sent, wrong=wrong, profiles=profiles)
