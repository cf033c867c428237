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

    inside: tuple[str, ...]  # parts of the package; `x.*` is x with all parts inside of it
    third_parties: bool = False


PURE = ("errors", "domain", "language")
ENGINE = (*PURE, "engine", "engine.ports")
FACADE = ("engine.memories", "engine.administration")
# Who puts an interface together: all but the store, which the wiring alone knows.
COMPOSERS = ("", *ENGINE, *FACADE, "profiles", "prompts", "settings", "models", "wire", "files.*", "agents.*")

# A module belongs to the most specific part that holds it, and every part has a rule. From the inside out:
RULES: Mapping[str, Rule] = {
    # These import nothing, so that the innermost part may raise what every interface understands.
    "errors": Rule(()),
    "testing": Rule(()),
    "app.paths": Rule(()),
    "app.file_lock": Rule(()),
    "app.installation": Rule(()),
    "domain": Rule(("errors",)),
    "language": Rule(("errors", "domain")),
    "profiles": Rule(("errors", "domain")),
    "prompts": Rule(("errors", "domain")),
    "engine.ports": Rule(("domain", "language")),
    "engine": Rule((*PURE, "engine.ports", "profiles")),
    "store": Rule(
        ("errors", "domain", "engine.ports", "profiles", "app.file_lock", "app.installation"),
        third_parties=True,
    ),
    "models": Rule((*PURE, "engine.ports", "app.installation"), third_parties=True),
    "wire": Rule(("errors", "domain", "engine", "engine.ports"), third_parties=True),
    "settings": Rule(("errors", "domain", "models", "app.paths")),
    "files": Rule(
        ("errors", "domain", "engine", "engine.ports", "app.paths", "app.file_lock"), third_parties=True
    ),
    # The facade opens what it stands for, so it knows the wiring; nothing further in knows the facade.
    "engine.memories": Rule((*ENGINE, "files", "settings", "app.wiring")),
    "engine.administration": Rule((*ENGINE, "app.wiring")),
    "files.watcher": Rule((*ENGINE, "files", "app.paths", "app.wiring"), third_parties=True),
    "": Rule(("errors", "domain", "engine.memories", "client")),  # the package's own __init__
    "client": Rule((*ENGINE, "engine.memories", "wire"), third_parties=True),
    # What agents touch. The packages do not know each other; what is beside them ties them together.
    "agents.fail_open": Rule(()),
    "agents.capture_off": Rule(("app.paths",)),
    "agents.importers": Rule((*PURE, "app.paths"), third_parties=True),
    "agents.stream": Rule(("domain",)),
    "agents.connect": Rule(("errors", "app.paths")),
    "agents.tools": Rule(("errors", "domain", "engine.memories", "files", "wire")),
    "agents.hooks": Rule(
        (*ENGINE, "engine.memories", "settings", "agents", "agents.capture_off", "app.paths")
    ),
    "agents.hooks.responses": Rule(("errors", "engine.memories", "agents.hooks", "app.wiring")),
    "agents.mcp": Rule(("", *PURE, "engine.memories", "profiles", "agents.tools"), third_parties=True),
    "agents.proxy": Rule(
        (*PURE, "engine.memories", "models", "agents.capture_off", "agents.fail_open"), third_parties=True
    ),
    "agents.run": Rule((*ENGINE, "engine.memories", "prompts", "agents.fail_open")),
    "agents": Rule(
        (
            *ENGINE,
            "engine.memories",
            "settings",
            "client",
            "agents.capture_off",
            "agents.hooks",
            "agents.importers",
            "agents.tools",
            "app.paths",
        ),
        third_parties=True,
    ),
    # What the service offers. Its parts do not know each other either.
    "web": Rule(()),
    "web.service": Rule(("", *ENGINE, "engine.memories", "wire"), third_parties=True),
    "web.rest": Rule(("", *ENGINE, *FACADE, "wire", "agents.tools"), third_parties=True),
    "web.dashboard": Rule(
        (
            "",
            *ENGINE,
            *FACADE,
            "wire",
            "files",
            "profiles",
            "agents",  # uploads alone
            "agents.importers",
            "app.paths",
            "app.wiring",
            "app.checkup",
            "app.client_setup",
        ),
        third_parties=True,
    ),
    "example_data": Rule((*ENGINE, "engine.memories", "app.wiring")),
    # What puts the parts together, and around it the command line.
    "app.wiring": Rule(
        (
            *ENGINE,
            "settings",
            "store",
            "models",
            "prompts",
            "files",
            "agents.importers",
            "agents",
            "app.paths",
        )
    ),
    "app.client_setup": Rule(
        (*ENGINE, "engine.memories", "settings", "agents", "agents.connect", "app.paths", "app.wiring")
    ),
    "app.checkup": Rule((*ENGINE, "settings", "files", "app", "app.installation", "app.wiring")),
    "app": Rule((*COMPOSERS, "web.*", "app.*", "example_data"), third_parties=True),
    "cli.chat": Rule((*COMPOSERS, "app.*", "cli"), third_parties=True),
    "cli.telegram": Rule(
        ("errors", "engine.memories", "agents", "app", "app.installation", "cli"), third_parties=True
    ),
    "cli": Rule((*COMPOSERS, "app.*", "client"), third_parties=True),
    "__main__": Rule(("cli", "app")),
}

HEAVY = frozenset({"numpy", "sqlalchemy", "alembic", "rich", "mcp", "fastapi"})
LIGHT = ("holdfast.domain", "holdfast.cli")  # and the package's own __init__
# What `holdfast --help` loads: nothing heavy may come along by way of another module either.
STARTED = ("holdfast", "holdfast.cli")


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
        if part_of(module.name) is None:
            yield Finding(module.path, 1, f"{module.name} belongs to no part that has a rule: add one")
            continue
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
    part = part_of(module)
    assert part is not None
    rule = RULES[part]
    if not _within(target, PACKAGE):
        outside = target.partition(".")[0]
        if rule.third_parties or outside in sys.stdlib_module_names:
            return None
        return f"{_full(part)} may not import {outside}: it takes the standard library only"
    if part_of(target) == part or any(_covers(name, part_of(target)) for name in rule.inside):
        return None
    allowed = ", ".join(map(_full, rule.inside))
    return f"{_full(part)} may not import {target}: it may import {allowed or 'itself only'}"


def part_of(module: str) -> str | None:
    """The most specific part with a rule that a module belongs to."""
    inner = module.removeprefix(PACKAGE).removeprefix(".")
    parts = inner.split(".")
    names = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
    return next((name for name in names if name in RULES), None)


def _covers(name: str, part: str | None) -> bool:
    return part is not None and (_within(part, name[:-2]) if name.endswith(".*") else part == name)


def _full(part: str) -> str:
    return f"{PACKAGE}.{part}" if part else PACKAGE


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


def _within(name: str, part: str) -> bool:
    return name == part or name.startswith(f"{part}.")


if __name__ == "__main__":
    raise SystemExit(run(check))
