"""Adds one table to a TOML file of another program, and takes it out again; nothing else in it changes.

Text in, text out, checked by the standard parser: what comes out says what went in and the table, no more.
"""

import json
import re
import tomllib
from typing import Any

from holdfast.errors import Invalid

Names = tuple[str, str]
_ANY_HEADER = re.compile(r"\s*\[")
_NO_CONTENT = re.compile(r"\s*(?:#.*)?$", re.DOTALL)


def parsed(text: str) -> dict[str, Any]:
    """Raises: Invalid."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise Invalid(f"invalid TOML ({wrong})") from None


def table_in(text: str, names: Names) -> Any:
    """What stands at `[a.b]`; none where there is nothing.

    Raises: Invalid.
    """
    above = parsed(text).get(names[0])
    return above.get(names[1]) if isinstance(above, dict) else None


def with_table(text: str, names: Names, values: dict[str, Any]) -> str:
    """`text` with the table `[a.b]` at its end, and no longer one that said something else.

    Raises: Invalid, when it can't be added without changing more.
    """
    if table_in(text, names) == values:
        return text
    rest = without_table(text, names)
    newline = "\r\n" if "\r\n" in rest else "\n"
    lines = [f"[{'.'.join(names)}]", *(f"{name} = {_written(value)}" for name, value in values.items())]
    gap = "" if not rest else newline if rest.endswith("\n") else newline * 2
    made = f"{rest}{gap}{newline.join(lines)}{newline}"
    before = parsed(rest)
    above = before.get(names[0], {})
    if not isinstance(above, dict) or _says(made) != {**before, names[0]: {**above, names[1]: values}}:
        raise Invalid(f"{names[0]} is an inline table: write it as [{names[0]}.NAME]")
    return made


def without_table(text: str, names: Names) -> str:
    """`text` without the table `[a.b]`, those below it, and the blank line that parted it from the rest.

    Raises: Invalid, when it can't be taken out without changing more.
    """
    if table_in(text, names) is None:
        return text
    before = parsed(text)
    left = {name: value for name, value in before[names[0]].items() if name != names[1]}
    expected = _filled({**before, names[0]: left}, names[0])
    lines = text.splitlines(keepends=True)
    tables = _tables(lines, names)
    # What looks like the table may stand in a text of several lines, before the real one.
    for skipped in range(len(tables)):
        made = _cut(lines, tables[skipped:])
        if _filled(_says(made), names[0]) == expected:
            return made
    raise Invalid(f"table {'.'.join(names)} can't be removed automatically: remove it by hand")


def _cut(lines: list[str], tables: list[tuple[int, int]]) -> str:
    left = list(lines)
    for first, last in reversed(tables):
        del left[first : last + 1]
        if first and not left[first - 1].strip():
            del left[first - 1]
    return "".join(left)


def _tables(lines: list[str], names: Names) -> list[tuple[int, int]]:
    """The first and the last line of the table and of each below it; comments after it are the next one's."""
    first, second = (rf"\s*(?:{name}|\"{name}\"|'{name}')\s*" for name in names)
    header = re.compile(rf"\s*\[{first}\.{second}(?:\.[^\]]*)?\]")
    found: list[tuple[int, int]] = []
    inside = False
    for number, line in enumerate(lines):
        if header.match(line):
            inside = True
            found.append((number, number))
        elif _ANY_HEADER.match(line):
            inside = False
        elif inside and not _NO_CONTENT.match(line):
            found[-1] = (found[-1][0], number)
    return found


def _says(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _filled(table: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    """The same, if nothing is left of what `name` held."""
    return {key: value for key, value in table.items() if key != name or value} if table is not None else None


def _written(value: Any) -> str:
    # TOML writes texts, numbers, truth values and lists as JSON does.
    return json.dumps(value, ensure_ascii=False)
