"""/settings: the space and its rules, models, tokens, clients, and what doctor finds."""

from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from holdfast.app import client_setup
from holdfast.domain.access import SCOPES
from holdfast.domain.profile import Policy, Profile
from holdfast.domain.space import Quota, Token
from holdfast.domain.spend import dollars
from holdfast.engine.administration import SAME
from holdfast.engine.tokens import IssuedToken, duration, lifetime
from holdfast.errors import NotFound
from holdfast.web.dashboard.responses import PageRoute, dialog, done, page, part
from holdfast.web.dashboard.visit import AdminVisit, ReadVisit, Sent, Visit

PURPOSES: Final = {
    "gate": "Gate (what to read)",
    "extract": "Extractor (what to keep)",
    "judge": "Judge (duplicate or not)",
}
LIMITS: Final = (
    ("max_requests", "Requests a minute"),
    ("max_memories", "Memories"),
    ("max_messages", "Messages"),
    ("max_bytes", "Bytes of text"),
)
STATES: Final = {
    "connected": ("connected", "Its sessions use this space."),
    "otherwise": ("connected elsewhere", "Its sessions use another space or another Holdfast installation."),
    "none": ("not connected", ""),
    "unknown": ("unknown", ""),
}
_ON_SAME = {
    "reinforce": "raises the confidence of the known memory",
    "suggest": "returns the known memory, to be updated instead",
    "merge": "is merged into the known memory",
    "overwrite": "replaces the known memory",
}
_ON_CONTRADICTION = {
    "weaken": "lowers the confidence of the known memory; both are kept",
    "suggest": "returns the known memory, to be updated instead",
    "keep": "both are kept",
    "overwrite": "replaces the known memory",
}
_LAYOUTS = {
    "by-subject": "grouped by subject",
    "by-category": "grouped by category",
    "rules-first": "the user's rules, then notes, newest first",
    "index": "an index of files",
}
_REMOVAL = {
    "soft": "soft delete: can be restored; the same text is not stored again",
    "permanent": "deletes for good; the same text is not stored again",
}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/settings")
def settings(visit: ReadVisit) -> Response:
    return _page(visit)


@router.get("/settings/tokens")
def tokens(visit: ReadVisit) -> Response:
    """Redirects a reload of the page with a new token, so that it creates no other one."""
    return RedirectResponse(visit.address("/settings"), 303)


@router.post("/settings/tokens")
def create_token(visit: AdminVisit, sent: Sent) -> Response:
    """The page with the new token's secret, which no other page shows."""
    everywhere = sent.text("reach") == "all"
    made = visit.registry.administration(visit.grant).create_token(
        *sent.all("scope"),
        spaces=None if everywhere else (visit.space,),
        name=sent.text("name").strip() or None,
        person=sent.text("person").strip() or None,
        lifetime=lifetime(sent.text("expires")) if sent.given("expires") else SAME,
        max_requests=sent.whole("max_requests"),
        quota=Quota(
            max_memories=sent.whole("max_memories"),
            max_messages=sent.whole("max_messages"),
            max_bytes=sent.whole("max_bytes"),
        ),
    )
    return _page(visit, made)


@router.get("/settings/rotate")
def ask_to_rotate(visit: AdminVisit, token: str = "") -> Response:
    """Asks how long the old secret is to work."""
    return _ask(visit, token, "settings_rotate.html")


@router.get("/settings/rotated")
def rotated(visit: ReadVisit) -> Response:
    """Redirects a reload of the page with a new secret, so that it rotates nothing."""
    return RedirectResponse(visit.address("/settings"), 303)


@router.post("/settings/rotated")
def rotate(visit: AdminVisit, sent: Sent) -> Response:
    """The page with the new secret, which no other page shows."""
    grace = duration(sent.text("grace") or "0h", "grace")
    return _page(
        visit, visit.registry.administration(visit.grant).rotate_token(sent.text("token"), grace=grace)
    )


@router.get("/settings/revoke")
def ask_to_revoke(visit: AdminVisit, token: str = "") -> Response:
    """Asks for confirmation, with the effect of revoking a token."""
    return _ask(visit, token, "settings_revoke.html")


@router.post("/settings/revoke")
def revoke(visit: AdminVisit, sent: Sent) -> Response:
    gone = visit.registry.administration(visit.grant).revoke_token(sent.text("token"))
    home = visit.address("/settings")
    return done(visit, f"Revoked the token {gone.name or gone.id}.", back=home, leave=home)


@router.post("/settings/try")
def try_models(visit: AdminVisit, sent: Sent) -> Response:
    """Sends each model a short request; a language model's answer costs as usual."""
    found = visit.memories.try_models()
    if visit.partial:
        return part(visit, "settings_trials.html", trials=found)
    return page(visit, "settings_trials_page.html", trials=found)


@router.get("/settings/checkup")
def checkup(visit: AdminVisit) -> Response:
    """The findings of doctor; loaded separately, because it checks the whole database."""
    found = visit.registry.checkup(visit.grant)
    if visit.partial:
        return part(visit, "settings_checkup.html", found=found)
    return page(visit, "settings_checkup_page.html", found=found)


def _page(visit: Visit, made: IssuedToken | None = None) -> Response:
    models = visit.memories.models()
    owner = visit.may_decide and visit.grant.spaces is None  # of this machine's files, not of spaces alone
    return page(
        visit,
        "settings.html",
        overview=visit.memories.overview(),
        rules=rules(visit.profile),
        models=models,
        purposes=[(title, models.readers[name]) for name, title in PURPOSES.items()],  # type: ignore[index]
        caps=_caps(models.caps.daily, models.caps.session),
        tokens=_tokens(visit) if visit.may_decide else [],
        made=made,
        scopes=SCOPES,
        limits=limits,
        limit_names=LIMITS,
        clients=client_setup.client_states(visit.space, visit.memories.store.where()) if owner else [],
        client_words=STATES,
        owner=owner,
        notes=visit.memories.attention(),
    )


def _ask(visit: Visit, token: str, template: str) -> Response:
    found = next((one for one in _tokens(visit) if one.id == token), None)
    if found is None:
        raise NotFound("token not found: it may already be revoked")
    return dialog(visit, template, token=found, own=found.id == visit.grant.token)


def _tokens(visit: Visit) -> list[Token]:
    """Valid tokens first, newest first."""
    found = visit.registry.administration(visit.grant).tokens()
    newest = sorted(found, key=lambda one: one.created_at, reverse=True)
    return sorted(newest, key=lambda one: one.revoked_at is not None)


def limits(token: Token) -> list[str]:
    """What a token may do at most."""
    quota = token.quota
    most = (token.max_requests, quota.max_memories, quota.max_messages, quota.max_bytes)
    return [
        f"{limit:,} {title[0].lower()}{title[1:]}"
        for (_, title), limit in zip(LIMITS, most, strict=True)
        if limit is not None
    ]


def _caps(daily: int | None, session: int | None) -> list[tuple[str, Any]]:
    return [
        ("Daily limit", dollars(daily) if daily is not None else "none"),
        ("Session limit", dollars(session) if session is not None else "none"),
    ]


def rules(profile: Profile) -> list[tuple[str, str]]:
    """The name and value of each rule."""
    policy, block, limits = profile.policy, profile.block, profile.limits
    lines = f", at most {block.lines:,} lines" if block.lines else ""
    told = [
        ("Duplicate", _ON_SAME[policy.on_same] + _by("+", policy.reinforce_by)),
        ("Contradiction", _ON_CONTRADICTION[policy.on_contradiction] + _by("−", policy.weaken_by)),
        ("Confidence", _belief(policy)),
        ("Decay", _fading(policy)),
        ("Deleting", _REMOVAL[policy.removal]),
        ("Text length", _texts(limits.content_min, limits.content_max, one_line=limits.one_line)),
        ("Brief", f"{_LAYOUTS[block.layout]}, at most {block.budget:,} tokens{lines}"),
        ("Tools for models", ", ".join(profile.tools)),
    ]
    if policy.subject_is_key:
        told.insert(2, ("Names", "one memory per name, as with files"))
    return told


def _by(sign: str, amount: float) -> str:
    return f" ({sign}{amount:g})" if amount else ""


def _belief(policy: Policy) -> str:
    if not policy.weighs_confidence:
        return "not used"
    floor = f"; inactive below {policy.floor:g}" if policy.floor else ""
    return f"starts at {policy.confidence:g}{floor}"


def _fading(policy: Policy) -> str:
    told = []
    if policy.decay_by:
        days = policy.decay_after_days
        told.append(f"loses {policy.decay_by:g} a week if not confirmed for {days} days")
    if policy.unused_days:
        told.append(f"archived if not used for {policy.unused_days} days")
    return "; ".join(told) or "never"


def _texts(least: int, most: int, *, one_line: bool) -> str:
    shortest = f"{least:,} to {most:,}" if least > 1 else f"up to {most:,}"
    return f"{shortest} characters{', one line' if one_line else ''}"
