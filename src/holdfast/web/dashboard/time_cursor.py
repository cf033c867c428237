"""Lists by time: where a page of one ended, for an address; and marks that tell whether one changed."""

import base64
import binascii
import hashlib
import json
from datetime import datetime
from typing import Annotated

from fastapi import Query

from holdfast.domain.query import TimeCursor
from holdfast.errors import Invalid
from holdfast.web.dashboard.visit import Visit

After = Annotated[str, Query(max_length=1_000)]


def told(at: datetime, owner: str) -> str:
    """The place of something in its list."""
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), owner]).encode()).decode().rstrip("=")


def read(text: str) -> TimeCursor | None:
    """The same, read back; none for the list's beginning.

    Raises: Invalid.
    """
    if not text:
        return None
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        at, owner = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        moment = TimeCursor(datetime.fromisoformat(at), str(owner))
    except (ValueError, TypeError, binascii.Error):
        raise _lost() from None
    if moment.at.tzinfo is None or "\0" in moment.id:
        raise _lost()
    return moment


def mark(*things: object) -> str:
    """The same mark, the same list."""
    return hashlib.sha256(repr(things).encode("utf-8", "replace")).hexdigest()[:16]


def looking_again(visit: Visit) -> bool:
    """Whether an open page asks for its list once more."""
    return visit.partial and "x-seen" in visit.request.headers


def has_seen(visit: Visit, seen: str) -> bool:
    return visit.request.headers.get("x-seen") == seen


def _lost() -> Invalid:
    return Invalid("invalid page cursor: go back to the first page", field="after")
