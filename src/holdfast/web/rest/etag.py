"""Lost updates are refused: a memory's version is its ETag, and If-Match says which one the caller saw."""

import re
from typing import Annotated

from fastapi import Header

from holdfast.errors import Invalid

Match = Annotated[
    str | None,
    Header(alias="If-Match", max_length=100, description="Expected ETag; 412 if the memory has changed."),
]
_TAG = re.compile(r'(?:W/)?"?(\d{1,9})"?', re.ASCII)


def tag_of(version: int) -> str:
    return f'"{version}"'


def expected(match: str | None) -> int | None:
    """The version that a caller expects; none when any will do.

    Raises: Invalid.
    """
    if match is None or match.strip() == "*":
        return None
    found = _TAG.fullmatch(match.strip())
    if found is None:
        raise Invalid('invalid If-Match: send one ETag such as "3", or *', field="If-Match")
    return int(found.group(1))
