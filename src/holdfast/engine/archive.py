"""The archive format: a space as JSON lines; the same contents always give the same bytes.

A header with the space, one line per row, table by table, and a footer with counts and a checksum, so that a
truncated file is noticed before anything is written. `docs/formats.md` describes the format. Since a complete
file can still contain invalid rows, each row is validated.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.domain.file_paths import checked_path
from holdfast.domain.memory import LINK_KINDS, ORIGINS, STATES
from holdfast.domain.profile import Profile
from holdfast.domain.space import Space
from holdfast.domain.text import clean
from holdfast.engine.archive_lines import FORMAT, is_time, line_of, parsed
from holdfast.engine.ports import Transaction
from holdfast.engine.token_archive import KIND as TOKENS
from holdfast.engine.token_archive import TokenArchive, TokenReader
from holdfast.errors import Invalid, Unavailable

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of an archive: the space that it contains."""

    space: str
    profile: str
    profile_text: str | None
    key: str
    keeps_messages: bool = True


@dataclass(frozen=True, slots=True)
class Archive:
    """One space that was read: the header, and the rows of each table."""

    header: Header
    rows: dict[str, list[dict[str, Any]]]

    @property
    def last_seq(self) -> int:
        return max((row["seq"] for row in self.rows.get("journal", ())), default=0)


def lines(tx: Transaction) -> Iterator[str]:
    """Exports a space as the lines of an archive.

    Raises: Unavailable, if row-level security hides rows of the space.
    """
    if not tx.dump.complete():
        raise Unavailable(
            f"row-level security hides the rows of space {tx.space.name!r} from this database role: "
            "nothing was written; connect as the role that the service uses"
        )
    digest = hashlib.sha256()
    counts: dict[str, int] = {}
    yield line_of(_header(tx.space))
    for table in tx.dump.tables():
        for row in tx.dump.rows(table):
            line = line_of({"table": table, "row": row})
            digest.update(line.encode())
            counts[table] = counts.get(table, 0) + 1
            yield line
    yield line_of({"end": tx.space.name, "counts": counts, "sha256": digest.hexdigest()})


def is_archive(first_line: str) -> bool:
    """Whether a file with this first line is an archive."""
    try:
        return isinstance(head := json.loads(first_line), dict) and head.get("holdfast") == "export"
    except (ValueError, RecursionError):
        return False


def read(stream: Iterable[str]) -> Iterator[Archive]:
    """Reads the spaces of a file; each is validated as a whole.

    Raises: Invalid, with the line number, if the file is no archive, damaged or incomplete.
    """
    return (part for part in read_all(stream) if isinstance(part, Archive))


def read_all(stream: Iterable[str]) -> Iterator[Archive | TokenArchive]:
    """The same, with the tokens of a backup. Raises: Invalid."""
    reader: _Reader | TokenReader | None = None
    number = spaces = 0
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        entry = parsed(line, number)
        if reader is None:
            reader = TokenReader() if entry.get("holdfast") == TOKENS else _Reader(entry, number)
        elif (part := reader.take(entry, line, number)) is not None:
            spaces += isinstance(part, Archive)
            yield part
            reader = None
    if reader is not None:
        raise Invalid(f"the archive is truncated at line {number}: nothing was imported")
    if not spaces:
        raise Invalid("the archive is empty: nothing was imported")


class _Reader:
    """Collects the lines of one space."""

    def __init__(self, entry: dict[str, Any], number: int) -> None:
        if entry.get("holdfast") != "export":
            raise Invalid(f"line {number} is not a Holdfast archive header")
        if entry.get("format") != FORMAT:
            raise Invalid(
                f"line {number}: archive format {entry.get('format')} is not supported, "
                f"this release reads {FORMAT}"
            )
        try:
            self.header = Header(
                space=entry["space"],
                profile=entry["profile"],
                profile_text=entry["profile_text"],
                key=entry["key"],
                keeps_messages=entry.get("keeps_messages", True) is True,
            )
            bytes.fromhex(self.header.key)
        except KeyError as error:
            raise Invalid(f"line {number}: the header is missing {error}") from None
        except (TypeError, ValueError):
            raise Invalid(f"line {number}: the header's key is damaged; nothing was imported") from None
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.digest = hashlib.sha256()

    def take(self, entry: dict[str, Any], line: str, number: int) -> Archive | None:
        if "end" in entry:
            counts = {table: len(rows) for table, rows in self.rows.items()}
            if entry.get("counts") != counts or entry.get("sha256") != self.digest.hexdigest():
                raise Invalid(f"line {number}: the archive was changed or damaged; nothing was imported")
            return Archive(self.header, self.rows)
        if not isinstance(entry.get("table"), str) or not isinstance(entry.get("row"), dict):
            raise Invalid(f"line {number}: expected a row with its table")
        if reason := wrong(entry["table"], entry["row"]):
            raise Invalid(f"line {number}: a row of {entry['table']} {reason}; nothing was imported")
        self.digest.update(line.encode())
        self.rows.setdefault(entry["table"], []).append(entry["row"])
        return None


def _header(space: Space) -> dict[str, Any]:
    return {
        "holdfast": "export",
        "format": FORMAT,
        "space": space.name,
        "profile": space.profile,
        "profile_text": space.profile_text,
        "key": space.key,
        "keeps_messages": space.keeps_messages,
    }


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
    if table == "receipt_items" and not any(isinstance(row.get(name), str) for name in _ITEMS):
        return f"is missing {' or '.join(_ITEMS)}"
    if table == "files" and not _possible(row["path"]):
        return f"has the invalid path {row['path']!r}"
    if table == "links" and row["kind"] not in LINK_KINDS:
        return f"has {row['kind']!r} for kind, expected one of {', '.join(LINK_KINDS)}"
    return None


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
