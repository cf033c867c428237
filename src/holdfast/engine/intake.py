"""Sanitizes every text: limits its size, cleans it, redacts secrets, validates it against the profile.

It also validates the ids, roles and tiers of sessions and messages. A long message takes seconds, so it can
be read in steps.
"""

import hashlib
import hmac
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

from holdfast.domain.memory import ROLES, Draft, known_role
from holdfast.domain.profile import Profile
from holdfast.domain.secrets import redact, redacting
from holdfast.domain.terms import stems
from holdfast.domain.text import clean, normal_form, parts
from holdfast.engine.ports import TimeIsUp, TimeUp
from holdfast.errors import Invalid
from holdfast.language.off_record import is_private

_ONLY_PRIVATE = ("[private]",)


TIERS = (1, 2, 3)
_MOST_ID = 200


def sanitize(draft: Draft, profile: Profile) -> Draft:
    """The draft as it may be stored.

    Raises: Invalid and its kinds.
    """
    if draft.private:
        _check_private(draft, profile)
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


def _check_private(draft: Draft, profile: Profile) -> None:
    if draft.source.person is None:
        raise Invalid(
            "private needs to know whose memory it is: use a token of a person, or set HOLDFAST_PERSON",
            field="private",
        )
    if profile.policy.subject_is_key:
        raise Invalid(
            f"memories of profile {profile.name} are files, which all see: use a space with another profile",
            field="private",
        )


def safe(text: str) -> str:
    """The text without secrets. It is cleaned first, because hidden characters inside a key would hide it."""
    return redact(clean(text)).text


def safe_or_none(text: str | None) -> str | None:
    return None if text is None else safe(text)


def text_hash(content: str, key: str, private_to: str | None = None) -> str:
    """A keyed hash of an erased text: enough to recognise it, not to restore it.

    What was private to a person is recognised in what is private to that person alone.
    """
    said = normal_form(content) if private_to is None else f"{private_to}\0{normal_form(content)}"
    return hmac.new(bytes.fromhex(key), said.encode(), hashlib.sha256).hexdigest()


def checked_role(role: str) -> str:
    """The role by its canonical name ("human" is "user"). Raises: Invalid, naming the roles."""
    if (known := known_role(role)) is not None:
        return known
    raise Invalid(f"unknown role {role[:40]!r}: use one of {', '.join(ROLES)}", field="role")


def checked_id(text: str) -> str:
    """A valid id of a host.

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


# Messages

_LONG = 16_000  # characters that are read per step


@dataclass(frozen=True, slots=True)
class MessageText:
    """A message's text as it is stored."""

    text: str
    private: bool  # whether a part was marked as private
    words: Sequence[str]  # for the full-text index


#: Reads a text, all of it or until the time is up.
ReadText = Callable[[str], MessageText]
_Steps = Generator[None, None, MessageText]
#: Long texts in progress, or read and not stored yet: by space and session, then by hash.
_UNDER_WAY: dict[tuple[str, str], dict[bytes, _Steps | MessageText]] = {}


def read_text(text: str) -> MessageText:
    """Reads a text completely."""
    return _finished(_reading(text), lambda: False)


def in_steps(space: str, session_id: str, time_up: TimeUp) -> ReadText:
    """A function that reads a text until the time is up, and continues there the next time.

    The function raises: TimeIsUp.
    """

    def read(text: str) -> MessageText:
        if len(text) <= _LONG:
            return read_text(text)
        under_way = _UNDER_WAY.setdefault((space, session_id), {})
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        found = under_way.setdefault(digest, _reading(text))
        if not isinstance(found, MessageText):
            found = under_way[digest] = _finished(found, time_up)
            if time_up():  # storing a long text is a step, too
                raise TimeIsUp
        return found

    return read


def forget_steps(space: str, session_id: str) -> None:
    """Drops the finished texts of a session, which are stored now."""
    _UNDER_WAY.pop((space, session_id), None)


def _reading(text: str) -> _Steps:
    cleaned: list[str] = []
    for part in parts(text):
        cleaned.append(clean(part))  # first: hidden characters inside a key would hide it
        yield
    plain = "".join(cleaned)
    safe = (yield from redacting(plain)).text
    words: list[str] = []
    for part in parts(safe):
        words += stems(part)
        yield
    return MessageText(safe, is_private(plain), words)


def _finished(steps: _Steps, time_up: TimeUp) -> MessageText:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: MessageText = done.value
            return found
        if time_up():
            raise TimeIsUp
