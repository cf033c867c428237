"""Imports point inward: which part of the package may import which, read from the syntax trees.

Run as `python -m tools.check_imports`. An import counts wherever it stands, in a function and under
`TYPE_CHECKING` too; only the rule on heavy packages looks at what is loaded at import time.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.findings import Finding, run

PACKAGE = "holdfast"


@dataclass(frozen=True, slots=True)
class Rule:
    """What one part of the package may import besides itself and the standard library."""

    inside: tuple[str, ...]  # parts of the package
    third_parties: bool = False


RULES: Mapping[str, Rule] = {
    # The error tree imports nothing, so that the innermost part may raise what every door understands.
    "holdfast.domain": Rule(("holdfast.errors",)),
    "holdfast.errors": Rule(()),
    "holdfast.profiles": Rule(("holdfast.domain", "holdfast.errors")),
    "holdfast.engine": Rule(("holdfast.domain", "holdfast.profiles", "holdfast.errors", "holdfast.settings")),
    "holdfast.store": Rule(
        ("holdfast.domain", "holdfast.engine.ports", "holdfast.errors", "holdfast.settings"),
        third_parties=True,
    ),
    "holdfast.models": Rule(
        ("holdfast.domain", "holdfast.engine.ports", "holdfast.errors", "holdfast.settings"),
        third_parties=True,
    ),
}
DOORS = "holdfast.doors"
WIRING = "holdfast.wiring"
STORE = "holdfast.store"

HEAVY = frozenset({"numpy", "sqlalchemy", "alembic", "rich", "mcp", "fastapi"})
LIGHT = ("holdfast.domain", "holdfast.doors.cli")  # and the package's own __init__
# What `holdfast --help` loads: nothing heavy may come along by way of another module either.
STARTED = ("holdfast", "holdfast.doors.cli")


@dataclass(frozen=True, slots=True)
class Import:
    target: str
    line: int
    at_import_time: bool


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    path: Path
    imports: tuple[Import, ...]


def check(root: Path) -> Iterator[Finding]:
    modules = read(root)
    for module in modules.values():
        for found in module.imports:
            message = _direction(module.name, found.target) or _weight(module.name, found)
            if message:
                yield Finding(module.path, found.line, message)
    for name in STARTED:
        if name in modules:
            yield from _weight_by_others(modules[name], modules)


def read(root: Path) -> dict[str, Module]:
    """The modules of the package under `root`, by name."""
    files = {_module_name(file, root): file for file in sorted(root.glob(f"{PACKAGE}/**/*.py"))}
    return {
        name: Module(name, file, tuple(dict.fromkeys(_imports(name, file, set(files)))))
        for name, file in files.items()
    }


# ------------------------------------------------------------------------------------------------- the rules


def _direction(module: str, target: str) -> str | None:
    """Why `module` may not import `target`; None if it may."""
    if _within(module, WIRING):
        return None
    part = next((part for part in RULES if _within(module, part)), None)
    if not _within(target, PACKAGE):
        outside = target.partition(".")[0]
        if part is None or RULES[part].third_parties or outside in sys.stdlib_module_names:
            return None
        return f"{part} may not import {outside}: it takes the standard library only"
    if part is not None:
        allowed = (part, *RULES[part].inside)
        if any(_within(target, name) for name in allowed):
            return None
        return (
            f"{part} may not import {target}: it may import {', '.join(RULES[part].inside) or 'itself only'}"
        )
    if _within(target, STORE):
        return f"{module} may not import {target}: only {WIRING} knows the store"
    return _between_doors(module, target)


def _between_doors(module: str, target: str) -> str | None:
    here, there = _door(module), _door(target)
    if here and there and here != there:
        return f"{here} may not import {there}: doors do not know each other"
    return None


def _weight(module: str, found: Import) -> str | None:
    """Why this import makes the start slow; None if it does not."""
    package = found.target.partition(".")[0]
    light = module == PACKAGE or any(_within(module, part) for part in LIGHT)
    if light and found.at_import_time and package in HEAVY:
        return f"{module} may not import {package} at module level: import it in the function that uses it"
    return None


def _weight_by_others(start: Module, modules: Mapping[str, Module]) -> Iterator[Finding]:
    """Imports of `start` that load a heavy package by way of other modules of the package."""
    for first in start.imports:
        if not first.at_import_time:
            continue
        seen: set[str] = {start.name}
        waiting = _loaded_with(first.target, modules)
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            now = [found.target for found in modules[name].imports if found.at_import_time]
            for heavy in sorted({target.partition(".")[0] for target in now} & HEAVY):
                yield Finding(
                    start.path, first.line, f"{start.name} loads {heavy} by way of {name}: import it late"
                )
            waiting += [more for target in now for more in _loaded_with(target, modules)]


# ---------------------------------------------------------------------------------- reading the syntax trees


def _imports(module: str, file: Path, known: set[str]) -> Iterator[Import]:
    tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    late = {id(node) for outer in ast.walk(tree) if _runs_late(outer) for node in ast.walk(outer)}
    for node in ast.walk(tree):
        now = id(node) not in late
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, now)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(node, package)
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                yield Import(submodule if submodule in known else source, node.lineno, now)


def _runs_late(node: ast.AST) -> bool:
    """Whether what stands in `node` is not run when the module is imported."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _module_name(file: Path, root: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _loaded_with(target: str, modules: Mapping[str, Module]) -> list[str]:
    """The modules of the package that importing `target` runs: itself and the packages above it."""
    parts = target.split(".")
    return [name for size in range(1, len(parts) + 1) if (name := ".".join(parts[:size])) in modules]


def _door(module: str) -> str | None:
    """The door a module belongs to; None outside of the doors."""
    parts = module.split(".")
    return ".".join(parts[:3]) if _within(module, DOORS) and len(parts) > 2 else None


def _within(name: str, part: str) -> bool:
    return name == part or name.startswith(f"{part}.")


if __name__ == "__main__":
    raise SystemExit(run(check))
