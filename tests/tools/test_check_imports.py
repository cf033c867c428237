"""Imports that point outward are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.check_imports import check

# Where the planted line stands, the line, and what is said about it.
OUTWARD = [
    ("domain/confidence.py", "import click", "may not import click"),
    ("domain/confidence.py", "from holdfast import Memories", "may not import holdfast:"),
    ("domain/confidence.py", "from ..store import schema", "may not import holdfast.store.schema"),
    (
        "domain/confidence.py",
        "def late():\n    import holdfast.engine.tend",
        "may not import holdfast.engine.tend",
    ),
    ("errors.py", "from holdfast.domain import confidence", "may not import holdfast.domain:"),
    ("profiles/__init__.py", "from holdfast.engine import tend", "may not import holdfast.engine.tend"),
    ("profiles/__init__.py", "import yaml", "may not import yaml"),
    ("engine/tend.py", "from holdfast.store.schema import memories", "may not import holdfast.store.schema"),
    ("engine/tend.py", "import sqlalchemy", "may not import sqlalchemy"),
    ("engine/tend.py", "from holdfast.app.wiring import migrate", "may not import holdfast.app.wiring"),
    ("engine/tend.py", "from holdfast.engine import memories", "may not import holdfast.engine.memories"),
    ("engine/tend.py", "import holdfast.files", "may not import holdfast.files"),
    ("domain/confidence.py", "import holdfast.language", "may not import holdfast.language"),
    ("language/gate.py", "from holdfast.engine import ports", "may not import holdfast.engine.ports"),
    ("store/schema.py", "from holdfast.engine import tend", "may not import holdfast.engine.tend"),
    ("store/schema.py", "import holdfast.models", "may not import holdfast.models"),
    ("models/embedders.py", "import holdfast.store.schema", "may not import holdfast.store.schema"),
    ("wire/values.py", "import holdfast.web.rest", "may not import holdfast.web.rest"),
    ("files/forms.py", "import holdfast.agents", "may not import holdfast.agents"),
    ("quality.py", "import math", "holdfast.quality belongs to no part"),
    ("web/rest/app.py", "from holdfast.store import schema", "may not import holdfast.store.schema"),
    ("web/rest/app.py", "from holdfast.cli import main", "may not import holdfast.cli"),
    ("web/rest/app.py", "from .. import service", "may not import holdfast.web.service"),
    ("agents/hooks/command.py", "import holdfast.agents.mcp", "may not import holdfast.agents.mcp"),
    ("app/demo.py", "from holdfast.store import schema", "may not import holdfast.store.schema"),
    ("app/demo.py", "import holdfast.cli", "may not import holdfast.cli"),
    ("app/paths.py", "from holdfast.app import wiring", "may not import holdfast.app.wiring"),
    ("testing.py", "from holdfast.store import schema", "it may import itself only"),
    ("cli/say.py", "from holdfast.store import schema", "may not import holdfast.store.schema"),
    ("cli/say.py", "import rich", "may not import rich at module level"),
    (
        "cli/say.py",
        "try:\n    from rich.table import Table\nexcept ImportError: ...",
        "at module level",
    ),
    ("__init__.py", "import sqlalchemy", "may not import sqlalchemy"),
    (
        "__init__.py",
        "from .engine.memories import Memories",
        "holdfast loads sqlalchemy by way of holdfast.store.schema",
    ),
    ("cli/__init__.py", "from holdfast.app import wiring", "holdfast.cli loads sqlalchemy by way of"),
]

INWARD = [
    ("domain/confidence.py", "import math\nfrom holdfast.domain.text import clean\nfrom . import text"),
    (
        "profiles/__init__.py",
        "import tomllib\nfrom holdfast.domain import text\nfrom holdfast.errors import Invalid",
    ),
    ("engine/tend.py", "from holdfast import profiles\nfrom .ports import Store"),
    ("store/schema.py", "import sqlalchemy\nfrom holdfast.engine.ports import Store"),
    ("store/schema.py", "from holdfast.engine import ports"),
    ("web/rest/app.py", "import fastapi\nfrom holdfast.engine.memories import Memories\nfrom .x import Body"),
    ("web/dashboard.py", "from holdfast.app.wiring import utc_now"),
    ("cli/say.py", "def table():\n    import rich"),
    ("cli/say.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rich"),
    ("cli/__init__.py", "def main():\n    from holdfast.app import wiring"),
    ("agents/hooks/command.py", "from holdfast.app import paths"),
    ("app/demo.py", "from holdfast import agents\nfrom holdfast.web import rest"),
    ("app/wiring.py", "from holdfast.store import schema\nfrom holdfast.app import paths"),
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
        "language",
        "wire",
        "files",
        "agents",
        "agents/hooks",
        "agents/mcp",
        "web",
        "web/rest",
        "web/service",
        "app",
        "cli",
    ):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    for name in ("__init__", "errors", "testing", "app/paths", "domain/text", "engine/ports", "engine/tend"):
        (package / f"{name}.py").touch()
    (package / "store/schema.py").write_text("import sqlalchemy\n")
    (package / "app/wiring.py").write_text("from holdfast.store import schema\n")
    (package / "engine/memories.py").write_text("from holdfast.app import wiring\n")
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
    planted = tree / "holdfast/domain/confidence.py"
    planted.write_text('"""Belief."""\n\nimport click\n')

    (finding,) = check(tree)

    assert str(finding).startswith(f"{planted}:3: holdfast.domain may not import click")
