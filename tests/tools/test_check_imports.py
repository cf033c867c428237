"""Imports that point outward are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_imports import check

# Where the planted line stands, the line, and what is said about it.
OUTWARD = [
    ("domain/belief.py", "import click", "may not import click"),
    ("domain/belief.py", "from holdfast import Memories", "may not import holdfast:"),
    ("domain/belief.py", "from ..store import schema", "may not import holdfast.store.schema"),
    (
        "domain/belief.py",
        "def late():\n    import holdfast.engine.tend",
        "may not import holdfast.engine.tend",
    ),
    ("errors.py", "from holdfast.domain import belief", "may not import holdfast.domain:"),
    ("profiles/loader.py", "from holdfast.engine import tend", "may not import holdfast.engine.tend"),
    ("profiles/loader.py", "import yaml", "may not import yaml"),
    ("engine/tend.py", "from holdfast.store.schema import memories", "may not import holdfast.store.schema"),
    ("engine/tend.py", "import sqlalchemy", "may not import sqlalchemy"),
    ("engine/tend.py", "from holdfast.wiring import migrate", "may not import holdfast.wiring"),
    ("store/schema.py", "from holdfast.engine import tend", "may not import holdfast.engine.tend"),
    ("store/schema.py", "import holdfast.models", "may not import holdfast.models"),
    ("models/embedder.py", "import holdfast.store.schema", "may not import holdfast.store.schema"),
    ("quality/relations.py", "import holdfast.store.schema", "may not import holdfast.store.schema"),
    ("doors/rest/app.py", "from holdfast.store import schema", "may not import holdfast.store.schema"),
    ("doors/rest/app.py", "from holdfast.doors.cli import main", "may not import holdfast.doors.cli"),
    ("doors/rest/app.py", "from .. import cli", "may not import holdfast.doors.cli"),
    ("testing.py", "from holdfast.store import schema", "only holdfast.wiring knows the store"),
    ("doors/cli/say.py", "import rich", "may not import rich at module level"),
    (
        "doors/cli/say.py",
        "try:\n    from rich.table import Table\nexcept ImportError: ...",
        "at module level",
    ),
    ("__init__.py", "import sqlalchemy", "may not import sqlalchemy at module level"),
    (
        "__init__.py",
        "from .wiring import migrate",
        "holdfast loads sqlalchemy by way of holdfast.store.schema",
    ),
    ("doors/cli/__init__.py", "from holdfast import wiring", "holdfast.doors.cli loads sqlalchemy by way of"),
]

INWARD = [
    ("domain/belief.py", "import math\nfrom holdfast.domain.text import clean\nfrom . import text"),
    (
        "profiles/loader.py",
        "import tomllib\nfrom holdfast.domain import text\nfrom holdfast.errors import Invalid",
    ),
    ("engine/tend.py", "from holdfast.profiles import loader\nfrom .ports import Store"),
    ("store/schema.py", "import sqlalchemy\nfrom holdfast.engine.ports import Store"),
    ("store/schema.py", "from holdfast.engine import ports"),
    ("doors/rest/app.py", "import fastapi\nfrom holdfast.wiring import migrate\nfrom .schemas import Body"),
    ("doors/cli/say.py", "def table():\n    import rich"),
    ("doors/cli/say.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rich"),
    ("doors/cli/__init__.py", "def main():\n    from holdfast import wiring"),
    ("wiring.py", "from holdfast.store import schema\nfrom holdfast.doors import cli"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small package in which every import points inward."""
    package = tmp_path / "holdfast"
    for name in (
        "domain",
        "profiles",
        "engine",
        "store",
        "models",
        "quality",
        "doors",
        "doors/cli",
        "doors/rest",
    ):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    for name in ("__init__", "errors", "testing", "domain/text", "engine/ports", "engine/tend"):
        (package / f"{name}.py").touch()
    (package / "store/schema.py").write_text("import sqlalchemy\n")
    (package / "wiring.py").write_text("from holdfast.store import schema\n")
    return tmp_path


@pytest.mark.parametrize(("file", "line", "message"), OUTWARD)
def test_an_import_that_points_outward_is_found(tree: Path, file: str, line: str, message: str) -> None:
    planted = tree / "holdfast" / file
    planted.write_text(f"{line}\n")

    findings = list(check(tree))

    assert [finding.path for finding in findings] == [planted]
    assert message in str(findings[0])


@pytest.mark.parametrize(("file", "line"), INWARD)
def test_an_import_that_points_inward_is_not(tree: Path, file: str, line: str) -> None:
    (tree / "holdfast" / file).write_text(f"{line}\n")

    assert list(check(tree)) == []


def test_a_finding_names_file_and_line(tree: Path) -> None:
    planted = tree / "holdfast/domain/belief.py"
    planted.write_text('"""Belief."""\n\nimport click\n')

    (finding,) = check(tree)

    assert str(finding).startswith(f"{planted}:3: holdfast.domain may not import click")
