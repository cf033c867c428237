"""Readers of other programs' files: a file in, drafts out, each with its line number.

They know file formats, and nothing of stores, doors or profiles: what becomes of a draft is not theirs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from holdfast.domain.memory import Draft, Source
from holdfast.doors.importers import json_lines, plain_text
from holdfast.errors import Invalid

Reader = Callable[[str], Iterator[tuple[int, Draft | str]]]

#: In the order in which they are tried: the first whose first line fits is taken.
READERS: Final[dict[str, tuple[Callable[[str], bool], Reader]]] = {
    "jsonl": (json_lines.fits, json_lines.read),
    "text": (plain_text.fits, plain_text.read),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a file held: drafts, and lines that could not be read with the reason."""

    format: str
    drafts: tuple[tuple[int, Draft], ...]
    broken: tuple[tuple[int, str], ...]


def reading(text: str, source: Source, format_name: str | None = None) -> Reading:
    """Reads `text` as coming from `source`; the format is recognised unless it is named.

    Raises: Invalid, for an unknown format.
    """
    name = format_name or recognised(text)
    if name not in READERS:
        raise Invalid(f"unknown format {name!r}: use one of {', '.join(READERS)}", field="format")
    drafts: list[tuple[int, Draft]] = []
    broken: list[tuple[int, str]] = []
    for number, found in READERS[name][1](text):
        if isinstance(found, str):
            broken.append((number, found))
        else:
            drafts.append((number, replace(found, source=source)))
    return Reading(format=name, drafts=tuple(drafts), broken=tuple(broken))


def recognised(text: str) -> str:
    """The format of a file, by its first line that is not blank."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return next(name for name, (fits, _) in READERS.items() if fits(first))
