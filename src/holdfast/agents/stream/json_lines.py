"""Lines of JSON that may be anything: what can be read of them, and nothing else."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def parsed(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; none for anything else."""
    text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def texts(value: object) -> Iterator[str]:
    """All texts in a JSON value, however deep."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict):
            waiting.extend(reversed(found.values()))
        elif isinstance(found, list):
            waiting.extend(reversed(found))


def number(value: object) -> int | float | None:
    """A count or an amount, if it is one that can be kept."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < 1e15 else None


def counted(found: object, names: Mapping[str, str]) -> dict[str, int | float]:
    """The numbers of a usage report, under our names (ours: theirs)."""
    if not isinstance(found, dict):
        return {}
    amounts = {ours: number(found.get(theirs)) for ours, theirs in names.items()}
    return {ours: amount for ours, amount in amounts.items() if amount is not None}
