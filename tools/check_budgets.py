"""Watches the tail: size of files and functions, broad excepts, banned names, stray prints and machine paths.

Run as `python -m tools.check_budgets`. A file or function over its budget says why in a comment,
`# budget: <reason>`, at the top of the file, or on or right above the `def`; a broad except says
`# broad: <reason>` on its line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.findings import Finding, run

FILE_LINES = 300
FUNCTION_LINES = 40
BROAD_EXCEPTS = 5  # in the whole tree

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


def check(root: Path) -> Iterator[Finding]:
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
    raise SystemExit(run(check))
