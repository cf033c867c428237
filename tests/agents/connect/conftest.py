"""What all tests of connections start from."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a project, and the directory that commands are run in."""
    root = tmp_path / "website"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root
