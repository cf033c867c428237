"""Headings as people and other programs write them, without the quotes that YAML would want."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.files import frontmatter
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

NAMES = ("Auth: migration", "@x", "[draft] plan", "{x} y", "*star", "%pct: 5", "`tick` - a: b")


@requirement("files.frontmatter")
@pytest.mark.parametrize("name", NAMES)
def test_a_heading_that_yaml_cannot_read_is_read_up_to_the_first_colon(name: str) -> None:
    text = f"---\nname: {name}\ndescription: Which: one\ntype: project\n---\n\nThe body stays\n"

    sheet = frontmatter.read(text)

    assert (sheet.name, sheet.description, sheet.type) == (name, "Which: one", "project")
    assert sheet.text == "The body stays\n"
    assert sheet.by_lines


@requirement("files.frontmatter")
def test_such_a_file_is_taken_over_with_a_warning_and_stays_as_it_was_written(
    notes: Memories, folder: Path
) -> None:
    text = "---\nname: Auth: migration\ndescription: @x moves: to OIDC\ntype: project\n---\n\nIn May\n"
    (folder / "auth.md").write_text(text, encoding="utf-8")

    report = notes.sync_directory()

    (memory,) = notes.find().memories
    assert (memory.subject, memory.summary, memory.content) == (
        "Auth: migration",
        "@x moves: to OIDC",
        "In May",
    )
    assert report is not None
    assert report.by_lines == ["auth.md"]
    assert (folder / "auth.md").read_text(encoding="utf-8") == text
    index = (folder / "MEMORY.md").read_text(encoding="utf-8")
    assert "- [Auth: migration](auth.md) - @x moves: to OIDC\n" in index


def test_two_lines_of_dashes_around_prose_are_no_heading() -> None:
    text = "---\nJust a line of prose\n---\nand more\n"

    assert frontmatter.read(text).text == text


def test_the_directory_goes_by_the_clock_that_it_was_given(sqlite_notes: Memories, clock: FixedClock) -> None:
    state = sqlite_notes.directory()
    assert state is not None
    assert state.agreed_at == clock.now().isoformat()


@requirement("files.by-hand")
def test_a_note_by_hand_stands_in_the_index_and_in_prompts_as_it_was_written(
    notes: Memories, folder: Path
) -> None:
    (folder / "auth.md").write_text("---\nname: Auth: migration\ntype: user\n---\nTokens move in May.\n")
    notes.find()

    told = [notes.brief().text, (folder / "MEMORY.md").read_text(), (folder / "auth.md").read_text()]

    assert all("Auth: migration" in text for text in told)
    assert not any("(from file)" in text or "&#58;" in text for text in told)
