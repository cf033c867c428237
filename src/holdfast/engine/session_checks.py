"""What sessions and messages may be called, and who may speak in them."""

from holdfast.domain.memory import ROLES, known_role
from holdfast.engine.intake import safe
from holdfast.errors import Invalid

TIERS = (1, 2, 3)
_MOST_ID = 200


def checked_role(role: str) -> str:
    """The role by its own name: Human and user are one. Raises: Invalid, naming the roles."""
    if (known := known_role(role)) is not None:
        return known
    raise Invalid(f"unknown role {role[:40]!r}: use one of {', '.join(ROLES)}", field="role")


def checked_id(text: str) -> str:
    """An id of a host's own making, if it can be one.

    Raises: Invalid.
    """
    if (
        not text
        or len(text) > _MOST_ID
        or not text.isprintable()
        or text != text.strip()
        or safe(text) != text
    ):
        raise Invalid(f"invalid id {text[:40]!r}: use 1 to {_MOST_ID} printable characters", field="session")
    return text


def checked_tier(tier: int | None) -> int | None:
    """Raises: Invalid."""
    if tier is not None and tier not in TIERS:
        raise Invalid(f"unknown tier {tier}: use 1, 2 or 3", field="tier")
    return tier
