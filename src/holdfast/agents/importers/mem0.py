"""mem0's memories as it gives them out: a JSON list, or an object with one in `results` or `memories`.

Each has its text in `memory`; categories become tags. What mem0 knows beyond that has no place here.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from holdfast.agents.importers.lines import Object, object_of, text_of
from holdfast.domain.memory import Draft
from holdfast.errors import Invalid

_LISTS: Final = ("results", "memories")
_TEXTS: Final = ("memory", "text", "data")
_HEAD: Final = 20_000
_MARK = re.compile(r'"(?:memory|text|data)"\s*:')
_FITS = re.compile(
    r'\ufeff?\s*(?:\{.{0,2000}?"(?:results|memories)"\s*:\s*)?\[\s*\{.*?"memory"\s*:\s*"', re.DOTALL
)


def fits(text: str) -> bool:
    """Whether a file that begins so holds such memories: a list whose first object has a `memory`."""
    return _FITS.match(text[:_HEAD]) is not None


def read(text: str) -> Iterator[tuple[int, Draft | str]]:
    """Each memory's draft with its line, or why it has none.

    Raises: Invalid, with the line, when the file is not whole: then nothing is to be taken from it.
    """
    found = _listed(text)
    users = {value.get("user_id") for value in found if isinstance(value, dict)}
    at = 0
    line = 1
    for value in found:
        # Each holds its text once, so the marks stand in the order of the list.
        mark = _MARK.search(text, at)
        if mark is not None:
            line += text.count("\n", at, mark.start())
            at = mark.start() if not _says(value) else mark.end()
        yield line, _draft(value, tag_user=len(users) > 1)


def _listed(text: str) -> list[Any]:
    try:
        whole = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise Invalid("the file is nested too deeply: nothing was imported") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} ({error.msg})"
        raise Invalid(f"invalid JSON at {where}: nothing was imported") from None
    except ValueError as error:  # a number of thousands of digits
        raise Invalid(f"invalid JSON ({error}): nothing was imported") from None
    if isinstance(whole, list):
        return whole
    for name in _LISTS:
        if isinstance(whole, dict) and isinstance(whole.get(name), list):
            return list(whole[name])
    raise Invalid(f"the file is not a list and has none in {' or '.join(_LISTS)}: nothing was imported")


def _draft(value: Any, *, tag_user: bool) -> Draft | str:
    if not isinstance(value, dict):
        return "not an object"
    says = _says(value)
    if says is None:
        return 'missing "memory" text'
    tags = [tag for tag in _list(value.get("categories")) if isinstance(tag, str)]
    user = text_of(value, "user_id")
    if tag_user and user:
        tags.append(f"user-{user}"[:64])
    return Draft(content=says, category=_category(object_of(value, "metadata")), tags=tuple(tags))


def _says(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((text for name in _TEXTS if (text := text_of(value, name))), None)


def _category(metadata: Object) -> str | None:
    """A kind that its owner gave it, offered as a category; which there are is the profile's business."""
    kind = text_of(metadata, "category") or text_of(metadata, "type")
    return kind.strip().casefold() if kind else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
