"""The way in for every text: measured, cleaned, freed of secrets, then checked against the profile."""

import hashlib
import hmac
from dataclasses import replace

from holdfast.domain.memory import Draft
from holdfast.domain.profile import Profile
from holdfast.domain.secrets import redact
from holdfast.domain.text import clean, normal_form
from holdfast.errors import Invalid

_ONLY_PRIVATE = ("[private]",)


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
