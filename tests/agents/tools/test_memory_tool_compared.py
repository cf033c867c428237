"""Anthropic's memory tool beside the SDK's own on a real directory: the same commands, the same answers."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import Memories
from holdfast.agents.memory_tool import MemoryTool
from holdfast.app.wiring import open_store, utc_now
from holdfast.engine.spaces import create_space
from tests.requirements_ledger import requirement

Command = dict[str, Any]

_FOLDER = re.compile(r"^[\d.]+[BKMG](\t/memories(?:/[^\n]*/)?)$", re.MULTILINE)
_TOO_DEEP = "it is nested too deeply: give at most 2 folders"
_NAMES = ("a.md", "b.txt", "notes.json", "läuft.md", "no extension", "x.y.z")
_FOLDERS = ("", "work/", "work/deep/", "b.txt/")
_PATHS = st.builds(
    lambda folder, name: f"/memories/{folder}{name}", st.sampled_from(_FOLDERS), st.sampled_from(_NAMES)
)
_PLACES = st.one_of(
    _PATHS,
    st.sampled_from(
        ["/memories", "/memories/work", "/memories/work/deep", "/memories/work/", "/memories/b.txt"]
    ),
)
_LINES = st.lists(
    st.sampled_from(["one", "two", "", " indented", "one two", "Grüße", "# Title", "---", "name: x"]),
    max_size=6,
)
_TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, _LINES, st.sampled_from(["", "\n", "\n\n"]))
_COMMANDS = st.one_of(
    st.builds(lambda path, text: {"command": "create", "path": path, "file_text": text}, _PATHS, _TEXTS),
    st.builds(lambda path, text: {"command": "create", "path": path, "file_text": text}, _PATHS, _TEXTS),
    st.builds(lambda path: {"command": "view", "path": path}, _PLACES),
    st.builds(
        lambda path, first, last: {"command": "view", "path": path, "view_range": [first, last]},
        _PLACES, st.integers(-1, 5), st.integers(-1, 8),
    ),
    st.builds(
        lambda path, old, new: {"command": "str_replace", "path": path, "old_str": old, "new_str": new},
        _PLACES, st.sampled_from(["one", "two", "one two", "\n", "", "nowhere"]), _TEXTS,
    ),
    st.builds(
        lambda path, at, text: {"command": "insert", "path": path, "insert_line": at, "insert_text": text},
        _PLACES, st.integers(-1, 6), _TEXTS,
    ),
    st.builds(lambda path: {"command": "delete", "path": path}, _PLACES),
    st.builds(lambda old, new: {"command": "rename", "old_path": old, "new_path": new}, _PLACES, _PLACES),
)  # fmt: skip


class Both:
    """Our tool and the SDK's, after the same commands."""

    def __init__(self, memories: Memories, folder: Path) -> None:
        self.memories = memories
        self.ours = MemoryTool(memories)
        self.theirs = BetaLocalFilesystemMemoryTool(str(folder))
        self.root = folder / "memories"

    def run(self, command: Command) -> None:
        """Both carry it out, and say the same; where theirs breaks down, ours says no."""
        ours = _told(self.ours, command)
        if ours is not None and ours.endswith(_TOO_DEEP):
            return  # a disk takes deeper folders
        theirs = _told(self.theirs, command)
        for folder in sorted(self.root.rglob("*"), reverse=True):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()  # ours has no empty folders
        if theirs is None:
            assert ours is not None, command
            assert ours.startswith("error: "), (command, ours)
        else:
            assert _FOLDER.sub(r"DIR\1", ours or "") == _FOLDER.sub(r"DIR\1", theirs), command

    def same(self) -> None:
        """The same files with the same bytes."""
        on_disk = {
            str(path.relative_to(self.root)): path.read_text()
            for path in self.root.rglob("*")
            if path.is_file()
        }

        assert {entry.path: self.memories.file(entry.path).text for entry in self.memories.files()} == on_disk
        assert {entry.path: entry.size for entry in self.memories.files()} == {
            path: len(text.encode()) for path, text in on_disk.items()
        }


def _told(tool: Any, command: Command) -> str | None:
    """The answer, or the error in words for the model; none when the tool breaks down on it."""
    try:
        return f"said: {tool.call(dict(command))}"
    except ToolError as refused:
        return f"error: {refused}"
    except OSError:
        return None


@contextmanager
def _both(template: Path) -> Iterator[Both]:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "holdfast.db"
        shutil.copyfile(template, database)
        store = open_store(str(database))
        create_space("notes", store=store, clock=utc_now, profile="files")
        yield Both(Memories.of(store, "notes"), Path(folder) / "theirs")
        store.close()


@pytest.mark.slow
@requirement("files.memory-tool")
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commands=st.lists(_COMMANDS, min_size=1, max_size=20))
def test_any_sequence_of_commands_is_answered_as_by_the_sdks_own_tool(
    sqlite_template: Path, commands: list[Command]
) -> None:
    with _both(sqlite_template) as both:
        for command in commands:
            both.run(command)
            both.same()


@pytest.mark.faults
@settings(max_examples=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commands=st.lists(_COMMANDS, min_size=1, max_size=40))
def test_thousands_of_sequences_are_answered_as_by_the_sdks_own_tool(
    sqlite_template: Path, commands: list[Command]
) -> None:
    with _both(sqlite_template) as both:
        for command in commands:
            both.run(command)
        both.same()
