"""The archive format: a space as JSON lines; the same contents always give the same bytes.

A header with the space, one line per row, table by table, and a footer with counts and a checksum, so that a
truncated file is noticed before anything is written. `docs/formats.md` describes the format.
"""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.domain.space import Space
from holdfast.engine.archive_lines import FORMAT, line_of, parsed
from holdfast.engine.archive_rows import wrong
from holdfast.engine.ports import Transaction
from holdfast.engine.token_archive import KIND as TOKENS
from holdfast.engine.token_archive import TokenArchive, TokenReader
from holdfast.errors import Invalid, Unavailable

_SMALL = 1024 * 1024  # bytes of which it does not matter how well they are packed
_MOST_RATIO = 200  # text is packed to a tenth or so of its size


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


def unpacked(data: bytes) -> Iterator[str]:
    """The lines of a gzipped archive, as they are unpacked.

    Raises: Invalid, if the data is no gzipped text, or unpacks to far more than an archive would.
    """
    allowed = max(_SMALL, _MOST_RATIO * len(data))
    try:
        with gzip.open(io.BytesIO(data)) as file:
            while line := file.readline(allowed + 1):
                allowed -= len(line)
                if allowed < 0:
                    raise Invalid(f"the archive unpacks to more than {_MOST_RATIO} times its size")
                yield line.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        raise Invalid("the archive is not gzipped text, or is truncated: nothing was changed") from None


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
        raise Invalid(f"the file is truncated at line {number}: nothing was changed")
    if not spaces:
        raise Invalid("the file is empty: nothing was changed")


class _Reader:
    """Collects the lines of one space."""

    def __init__(self, entry: dict[str, Any], number: int) -> None:
        if entry.get("holdfast") != "export":
            raise Invalid(f"line {number} is no header of a Holdfast archive or backup")
        if entry.get("format") != FORMAT:
            raise Invalid(
                f"line {number}: format {entry.get('format')} is not supported, this release reads {FORMAT}"
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
            raise Invalid(f"line {number}: the header's key is damaged; nothing was changed") from None
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.digest = hashlib.sha256()

    def take(self, entry: dict[str, Any], line: str, number: int) -> Archive | None:
        if "end" in entry:
            counts = {table: len(rows) for table, rows in self.rows.items()}
            if entry.get("counts") != counts or entry.get("sha256") != self.digest.hexdigest():
                raise Invalid(f"line {number}: the file was changed or damaged; nothing was changed")
            return Archive(self.header, self.rows)
        if not isinstance(entry.get("table"), str) or not isinstance(entry.get("row"), dict):
            raise Invalid(f"line {number}: expected a row with its table")
        if reason := wrong(entry["table"], entry["row"]):
            raise Invalid(f"line {number}: a row of {entry['table']} {reason}; nothing was changed")
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
