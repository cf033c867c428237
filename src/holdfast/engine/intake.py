"""The way in for every text: measured, cleaned, freed of secrets, then checked against the profile.

And for the ids, roles and tiers that hosts give to sessions and messages.
"""

import hashlib
import hmac
from dataclasses import replace

from holdfast.domain.memory import ROLES, Draft, known_role
from holdfast.domain.profile import Profile
from holdfast.domain.secrets import redact
from holdfast.domain.text import clean, normal_form
from holdfast.errors import Invalid

_ONLY_PRIVATE = ("[private]",)


TIERS = (1, 2, 3)
_MOST_ID = 200


def sanitize(draft: Draft, profile: Profile) -> Draft:
    """`draft` as it may be stored.

    Raises: Invalid and its kinds.
    """
    profile.check_lengths(draft)
    content = safe(draft.content)
    if content.strip() in _ONLY_PRIVATE:
        raise Invalid("all of the text is marked private: nothing is left to remember", field="content")
    return profile.checked(
        replace(
            draft,
            content=content,
            subject=safe_or_none(draft.subject),
            summary=safe_or_none(draft.summary),
            project=safe_or_none(draft.project),
            tags=tuple(safe(tag) for tag in draft.tags),
            doubtful=safe_or_none(draft.doubtful),
        )
    )


def safe(text: str) -> str:
    """`text` without secrets. Cleaned first: hidden characters inside a key must not save it."""
    return redact(clean(text)).text


def safe_or_none(text: str | None) -> str | None:
    return None if text is None else safe(text)


def text_hash(content: str, key: str) -> str:
    """What is left of an erased text: enough to know it again, too little to read it."""
    return hmac.new(bytes.fromhex(key), normal_form(content).encode(), hashlib.sha256).hexdigest()


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
