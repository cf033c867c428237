"""Pages of a long list: where the next one starts, as a text that callers hand back and do not look into.

A list may change between two pages. The cursor remembers the last item that was seen; where it moved, the
next page starts behind it all the same, so that nothing is shown twice or left out.
"""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Protocol, TypeVar

from fastapi import Query

from holdfast.errors import Invalid

MOST = 1_000  # items of a page
_FARTHEST = 10_000_000

Cursor = Annotated[str | None, Query(max_length=1_000, description="`next` of the previous page.")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="Maximum number of items.")]


class Named(Protocol):
    @property
    def id(self) -> str: ...


Item = TypeVar("Item", bound=Named)
Fetch = Callable[[int, int], Sequence[Item]]  # a limit and an offset to items


def page(fetch: Fetch[Item], cursor: str | None, limit: int) -> tuple[Sequence[Item], str | None]:
    """The items after `cursor`, and the next cursor; None at the end.

    Raises: Invalid, for an invalid cursor.
    """
    start = _start(fetch, *_read(cursor)) if cursor is not None else 0
    found = fetch(limit + 1, start)
    items = found[:limit]
    more = len(found) > limit
    return items, _encode(start + limit, items[-1].id) if more else None


def _start(fetch: Fetch[Item], offset: int, last: str) -> int:
    before = fetch(1, offset - 1)
    if before and before[0].id == last:
        return offset
    # Something came or went meanwhile: behind the last one that was seen, if it is still there.
    place = 0
    while ids := [item.id for item in fetch(MOST, place)]:
        if last in ids:
            return place + ids.index(last) + 1
        place += len(ids)
    return offset


def _encode(offset: int, last: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([offset, last]).encode()).decode().rstrip("=")


def _read(cursor: str) -> tuple[int, str]:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        offset, last = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error):
        raise _wrong() from None
    if type(offset) is not int or not 1 <= offset <= _FARTHEST or not isinstance(last, str):
        raise _wrong()
    return offset, last


def _wrong() -> Invalid:
    return Invalid("invalid cursor: use `next` of the previous page", field="cursor")
