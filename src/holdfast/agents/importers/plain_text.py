"""Plain text: one memory a line; list marks in front of it are left out."""

import re
from collections.abc import Iterator

from holdfast.domain.memory import Draft

_MARK = re.compile(r"^\s*(?:[-*+\u2022]\s+)?")


def read(text: str) -> Iterator[tuple[int, Draft | str]]:
    """A draft for each line that says something."""
    for number, line in enumerate(text.split("\n"), start=1):
        content = _MARK.sub("", line).strip()
        if content:
            yield number, Draft(content=content)
