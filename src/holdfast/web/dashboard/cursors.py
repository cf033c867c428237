"""Where a page of a list ended, for an address; and marks that tell whether a list changed."""

import base64
import hashlib
from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field, TypeAdapter

from holdfast.domain.query import MemoryCursor, TimeCursor
from holdfast.errors import Invalid

After = Annotated[str, Field(max_length=1_000)]
Place = TypeVar("Place", MemoryCursor, TimeCursor)
_FORMS: Final[dict[type, TypeAdapter[Any]]] = {kind: TypeAdapter(kind) for kind in (MemoryCursor, TimeCursor)}


def written(place: MemoryCursor | TimeCursor) -> str:
    """A place as a text for an address."""
    return base64.urlsafe_b64encode(_FORMS[type(place)].dump_json(place)).decode().rstrip("=")


def read(kind: type[Place], text: str) -> Place | None:
    """The same, read back; none for the list's beginning.

    Raises: Invalid.
    """
    if not text:
        return None
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        place: Place = _FORMS[kind].validate_json(base64.b64decode(padded, altchars=b"-_", validate=True))
    except ValueError:
        raise _lost() from None
    if not all(_sound(getattr(place, field.name)) for field in fields(place)):
        raise _lost()
    return place


def _sound(value: object) -> bool:
    """Whether both databases take it: times with a zone, texts without a null character."""
    if isinstance(value, datetime):
        return value.tzinfo is not None
    return not isinstance(value, str) or "\0" not in value


def mark(*things: object) -> str:
    """The same mark, the same list."""
    return hashlib.sha256(repr(things).encode("utf-8", "replace")).hexdigest()[:16]


def _lost() -> Invalid:
    return Invalid("invalid page cursor: go back to the first page", field="after")
