"""What a list of memories shows: the choices in its address, as a filter for the engine and back again."""

import base64
import binascii
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import Query

from holdfast.domain.memory import Memory, Origin, State
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter, Group, MemoryCursor, Order
from holdfast.errors import Invalid

Shown = Literal["all", "active", "inactive", "waiting", "deleted"]
Sort = Literal["recent", "confidence", "created"]
SHOWN: Final[dict[Shown, tuple[State, ...]]] = {
    "all": ("active", "inactive", "waiting"),
    "active": ("active",),
    "inactive": ("inactive",),
    "waiting": ("waiting",),
    "deleted": ("forgotten",),
}
SORTS: Final[dict[Sort, str]] = {
    "recent": "Updated",
    "confidence": "Confidence",
    "created": "Oldest",
}
_ORDERS: Final[dict[Sort, Order]] = {"recent": "recent", "confidence": "confidence", "created": "created"}

Text = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Empty means: any, or as usual."""

    subject: str = ""
    category: str = ""
    state: Shown = "all"
    q: str = ""
    tag: str = ""
    session: str = ""
    origin: str = ""
    sort: Sort = "recent"
    group: Group | Literal[""] = ""
    after: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether something is left out that is usually shown."""
        asked = (self.subject, self.category, self.q, self.tag, self.session, self.origin)
        return any(asked) or self.state != "all"

    @property
    def order(self) -> Order:
        return _ORDERS[self.sort]

    @property
    def place(self) -> MemoryCursor | None:
        return _place(self.after) if self.after else None

    def where(self, profile: Profile) -> Filter:
        general = bool(self.subject) and self.subject.casefold() == profile.block.general.casefold()
        return Filter(
            states=SHOWN[self.state],
            category=self.category or None,
            subject=None if general else self.subject or None,
            general=general,
            tags=(self.tag,) if self.tag else (),
            session=self.session or None,
            origin=self.origin or None,  # type: ignore[arg-type]  # checked by the address
            text=self.q.strip() or None,
            proposals=self.state == "waiting",
        )

    def told(self, **other: Any) -> dict[str, Any]:
        """The choices for an address, with what is usual left out; a new choice begins at the first page."""
        chosen = {**asdict(self), "after": "", **other}
        usual = asdict(Choices())
        return {name: value for name, value in chosen.items() if value != usual[name]}


def choices(
    subject: Text = "",
    category: Text = "",
    state: Shown = "all",
    q: Text = "",
    tag: Text = "",
    session: Text = "",
    origin: Origin | Literal[""] = "",
    sort: Sort = "recent",
    group: Group | Literal[""] = "",
    after: Annotated[str, Query(max_length=2_000)] = "",
) -> Choices:
    return Choices(
        subject=subject, category=category, state=state, q=q, tag=tag, session=session, origin=origin,
        sort=sort, group=group, after=after,
    )  # fmt: skip


def cursor(memory: Memory) -> str:
    """Where a page ended, as a text for an address."""
    place = MemoryCursor.of(memory)
    told = [
        place.id, place.category, place.subject, place.confidence,
        place.created_at.isoformat(), place.updated_at.isoformat(),
    ]  # fmt: skip
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")


def _place(text: str) -> MemoryCursor:
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        told = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        memory_id, category, subject, confidence, created, updated = told
        place = MemoryCursor(
            id=str(memory_id),
            category=str(category),
            subject=None if subject is None else str(subject),
            confidence=float(confidence),
            created_at=datetime.fromisoformat(created),
            updated_at=datetime.fromisoformat(updated),
        )
    except (ValueError, TypeError, OverflowError, binascii.Error):
        raise _lost() from None
    texts = f"{place.id}{place.category}{place.subject}"
    if place.created_at.tzinfo is None or place.updated_at.tzinfo is None or "\0" in texts:
        raise _lost()
    return place


def _lost() -> Invalid:
    return Invalid("invalid page cursor: go back to the first page", field="after")
