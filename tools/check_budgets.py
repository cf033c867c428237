"""Checks the size of files, functions and the package, broad excepts, banned names, prints and machine paths.

Run as `python -m tools.check_budgets`. It prints the measures of the package with their limits: lower a limit
when its figure falls, and never raise it. A file or function over its budget says why in a comment,
`# budget: <reason>`, at the top of the file, or on or right above the `def`; a broad except says
`# broad: <reason>` on its line.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.findings import Finding, run

PACKAGE = Path("holdfast")
CORE = frozenset({"domain", "engine", "store", "models", "wire"})

FILE_LINES = 300
FUNCTION_LINES = 40
BROAD_EXCEPTS = 5  # in the whole tree

#: Of the whole package: at most, and the goal. Raised for Citus, replicas, the merge of two stores, the
#: continuous copy, limits of tokens and the access log (6,300 lines), and for persons with private memories,
#: the service's log of tokens, and commands that say what was mistyped (1,350 lines).
LINES = (67_050, 44_000)
CORE_LINES = (33_000, 19_000)
MODULES = (406, 330)
ROOT_MODULES = (6, 6)
CONFIRMED_AT = (6, 6)
CLASS_NAMES = (0, 0)

BANNED_SUFFIXES = ("Manager", "Helper", "Util", "Utils", "Base", "Impl", "Processor", "Data", "Info")
BANNED_FILES = frozenset({"util.py", "utils.py", "helper.py", "helpers.py"})

BUDGET_REASON = re.compile(r"#\s*budget:\s*\S")
BROAD_REASON = re.compile(r"#\s*broad:\s*\S")
MACHINE_PATH = re.compile(r"(?<![\w.~$}/])(?:/(?:home|root|Users|work)/\w|[A-Z]:\\+Users\\)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file, as text and as a tree."""

    path: Path
    lines: list[str]
    tree: ast.Module

    @classmethod
    def read(cls, path: Path) -> Source:
        text = path.read_text(encoding="utf-8")
        return cls(path, text.splitlines(), ast.parse(text, filename=str(path)))

    def says(self, reason: re.Pattern[str], first: int, last: int) -> bool:
        """Whether a line from `first` to `last` (counted from 1) carries the comment."""
        return any(reason.search(line) for line in self.lines[max(first - 1, 0) : last])


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of the whole package: what it is, what it may be, and what it should become."""

    name: str
    now: int
    at_most: int
    goal: int

    def __str__(self) -> str:
        return f"{self.name:<46}{self.now:>8,}{self.at_most:>9,}{self.goal:>8,}"


def table(root: Path) -> Iterator[str]:
    """The measures, one a line; none for a tree without the package."""
    if (root / PACKAGE).is_dir():
        yield f"{'':<46}{'now':>8}{'at most':>9}{'goal':>8}"
        yield from map(str, measures(root / PACKAGE))


@cache
def measures(package: Path) -> list[Measure]:
    sources = [Source.read(path) for path in sorted(package.rglob("*.py"))]
    core = [source for source in sources if source.path.relative_to(package).parts[0] in CORE]
    root = [source for source in sources if source.path.parent == package]
    naming = [
        path
        for path in (*package.rglob("*.py"), *package.rglob("*.html"))
        if "confirmed_at" in path.read_text(encoding="utf-8")
    ]
    classes = Counter(
        node.name
        for source in sources
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return [
        Measure("lines", sum(len(source.lines) for source in sources), *LINES),
        Measure(
            f"lines in {', '.join(sorted(CORE))}", sum(len(source.lines) for source in core), *CORE_LINES
        ),
        Measure("modules", len(sources), *MODULES),
        Measure("modules in the root", len(root), *ROOT_MODULES),
        Measure("files that name confirmed_at", len(naming), *CONFIRMED_AT),
        Measure(
            "class names used more than once", sum(count > 1 for count in classes.values()), *CLASS_NAMES
        ),
    ]


def check(root: Path) -> Iterator[Finding]:
    if (root / PACKAGE).is_dir():
        for measure in measures(root / PACKAGE):
            if measure.now > measure.at_most:
                yield Finding(
                    root / PACKAGE,
                    1,
                    f"{measure.name}: {measure.now:,}, at most {measure.at_most:,} are allowed",
                )
    broad: list[Finding] = []
    for path in sorted(root.rglob("*.py")):
        source = Source.read(path)
        yield from _sizes(source)
        yield from _names(source)
        yield from _prints(source)
        for line in _broad_excepts(source):
            if source.says(BROAD_REASON, line, line):
                broad.append(
                    Finding(path, line, f"more than {BROAD_EXCEPTS} broad excepts; catch what you expect")
                )
            else:
                yield Finding(
                    path, line, "broad except without a reason; catch what you expect, or say `# broad: …`"
                )
    yield from broad[BROAD_EXCEPTS:]
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.toml"))):
        yield from _machine_paths(path)


def _sizes(source: Source) -> Iterator[Finding]:
    if len(source.lines) > FILE_LINES and not source.says(BUDGET_REASON, 1, _end_of_top(source)):
        yield Finding(source.path, 1, f"{len(source.lines)} lines; a file may have {FILE_LINES}")
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            above = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            if length > FUNCTION_LINES and not source.says(BUDGET_REASON, above, node.body[0].lineno - 1):
                yield Finding(
                    source.path,
                    node.lineno,
                    f"{node.name} has {length} lines; a function may have {FUNCTION_LINES}",
                )


def _end_of_top(source: Source) -> int:
    """The last line before the first statement that is not the docstring."""
    for node in source.tree.body:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return node.lineno - 1
    return len(source.lines)


def _names(source: Source) -> Iterator[Finding]:
    if source.path.name in BANNED_FILES:
        yield Finding(
            source.path, 1, f"a file named {source.path.name} holds anything; name it for the one thing in it"
        )
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.name.endswith(BANNED_SUFFIXES):
            yield Finding(
                source.path, node.lineno, f"class {node.name}: the ending says nothing; name what it is"
            )


def _prints(source: Source) -> Iterator[Finding]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield Finding(
                source.path, node.lineno, "print(); a door speaks through click.echo, the rest returns values"
            )


def _broad_excepts(source: Source) -> Iterator[int]:
    """Lines that catch everything, by `except` or by `suppress`."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"suppress", "contextlib.suppress"}:
            kinds = list(node.args)
        else:
            continue
        if any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in kinds):
            yield node.lineno


def _machine_paths(path: Path) -> Iterator[Finding]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        found = MACHINE_PATH.search(line)
        if found:
            yield Finding(path, number, f"a path of one machine ({found.group()}…)")


if __name__ == "__main__":
    raise SystemExit(run(check, table))
