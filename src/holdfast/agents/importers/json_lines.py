"""JSON lines: an object a memory, with `content` and what else is known of it."""

import json
from collections.abc import Iterator
from typing import Any

from holdfast.domain.memory import Draft

_TEXTS = ("content", "category", "subject", "summary", "project")


def fits(first_line: str) -> bool:
    """Whether a file that begins so holds objects."""
    return first_line.lstrip().startswith("{")


def read(text: str) -> Iterator[tuple[int, Draft | str]]:
    """Each line's draft, or why it has none. Unknown fields are left out."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _draft(line)


def _draft(line: str) -> Draft | str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return "invalid JSON: write one object per line"
    if not isinstance(entry, dict):
        return 'not an object: write {"content": ...}'
    if wrong := _wrong(entry):
        return wrong
    fields = {name: entry[name] for name in _TEXTS if entry.get(name) is not None}
    confidence = entry.get("confidence")
    return Draft(
        **fields,
        tags=tuple(entry.get("tags") or ()),
        importance=entry.get("importance"),
        confidence=None if confidence is None else float(confidence),
    )


def _wrong(entry: dict[str, Any]) -> str | None:
    """What is wrong with the types of an object's fields; its values are the profile's business."""
    if not isinstance(entry.get("content"), str):
        return 'missing "content": the text to remember'
    for name in _TEXTS:
        if not isinstance(entry.get(name), str | None):
            return f'"{name}" must be a string'
    tags = entry.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        return '"tags" must be a list of strings'
    importance, confidence = entry.get("importance"), entry.get("confidence")
    if importance is not None and type(importance) is not int:
        return '"importance" must be a whole number from 1 to 5'
    if confidence is not None and type(confidence) not in (int, float):
        return '"confidence" must be a number from 0 to 1'
    return None
