"""Where things are, and which project a folder belongs to."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app import paths
from holdfast.settings import default_path
from tests.requirements_ledger import requirement


def test_everything_lies_in_the_users_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.delenv("XDG_DATA_HOME")

    assert paths.home() == str(platformdirs.user_data_path("holdfast", appauthor=False))
    assert default_path() == Path(paths.home()) / "holdfast.db"


def test_one_variable_moves_all_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "elsewhere"))

    found = [
        paths.database(),
        paths.token_file(),
        paths.service_file(),
        paths.spool(),
        paths.briefs(),
        paths.brief_file("default", "website"),
        paths.quiet_file(),
        paths.hook_log(),
    ]

    assert all(Path(path).is_relative_to(tmp_path / "elsewhere") for path in found)
    assert default_path() == tmp_path / "elsewhere" / "holdfast.db"


def test_files_and_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "token"

    paths.write_private(str(path), b"secret")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in path.parents][:2] == [0o700, 0o700]
    assert [file.name for file in path.parent.iterdir()] == ["token"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    paths.write_private(str(path), b"old")

    def full(_descriptor: int, _content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        paths.write_private(str(path), b"new")

    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["token"]


def test_a_rewritten_file_keeps_its_mode_and_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "settings.json"
    link.symlink_to(real)

    paths.rewrite(str(link), b"new")

    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_names_get_two_file_names_that_stay_in_their_folder(one: str, other: str) -> None:
    first, second = paths.file_stem(one), paths.file_stem(other)

    assert (first == second) == (one == other)
    assert (first.casefold() == second.casefold()) == (one == other)  # some file systems ignore case
    for name in (first, second):
        assert 0 < len(name) <= 120
        assert not set(name) & set("/\\.\0:")


# ------------------------------------------------------------------------------------------------- projects


def test_a_project_is_the_name_of_the_git_root(tmp_path: Path) -> None:
    (tmp_path / "website" / ".git").mkdir(parents=True)
    (tmp_path / "website" / "src" / "pages").mkdir(parents=True)

    assert paths.project_of(tmp_path / "website" / "src" / "pages") == "website"
    assert paths.project_of(str(tmp_path / "website")) == "website"


@requirement("scope.project")
def test_a_folder_outside_of_git_is_no_project(tmp_path: Path) -> None:
    assert paths.project_of(tmp_path) is None
    assert paths.project_of(tmp_path / "not" / "there") is None


@pytest.mark.parametrize(
    ("link", "project"),
    [
        ("gitdir: {main}/.git/worktrees/feature\n", "website"),
        ("gitdir: ../website/.git/worktrees/feature", "website"),
        ("gitdir: {main}.git/worktrees/feature\n", "website"),  # of a bare repository
        ("gitdir: ../.git/modules/feature\n", "feature"),  # a submodule is a project of its own
        ("rubbish", "feature"),
        ("gitdir:", "feature"),
        ("\xff\xfe", "feature"),
    ],
)
def test_a_worktree_belongs_to_the_project_it_was_made_from(tmp_path: Path, link: str, project: str) -> None:
    folder = tmp_path / "feature"
    folder.mkdir()
    (folder / ".git").write_bytes(link.format(main=tmp_path / "website").encode("latin-1"))

    assert paths.project_of(folder) == project


@pytest.mark.skipif(sys.platform == "win32", reason="no git there")
def test_git_itself_agrees_on_worktrees(tmp_path: Path) -> None:
    import shutil
    import subprocess

    if shutil.which("git") is None:
        pytest.skip("there is no git")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    main = tmp_path / "website"
    subprocess.run([*git, "init", "-q", str(main)], check=True, capture_output=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], cwd=main, check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "feature")], cwd=main, check=True)

    assert paths.project_of(tmp_path / "feature") == "website"
