"""What the lines of an archive have in common, whatever they hold."""

import json
from datetime import datetime
from typing import Any

from holdfast.errors import Invalid

FORMAT = 1


def line_of(entry: dict[str, Any]) -> str:
    """The same entry always gives the same bytes."""
    return json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def parsed(line: str, number: int) -> dict[str, Any]:
    """Raises: Invalid."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise Invalid(f"line {number} is not JSON: the file is damaged, nothing was changed") from None
    if not isinstance(entry, dict):
        raise Invalid(f"line {number} is not a JSON object: the file is damaged, nothing was changed")
    return entry


def is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
