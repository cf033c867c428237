"""What goes over a budget, or carries a banned name, is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.check_budgets import (
    BROAD_EXCEPTS,
    CLASS_NAMES,
    FILE_LINES,
    FUNCTION_LINES,
    LINES,
    ROOT_MODULES,
    check,
    measures,
    table,
)

REPOSITORY = Path(__file__).parents[2]


def function(lines: int, *, head: str = "def long():") -> str:
    return head + "\n" + "    x = 1\n" * (lines - 1)


BROAD = "try:\n    x = 1\nexcept Exception:{comment}\n    x = 2\n"

REFUSED = [
    ("x = 1\n" * (FILE_LINES + 1), 1, f"{FILE_LINES + 1} lines"),
    ('"""Doc."""\nx = 1\n# budget: too late\n' + "x = 1\n" * FILE_LINES, 1, "lines; a file may have"),
    (function(FUNCTION_LINES + 1), 1, f"long has {FUNCTION_LINES + 1} lines"),
    ("# budget:\n" + function(FUNCTION_LINES + 1), 2, "a function may have"),
    ("class A:\n    async def f(self):\n" + "        x = 1\n" * FUNCTION_LINES, 2, "f has"),
    (BROAD.format(comment=""), 3, "broad except without a reason"),
    (BROAD.format(comment="  # broad:"), 3, "broad except without a reason"),
    ("try:\n    x = 1\nexcept:\n    x = 2\n", 3, "broad except"),
    ("try:\n    x = 1\nexcept (ValueError, BaseException):\n    x = 2\n", 3, "broad except"),
    ("with suppress(Exception):\n    x = 1\n", 1, "broad except"),
    ("class StoreManager: ...\n", 1, "class StoreManager"),
    ("class MemoryInfo: ...\n", 1, "class MemoryInfo"),
    ("def f():\n    print('hello')\n", 2, "print()"),
    ("DATA = '/" + "home/sam/holdfast'\n", 1, "a path of one machine"),
    ("# see /" + "work/notes\n", 1, "a path of one machine"),
]

ACCEPTED = [
    "x = 1\n" * FILE_LINES,
    '"""Doc."""\n\n# budget: one table, and a split would hide it\n' + "x = 1\n" * FILE_LINES,
    function(FUNCTION_LINES),
    "# budget: one long match\n" + function(FUNCTION_LINES + 1),
    function(FUNCTION_LINES + 1, head="def long():  # budget: one long match"),
    "# budget: one long match\n@decorated\n" + function(FUNCTION_LINES + 1),
    BROAD.format(comment="  # broad: the door's boundary; logged"),
    "with suppress(OSError):\n    x = 1\n",
    "class Database: ...\nclass Metadata: ...\n",
    "click.echo('hello')\nprinter.print('x')\n",
    "URL = 'https://host/home/x'\nFILE = '~/root/x'\n",
]


@pytest.mark.parametrize(("code", "line", "message"), REFUSED)
def test_what_goes_over_a_budget_is_found(tmp_path: Path, code: str, line: int, message: str) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(code)

    findings = list(check(tmp_path))

    assert [(finding.path, finding.line) for finding in findings] == [(planted, line)]
    assert message in findings[0].message


@pytest.mark.parametrize("code", ACCEPTED)
def test_what_keeps_its_budget_or_says_why_is_not(tmp_path: Path, code: str) -> None:
    (tmp_path / "planted.py").write_text(code)

    assert list(check(tmp_path)) == []


def test_even_broad_excepts_with_a_reason_are_few(tmp_path: Path) -> None:
    one = BROAD.format(comment="  # broad: a boundary")
    (tmp_path / "planted.py").write_text(one * (BROAD_EXCEPTS + 1))

    (finding,) = check(tmp_path)

    assert "more than" in finding.message


def test_a_file_for_anything_is_found(tmp_path: Path) -> None:
    (tmp_path / "utils.py").touch()

    (finding,) = check(tmp_path)

    assert "utils.py holds anything" in finding.message


def test_the_package_is_measured(tmp_path: Path) -> None:
    package = tmp_path / "holdfast"
    files = {
        "__init__.py": "",
        "engine/split.py": "class Split: ...\nclass _Own: ...\n\nconfirmed_at = 1\n",
        "web/split.py": "class Split: ...\nclass _Own: ...\nclass Other:\n    class Inner: ...\n",
        "web/page.html": "{{ memory.confirmed_at }}\n",
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)

    assert [measure.now for measure in measures(package)] == [8, 4, 3, 1, 2, 1]
    assert [each.message for each in check(tmp_path)] == [
        "class names used more than once: 1, at most 0 are allowed"
    ]


def test_a_measure_over_its_limit_is_found(tmp_path: Path) -> None:
    package = tmp_path / "holdfast"
    package.mkdir()
    for number in range(ROOT_MODULES[0] + 1):
        (package / f"module_{number}.py").write_text(
            "".join(f"class Name{n}: ...\n" for n in range(CLASS_NAMES[0]))
        )

    (finding,) = check(tmp_path)

    assert (finding.path, finding.message) == (package, "modules in the root: 7, at most 6 are allowed")


def test_the_table_has_a_line_for_each_measure_with_its_limit_and_goal(tmp_path: Path) -> None:
    (tmp_path / "holdfast").mkdir()

    head, lines, *others = table(tmp_path)

    assert head.split() == ["now", "at", "most", "goal"]
    assert lines.split() == ["lines", "0", *(f"{figure:,}" for figure in LINES)]
    assert len(others) == 5


@pytest.mark.parametrize("tool", ["check_budgets", "check_imports"])
def test_the_exit_code_is_1_for_a_finding_and_0_for_none(tmp_path: Path, tool: str) -> None:
    command = [sys.executable, "-m", f"tools.{tool}", str(tmp_path)]
    clean = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    planted = tmp_path / "holdfast" / "domain" / "helpers.py"
    planted.parent.mkdir(parents=True)
    planted.write_text("import click\n")

    found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)

    assert (clean.returncode, clean.stdout) == (0, "")
    assert found.returncode == 1
    assert found.stdout.startswith(f"{planted}:1: ")
