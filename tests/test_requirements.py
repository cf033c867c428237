"""Every requirement row has a test or is listed as open, and no test names a row that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements_ledger import (
    ROWS_FILE,
    Rows,
    Use,
    problems,
    registry,
    requirement,
    rewrite_open,
    scan,
)

LEDGER = """\
# A comment that stays.

[open]
ids = [
    "a.one",
]

[[requirement]]
id = "a.one"
from = "plan"
says = "One [sic]."

[[requirement]]
id = "a.two"
from = "plan"
says = "Two."
"""


@pytest.fixture(scope="module")
def uses() -> list[Use]:
    """Of all the tests, which take a while to read."""
    return scan()


def test_rows_and_tests_agree(uses: list[Use]) -> None:
    wrong = problems(Rows.read(), uses)

    assert not wrong, "run `python -m tests.requirements_ledger`:\n" + "\n".join(wrong)


def test_the_open_list_in_the_tree_is_written_as_the_tool_writes_it(tmp_path: Path, uses: list[Use]) -> None:
    copy = tmp_path / "requirements.toml"
    copy.write_text(ROWS_FILE.read_text(encoding="utf-8"), encoding="utf-8")

    rewrite_open(copy, uses)

    assert copy.read_text(encoding="utf-8") == ROWS_FILE.read_text(encoding="utf-8")


def planted(tmp_path: Path, code: str) -> tuple[Rows, Path]:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_planted.py").write_text(code, encoding="utf-8")
    (tests / "requirements.toml").write_text(LEDGER, encoding="utf-8")
    return Rows.read(tests / "requirements.toml"), tests


def test_a_row_without_a_test_must_be_listed_as_open(tmp_path: Path) -> None:
    rows, tests = planted(tmp_path, "")

    assert problems(rows, scan(tests)) == ["a.two: no test and not listed as open"]


def test_a_tested_row_may_not_be_listed_as_open(tmp_path: Path) -> None:
    rows, tests = planted(tmp_path, '@requirement("a.one", "a.two")\ndef test_it(): ...\n')

    assert problems(rows, scan(tests)) == ["a.one: listed as open, but tests/test_planted.py:2 tests it"]


def test_a_test_may_not_name_an_unknown_row(tmp_path: Path) -> None:
    rows, tests = planted(tmp_path, '@requirement("a.two", "a.three")\ndef test_it(): ...\n')

    assert problems(rows, scan(tests)) == ["tests/test_planted.py:2: test_it names the unknown row a.three"]


def test_only_a_test_proves_a_row(tmp_path: Path) -> None:
    rows, tests = planted(tmp_path, '@requirement("a.two")\ndef arranged(): ...\n')

    assert problems(rows, scan(tests)) == [
        "tests/test_planted.py:2: arranged carries a.two but is not a test"
    ]


@pytest.mark.parametrize(
    "decorator", ["requirement(ROW)", "requirement()", 'pytest.mark.requirement("a.two")']
)
def test_a_row_id_that_cannot_be_read_is_refused(tmp_path: Path, decorator: str) -> None:
    _, tests = planted(tmp_path, f"@{decorator}\ndef test_it(): ...\n")

    with pytest.raises(ValueError, match=r"tests/test_planted\.py:2"):
        scan(tests)


def test_rewriting_changes_the_open_list_and_nothing_else(tmp_path: Path) -> None:
    _, tests = planted(tmp_path, '@requirement("a.one")\ndef test_it(): ...\n')
    file = tests / "requirements.toml"

    rows = rewrite_open(file, scan(tests))

    assert rows.open == ("a.two",)
    assert file.read_text(encoding="utf-8") == LEDGER.replace('    "a.one",', '    "a.two",')


def test_the_decorator_marks_the_test_and_keeps_a_register() -> None:
    def arranged() -> None: ...

    marked = requirement("a.one")(arranged)

    assert [(mark.name, mark.args) for mark in getattr(marked, "pytestmark", [])] == [
        ("requirement", ("a.one",))
    ]
    assert registry.pop("a.one") == [f"{__name__}.{arranged.__qualname__}"]
