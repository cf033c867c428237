"""The requirement rows, and which of them a test proves.

A test carries `@requirement("row.id")`. The answer comes from reading the test files, not from running them,
so that a partial run gives the same one. `python -m tests.requirements_ledger` prints the counts and rewrites
the list of open rows in requirements.toml.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

TESTS = Path(__file__).parent
ROWS_FILE = TESTS / "requirements.toml"

Test = TypeVar("Test", bound=Callable[..., object])

# Row id -> the tests of this process that carry it; what a partial run has imported, no more.
registry: defaultdict[str, list[str]] = defaultdict(list)


def requirement(*ids: str) -> Callable[[Test], Test]:
    """Mark a test as proof of the rows `ids`; `pytest -m requirement` runs all such tests."""

    def mark(test: Test) -> Test:
        for row in ids:
            registry[row].append(f"{test.__module__}.{getattr(test, '__qualname__', test)}")
        marked: Test = pytest.mark.requirement(*ids)(test)
        return marked

    return mark


@dataclass(frozen=True, slots=True)
class Use:
    """One row id on one test."""

    row: str
    test: str
    place: str  # path:line, relative to the tests' parent


@dataclass(frozen=True, slots=True)
class Rows:
    """What requirements.toml says."""

    known: tuple[str, ...]
    open: tuple[str, ...]

    @classmethod
    def read(cls, file: Path = ROWS_FILE) -> Rows:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        known = tuple(row["id"] for row in table["requirement"])
        return cls(known=known, open=tuple(table["open"]["ids"]))


def scan(tests: Path = TESTS) -> list[Use]:
    """Every use of `@requirement(...)` in the files under `tests`, in file order."""
    found: list[Use] = []
    for file in sorted(tests.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                place = f"{file.relative_to(tests.parent)}:{node.lineno}"
                found.extend(Use(row, node.name, place) for row in _rows_on(node, place))
    return found


def problems(rows: Rows, uses: list[Use]) -> list[str]:
    """What is wrong between rows and tests, one sentence each; empty when they agree."""
    known, open_rows = set(rows.known), set(rows.open)
    tested = {use.row for use in uses}
    first = {use.row: use.place for use in reversed(uses)}
    twice = sorted({row for row in rows.known if rows.known.count(row) > 1})
    return [
        *(f"{row}: stands twice in requirements.toml" for row in twice),
        *(f"{row}: listed as open, but there is no such row" for row in sorted(open_rows - known)),
        *(f"{use.place}: {use.test} names the unknown row {use.row}" for use in uses if use.row not in known),
        *(
            f"{use.place}: {use.test} carries {use.row} but is not a test"
            for use in uses
            if not _is_test(use)
        ),
        *(f"{row}: no test and not listed as open" for row in rows.known if row not in tested | open_rows),
        *(f"{row}: listed as open, but {first[row]} tests it" for row in rows.open if row in tested),
    ]


def rewrite_open(file: Path, uses: list[Use]) -> Rows:
    """List in `file` the rows without a test, in the order of the rows; nothing else in it changes."""
    text = file.read_text(encoding="utf-8")
    tested = {use.row for use in uses}
    still_open = [row for row in Rows.read(file).known if row not in tested]
    listed = "".join(f'    "{row}",\n' for row in still_open)
    replacement = f"[open]\nids = [\n{listed}]\n"
    changed, count = re.subn(
        r"^\[open\]\nids = \[[^\]]*\]\n", lambda _: replacement, text, flags=re.MULTILINE
    )
    if count != 1:
        raise ValueError(f"{file.name}: expected one [open] table with a list of ids, found {count}")
    if changed != text:
        file.write_text(changed, encoding="utf-8")
    return Rows.read(file)


def _is_test(use: Use) -> bool:
    return use.test.startswith(("test", "Test"))


def _rows_on(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, place: str) -> Iterator[str]:
    for decorator in node.decorator_list:
        if not (isinstance(decorator, ast.Call) and _last_name(decorator.func) == "requirement"):
            continue
        if isinstance(decorator.func, ast.Attribute) and isinstance(decorator.func.value, ast.Attribute):
            raise ValueError(f"{place}: use @requirement(...), not @pytest.mark.requirement(...)")
        if not decorator.args or decorator.keywords:
            raise ValueError(f"{place}: @requirement takes one or more row ids")
        for argument in decorator.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise ValueError(
                    f"{place}: @requirement takes row ids as plain strings, so that they can be read"
                )
            yield argument.value


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def main() -> int:
    uses = scan()
    rows = rewrite_open(ROWS_FILE, uses)
    wrong = problems(rows, uses)
    tested = len(rows.known) - len(rows.open)
    lines = [f"{tested} of {len(rows.known)} rows tested, {len(rows.open)} open", *wrong]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
