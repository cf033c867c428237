"""Advice for the command line is said on the command line only; every other door names a way of its own."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import holdfast

SOURCE = Path(holdfast.__file__).parent
COMMAND = re.compile(r"`holdfast [a-z]|(?<![\w-])--[a-z]{2}")
#: What only the command line runs, and what is no text for a reader.
OF_THE_COMMAND_LINE = (
    "cli/",
    "agents/run/",
    "agents/connect/",
    "agents/hooks/command.py",  # the only way to start a service
    "app/service_host.py",
    "app/run_host.py",
    "app/served_command.py",
    "app/service_lock.py",
    "store/migrations/",
    "domain/secrets/",
)


def test_no_text_of_another_door_names_a_command_or_a_flag() -> None:
    found = [
        f"{name}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not (name := path.relative_to(SOURCE).as_posix()).startswith(OF_THE_COMMAND_LINE)
        for line, text in _texts(ast.parse(path.read_text(encoding="utf-8")))
        if COMMAND.search(text)
    ]

    assert found == []


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts in a module, but for docstrings, log lines, and what is named a command."""
    left_out: set[ast.AST] = set()
    for node in ast.walk(tree):
        if _is_command(node):
            left_out.update(ast.walk(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield node.lineno, node.value


def _is_command(node: ast.AST) -> bool:
    match node:
        case ast.keyword(arg="command") | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
            return "command" in name.lower()
        case ast.Call(func=ast.Attribute(value=ast.Name(id="_log"))):
            return True
    return False
