"""Validates the rows of an archive: a complete file can still contain invalid rows."""

import re
from typing import Any

from holdfast.domain.access import is_person
from holdfast.domain.file_paths import checked_path
from holdfast.domain.history import REMEMBERED_TIMES
from holdfast.domain.memory import LINK_KINDS, ORIGINS, STATES
from holdfast.domain.profile import Profile
from holdfast.domain.text import clean
from holdfast.engine.archive_lines import is_time
from holdfast.errors import Invalid

_ID = re.compile(r"[A-Za-z0-9]{8}")
_TEXTS = {
    "sessions": ("id",),
    "messages": ("id", "session_id", "role"),
    "memories": ("id", "category", "content", "state", "origin"),
    "versions": ("memory_id", "content", "origin"),
    "repetitions": ("memory_id", "content", "category", "origin"),
    "citations": ("message_id", "memory_id"),
    "links": ("from_id", "to_id", "kind"),
    "receipts": ("id", "kind", "sha256"),
    "receipt_items": ("receipt_id",),
    "tombstones": ("hash", "reason"),
    "journal": ("action", "origin"),
    "calls": ("key", "fingerprint"),
    "files": ("path",),
}
_ITEMS = ("memory_id", "message_id")  # what an item of a receipt refers to
_ONE_OF = {"state": STATES, "origin": ORIGINS}
_NUMBERS = (
    "seq",
    "number",
    "position",
    "begins",
    "version",
    "tokens",
    "left_out",
    "accesses",
    "decayed_weeks",
)


def wrong(table: str, row: dict[str, Any]) -> str | None:
    """What is invalid in a row; None if it is valid."""
    for name in _TEXTS.get(table, ()):
        if not isinstance(row.get(name), str) or not row[name]:
            return f"is missing {name}"
    for name, value in row.items():
        if isinstance(value, str) and value != clean(value):
            return f"has characters in {name} that can't be stored"
        if name.endswith("_at") and value is not None and not is_time(value):
            return f"has {value!r} for {name}, expected a time"
        if name in _NUMBERS and type(value) is not int and not _of_a_message(table, name, row):
            return f"has {value!r} for {name}, expected a whole number"
        if table != "jobs" and name in _ONE_OF and value not in _ONE_OF[name]:
            return f"has {value!r} for {name}, expected one of {', '.join(_ONE_OF[name])}"
    if (reason := _wrong_person(row)) is not None:
        return reason
    if table == "receipt_items" and not any(isinstance(row.get(name), str) for name in _ITEMS):
        return f"is missing {' or '.join(_ITEMS)}"
    if table == "files" and not _possible(row["path"]):
        return f"has the invalid path {row['path']!r}"
    if table == "journal" and not all(_is_state(row.get(name)) for name in ("before", "after")):
        return "has a state of a memory that is incomplete"
    if table == "links" and row["kind"] not in LINK_KINDS:
        return f"has {row['kind']!r} for kind, expected one of {', '.join(LINK_KINDS)}"
    return None


def _wrong_person(row: dict[str, Any]) -> str | None:
    person, private = row.get("person"), row.get("private", False)
    if person is not None and not is_person(person):
        return f"has {person!r:.60} for person, expected a name such as ana"
    if type(private) is not bool or (private and person is None):
        return f"has {private!r:.60} for private, expected true with a person, or false"
    return None


#: What a merge computes with, and what each is.
_COMPUTED: dict[str, type | tuple[type, ...]] = {
    "confidence": (int, float),
    "importance": int,
    "decayed_weeks": int,
    "version": int,
    "state": str,
    "tags": list,
    **dict.fromkeys(REMEMBERED_TIMES, str),
}


def _is_state(kept: object) -> bool:
    """Whether this is what the journal keeps of a memory, or nothing."""
    if kept is None:
        return True
    if not isinstance(kept, dict) or not all(isinstance(kept.get(n), kind) for n, kind in _COMPUTED.items()):
        return False
    return kept["state"] in STATES and all(is_time(kept[name]) for name in REMEMBERED_TIMES)


def _possible(path: str) -> bool:
    try:
        return checked_path(path) == path
    except Invalid:
        return False


def _of_a_message(table: str, name: str, row: dict[str, Any]) -> bool:
    """Whether a number may be null because the row belongs to a message, which has none."""
    is_version = (table, name) == ("receipt_items", "version")
    return is_version and row[name] is None and row.get("memory_id") is None


def wrong_memory(row: dict[str, Any], profile: Profile) -> str | None:
    """What is invalid in a memory under this profile; None if it is valid."""
    if not _ID.fullmatch(row["id"]):
        return f"has the invalid id {row['id']!r}"
    if row["category"] not in (*profile.category_names, profile.unsorted):
        return f"has the category {row['category']!r}, which the profile {profile.name} does not have"
    tags = row.get("tags")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return f"has {tags!r} for tags, expected a list of strings"
    confidence, importance = row.get("confidence"), row.get("importance")
    if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return f"has {confidence!r} for confidence, expected 0 to 1"
    if not isinstance(importance, int) or not 1 <= importance <= 5:
        return f"has {importance!r} for importance, expected 1 to 5"
    return None
