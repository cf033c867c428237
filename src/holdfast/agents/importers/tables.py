"""A table as text (CSV): the first line names the columns, each other one is a memory."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Final

from holdfast.domain.memory import Draft
from holdfast.errors import Invalid

#: Our columns, by the names that others have for them.
_COLUMNS: Final[dict[str, str]] = {
    **dict.fromkeys(("content", "memory", "text", "note", "observation", "fact"), "content"),
    **dict.fromkeys(("category", "type", "kind"), "category"),
    **dict.fromkeys(("subject", "entity", "title", "name", "service"), "subject"),
    **{name: name for name in ("summary", "project", "tags", "importance", "confidence")},
}
_LISTED = re.compile(r"[;|,]")
_SEPARATORS: Final = ",;\t"


def fits(first_line: str, name: str = "") -> bool:
    """Whether a file that begins so is a table: by its name, or by columns of which one holds the text."""
    if name.lower().endswith((".csv", ".tsv")):
        return True
    heads = [head.strip().strip('"').casefold() for head in first_line.split(_separator(first_line))]
    known = {_COLUMNS[head] for head in heads if head in _COLUMNS}
    return len(heads) > 1 and len(known) == len(heads) and "content" in known


def read(text: str) -> Iterator[tuple[int, Draft | str]]:
    """Each line's draft, or why it has none. Columns with names of their own are left out.

    Raises: Invalid, with the line, when the file is no table or not whole.
    """
    first = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    whole = io.StringIO(text.lstrip("\ufeff"), newline="")
    rows = csv.reader(whole, delimiter=_separator(first), strict=True)
    places: dict[str, int] | None = None
    begins = 1
    while True:
        begins = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise Invalid(f"line {begins} is not valid CSV ({error}): nothing was imported") from None
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if places is None:
            places = _places(row)
            if "content" not in places:
                named = f"{', '.join(row)!r:.200}"
                raise Invalid(f"line {begins} has no column 'content', only {named}: nothing was imported")
            continue
        yield begins, _draft(row, places)


def _draft(row: list[str], places: dict[str, int]) -> Draft | str:
    cells = {name: row[place].strip() for name, place in places.items() if place < len(row)}
    cells = {name: cell for name, cell in cells.items() if cell}
    if "content" not in cells:
        return "empty content"
    try:
        importance = int(cells["importance"]) if "importance" in cells else None
    except ValueError:
        return f"importance {cells['importance']!r:.40} must be a whole number from 1 to 5"
    try:
        confidence = float(cells["confidence"]) if "confidence" in cells else None
    except ValueError:
        return f"confidence {cells['confidence']!r:.40} must be a number from 0 to 1"
    return Draft(
        content=cells["content"],
        category=cells.get("category"),
        subject=cells.get("subject"),
        summary=cells.get("summary"),
        project=cells.get("project"),
        tags=tuple(bare for tag in _LISTED.split(cells.get("tags", "")) if (bare := tag.strip())),
        importance=importance,
        confidence=confidence,
    )


def _places(heads: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, head in enumerate(heads):
        name = _COLUMNS.get(head.strip().casefold())
        if name is not None:
            found.setdefault(name, place)
    return found


def _separator(first_line: str) -> str:
    return max(_SEPARATORS, key=first_line.count)
