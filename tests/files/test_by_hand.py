"""What people, editors and git do to the files is taken over at the next use, and nothing is lost by it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Refused, settled
from holdfast.errors import Conflict
from holdfast.testing import FixedClock
from tests.files.conftest import Bind
from tests.requirements_ledger import requirement


def written(notes: Memories, name: str, body: str, kind: str = "user") -> Memory:
    change = notes.write_file(f"{name}.md", body, name=name.title(), description=f"About {name}", type=kind)
    assert change.memory is not None
    return change.memory


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@requirement("files.by-hand")
def test_an_edit_is_the_next_version_and_shows_where_it_came_from(notes: Memories, folder: Path) -> None:
    memory = written(notes, "editor", "Uses vim")

    edit(folder / "editor.md", "Uses vim", "Uses helix")

    assert [hit.memory.content for hit in notes.recall("helix").hits] == ["Uses helix"]  # type: ignore[union-attr]
    found = notes.show(memory.id)
    assert (found.memory.version, found.versions[-1].source.origin) == (2, "file")
    assert notes.why(memory.id).entries[-1].origin == "file"
    assert found.memory.source.origin == "operator"


@requirement("files.by-hand")
def test_headings_are_edited_as_well(notes: Memories, folder: Path) -> None:
    memory = written(notes, "editor", "Uses vim")

    edit(
        folder / "editor.md",
        "name: Editor\ndescription: About editor\ntype: user",
        "name: Tools\ntype: feedback",
    )

    found = notes.show(memory.id).memory
    assert (found.subject, found.summary, found.category) == ("Tools", None, "feedback")
    assert "## Feedback\n- [Tools](editor.md) - Uses vim" in (folder / "MEMORY.md").read_text()


@requirement("files.by-hand", "files.frontmatter")
@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("---\nname: New\ntype: project\n---\nA new note\n", "project", "New"),
        ("just a text\n", "other", "by_hand"),
        ("---\nname: Auth: migration\n---\nA text under a loose heading\n", "other", "Auth: migration"),
        ("---\nname: New\ntype: nonsense\n---\nA new note\n", "other", "New"),
        ("\ufeff---\r\nname: New\r\ntype: user\r\n---\r\n\r\nFrom Windows\r\n", "user", "New"),
    ],
)
def test_a_new_file_is_a_new_memory_of_its_type_or_of_none(
    notes: Memories, folder: Path, text: str, kind: str, name: str
) -> None:
    (folder / "by_hand.md").write_bytes(text.encode())

    [entry] = notes.files()

    assert (entry.path, entry.type, entry.name) == ("by_hand.md", kind, name)
    assert (folder / "by_hand.md").read_bytes() == text.encode()
    heading = "Other" if kind == "other" else kind.title()
    assert f"## {heading}\n- [{name}](by_hand.md) - " in (folder / "MEMORY.md").read_text()


@requirement("files.by-hand")
def test_a_renamed_file_is_the_same_memory(notes: Memories, folder: Path) -> None:
    first, second = written(notes, "first", "The first"), written(notes, "second", "The second")

    (folder / "first.md").rename(folder / "uno.md")
    edit(folder / "second.md", "The second", "The second, changed")
    (folder / "second.md").rename(folder / "dos.md")

    found = {entry.path: entry.memory_id for entry in notes.files()}
    assert found == {"uno.md": first.id, "dos.md": second.id}
    assert notes.show(first.id).memory.version == 1
    assert notes.show(second.id).memory.content == "The second, changed"
    assert "(uno.md)" in (folder / "MEMORY.md").read_text()


@requirement("files.by-hand")
def test_a_file_without_a_heading_goes_by_its_new_name(notes: Memories, folder: Path) -> None:
    (folder / "old.md").write_text("some text\n\n")
    [before] = notes.files()

    (folder / "old.md").rename(folder / "new.md")

    [after] = notes.files()
    assert (after.memory_id, after.name) == (before.memory_id, "new")
    assert (folder / "new.md").read_text() == "some text\n\n"


@requirement("files.by-hand", "trust.tombstone")
def test_a_deleted_file_is_forgotten_softly_and_stays_so(notes: Memories, folder: Path) -> None:
    written(notes, "other", "Another note")
    memory = written(notes, "editor", "Uses vim for everything")

    (folder / "editor.md").unlink()

    assert [entry.path for entry in notes.files()] == ["other.md"]
    assert notes.show(memory.id).memory.state == "forgotten"
    again = notes.remember("Uses vim for everything", category="user", subject="Editor")
    assert isinstance(again, Refused)
    assert notes.restore(memory.id).content == "Uses vim for everything"
    assert (folder / "editor.md").exists()


@requirement("files.by-hand")
def test_a_file_that_comes_back_brings_its_memory_back(notes: Memories, folder: Path) -> None:
    written(notes, "other", "Another note")
    memory = written(notes, "editor", "Uses vim")
    kept = (folder / "editor.md").read_text()
    (folder / "editor.md").unlink()
    notes.files()

    (folder / "editor.md").write_text(kept.replace("vim", "helix"))

    assert notes.show(memory.id).memory.content == "Uses helix"


@requirement("trust.tombstone")
def test_what_a_person_forgot_waits_when_a_file_says_it_again(notes: Memories, folder: Path) -> None:
    written(notes, "other", "Another note")
    memory = written(notes, "editor", "Uses vim for everything")
    kept = (folder / "editor.md").read_text()
    notes.forget(memory.id)

    (folder / "editor.md").write_text(kept)

    assert [entry.path for entry in notes.files()] == ["other.md"]
    assert [item.memory.content for item in notes.inbox()] == ["Uses vim for everything"]
    assert (folder / "editor.md").read_text() == kept
    state = notes.directory()
    assert state is not None
    assert any("is deleted: restore it first" in trouble for trouble in state.troubles)
    assert len(notes.inbox()) == 1
    with pytest.raises(Conflict, match="is not stored again"):
        notes.speaking_as("assistant").put_file("again.md", "Uses vim for everything")


@requirement("trust.tombstone", "files.memory-tool")
def test_an_assistant_may_write_again_what_an_assistant_deleted(notes: Memories) -> None:
    assistant = notes.speaking_as("assistant")
    assistant.put_file("a.txt", "Some text", new=True)
    assistant.delete_file("a.txt")

    change = assistant.put_file("a.txt", "Some text", new=True)

    assert change.created


@requirement("files.by-hand")
def test_both_texts_are_kept_when_both_sides_changed(notes: Memories, folder: Path) -> None:
    memory = written(notes, "editor", "Uses vim")
    on_disk = (folder / "editor.md").read_text()
    held = folder.parent / "held"
    folder.rename(held)  # so that the directory can't follow
    notes.revise(memory.id, "Uses emacs")
    (held / "editor.md").write_text(on_disk.replace("vim", "helix"))
    held.rename(folder)

    report = notes.sync_directory()

    [item] = notes.inbox()
    assert report.conflicts == [item.memory.id]
    assert (item.memory.content, item.known[0].id) == ("Uses helix", memory.id)
    assert "were both changed" in str(item.memory.waiting_for)
    assert notes.show(memory.id).memory.content == "Uses emacs"
    assert "Uses emacs" in (folder / "editor.md").read_text()
    state = notes.directory()
    assert state is not None
    assert state.conflicts == (item.memory.id,)
    notes.approve(item.memory.id)
    assert notes.show(memory.id).memory.content == "Uses helix"
    assert "Uses helix" in (folder / "editor.md").read_text()


@requirement("files.by-hand")
def test_a_change_here_survives_a_deletion_there(notes: Memories, folder: Path) -> None:
    written(notes, "other", "Another note")
    memory = written(notes, "editor", "Uses vim")
    held = folder.parent / "held"
    folder.rename(held)
    notes.revise(memory.id, "Uses emacs")
    (held / "editor.md").unlink()
    held.rename(folder)

    notes.sync_directory()

    assert "Uses emacs" in (folder / "editor.md").read_text()


@requirement("trust.secrets", "files.by-hand")
def test_a_secret_written_into_a_file_is_taken_out_of_it(notes: Memories, folder: Path) -> None:
    secret = "sk-ant-api03-" + "abCD1234efGH5678" * 5 + "-xyzAA"
    (folder / "keys.md").write_text(f"The key is {secret}\n")

    report = notes.sync_directory()

    assert report.redacted == ["keys.md"]
    assert secret not in (folder / "keys.md").read_text()
    assert (folder / "keys.md").read_text().startswith("The key is [")
    assert not any(secret in line for line in notes.export())


@requirement("files.by-hand")
@pytest.mark.parametrize("how", ["emptied", "vanished"])
def test_an_empty_or_vanished_directory_asks_and_forgets_nothing(
    notes: Memories, folder: Path, how: str
) -> None:
    for name in ("one", "two", "three"):
        written(notes, name, f"Note {name}")
    shutil.rmtree(folder)
    if how == "emptied":
        folder.mkdir()

    assert notes.find().total == 3
    state = notes.directory()
    assert state is not None
    assert "Nothing was deleted" in str(state.asks)
    assert notes.sync_directory().asks == state.asks
    notes.sync_directory(write_back=True)

    assert sorted(file.name for file in folder.iterdir()) == ["MEMORY.md", "one.md", "three.md", "two.md"]
    shutil.rmtree(folder)
    notes.sync_directory(accept_empty=True)
    assert notes.find().total == 0
    after = notes.directory()
    assert after is not None
    assert after.asks is None


@requirement("files.by-hand", "files.index")
def test_the_last_file_may_be_deleted_by_hand(notes: Memories, folder: Path) -> None:
    written(notes, "one", "The only note")

    (folder / "one.md").unlink()

    assert notes.files() == []
    assert (folder / "MEMORY.md").read_text() == "# Memory\n\n(empty)\n"


@requirement("files.by-hand")
def test_what_can_not_be_taken_is_told_and_left_alone(notes: Memories, folder: Path) -> None:
    (folder / "long.md").write_text("x" * 70_000)
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00")
    (folder / "note.txt").write_text("not a note by its name")
    (folder / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.md")

    assert notes.files() == []

    state = notes.directory()
    assert state is not None
    assert sorted(trouble.split(":")[0] for trouble in state.troubles) == ["binary.md", "long.md"]
    assert (folder / "long.md").stat().st_size == 70_000
    assert (folder / "link.md").is_symlink()


@requirement("files.by-hand")
def test_lines_written_into_the_index_become_a_note(notes: Memories, folder: Path) -> None:
    written(notes, "one", "A note")
    with (folder / "MEMORY.md").open("a") as index:
        index.write("\n- Remember the milk\n")

    entries = [entry for entry in notes.files() if entry.path != "one.md"]

    assert [notes.file(entry.path).text for entry in entries] == ["- Remember the milk\n"]
    assert "- [One](one.md)" in (folder / "MEMORY.md").read_text()


@requirement("files.by-hand")
def test_a_copy_is_a_memory_of_its_own(notes: Memories, folder: Path) -> None:
    memory = written(notes, "one", "A note")

    shutil.copy(folder / "one.md", folder / "two.md")

    found = {entry.path: (entry.memory_id, entry.name) for entry in notes.files()}
    assert found["one.md"] == (memory.id, "One")
    assert found["two.md"][0] != memory.id
    assert found["two.md"][1] == "two"


@requirement("files.by-hand")
def test_a_broken_directory_never_breaks_a_remember(notes: Memories, folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file where the directory was")

    memory = settled(notes.remember("A fact", category="user", subject="Fact"))

    assert memory is not None
    folder.unlink()
    folder.mkdir()
    notes.sync_directory(write_back=True)
    assert "A fact" in (folder / "fact.md").read_text()


# -------------------------------------------------------------------------------------- editors and git


def rename_over(file: Path, text: str) -> None:
    """vim with backupcopy=no, and most others: a new file takes the place of the old one."""
    beside = file.with_name(f"{file.name}.tmp")
    beside.write_text(text)
    os.replace(beside, file)


def truncate_and_write(file: Path, text: str) -> None:
    """nano, and editors that keep the file's inode."""
    with file.open("r+" if file.exists() else "w") as stream:
        stream.truncate(0)
        stream.write(text)


def backup_and_write(file: Path, text: str) -> None:
    """emacs: the old file becomes a backup, then a new one is written."""
    if file.exists():
        file.rename(file.with_name(f"{file.name}~"))
    file.write_text(text)
    (file.with_name(f".#{file.name}")).symlink_to("somebody@host.1234")


def with_swap_files(file: Path, text: str) -> None:
    """vim: swap files, a probe called 4913, in place."""
    (file.with_name(f".{file.name}.swp")).write_bytes(b"b0VIM 9.0" + os.urandom(20))
    (file.with_name("4913")).write_text("")
    (file.with_name("4913")).unlink()
    file.write_text(text)


def through_sed(file: Path, text: str) -> None:
    """sed -i: a temporary file without an ending, renamed."""
    beside = file.with_name(f"sed{os.urandom(3).hex()}")
    beside.write_text(text)
    beside.rename(file)


PATTERNS: list[Callable[[Path, str], None]] = [
    rename_over,
    truncate_and_write,
    backup_and_write,
    with_swap_files,
    through_sed,
]


def clean_up(folder: Path) -> None:
    for file in folder.iterdir():
        if file.name.endswith(("~", ".swp")) or file.name.startswith(".#"):
            file.unlink()


def check(notes: Memories, folder: Path, expected: dict[str, str]) -> None:
    """The space, the directory and the index say the same."""
    found = {entry.path: notes.file(entry.path).content.strip() for entry in notes.files()}
    assert found == expected
    on_disk = {file.name for file in folder.glob("*.md")} - {"MEMORY.md"}
    assert on_disk == set(expected)
    index = (folder / "MEMORY.md").read_text()
    assert index == notes.file_index()
    for path in expected:
        assert f"({path})" in index


def many_edits(notes: Memories, folder: Path, amount: int, seed: int) -> int:
    """Edits of every kind in every editor's way; each is looked at. Answers how many there were."""
    chance = random.Random(seed)
    expected: dict[str, str] = {}
    done = 0
    for number in range(amount):
        kind = chance.choice(["new", "new", "edit", "edit", "edit", "rename", "delete", "elsewhere"])
        if len(expected) < 4:
            kind = "new"
        path = chance.choice(sorted(expected)) if expected else ""
        text = f"Text number {number} of {chance.randrange(10**9)}"
        if kind == "new":
            path = f"note_{number}.md"
            chance.choice(PATTERNS)(folder / path, f"---\nname: Note {number}\ntype: user\n---\n\n{text}\n")
            expected[path] = text
        elif kind == "edit":
            whole = (folder / path).read_text().replace(expected[path], text)
            chance.choice(PATTERNS)(folder / path, whole)
            expected[path] = text
        elif kind == "rename":
            (folder / path).rename(folder / f"moved_{number}.md")
            expected[f"moved_{number}.md"] = expected.pop(path)
        elif kind == "delete":
            (folder / path).unlink()
            del expected[path]
        else:
            memory = notes.file(path).memory
            assert memory is not None
            notes.revise(memory.id, text)
            expected[path] = text
        clean_up(folder)
        done += 1
        check(notes, folder, expected)
    assert notes.inbox() == []
    return done


@pytest.mark.slow
@requirement("files.by-hand", "files.index")
def test_20_edits_in_the_ways_of_editors_are_all_taken_over(sqlite_notes: Memories, folder: Path) -> None:
    assert many_edits(sqlite_notes, folder, 20, seed=4) == 20


@pytest.mark.faults
@requirement("files.by-hand", "files.index")
def test_200_edits_in_the_ways_of_editors_are_all_taken_over(notes: Memories, folder: Path) -> None:
    assert many_edits(notes, folder, 200, seed=20) == 200


@requirement("files.by-hand", "files.index")
def test_git_checkout_between_two_states_takes_the_memories_along(notes: Memories, folder: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)

    for name in ("kept", "changed", "removed"):
        written(notes, name, f"The note {name}")
    git("init", "-qb", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "other")
    edit(folder / "changed.md", "The note changed", "The note changed on a branch")
    (folder / "removed.md").unlink()
    (folder / "new.md").write_text("---\nname: New\ntype: project\n---\n\nThe note new\n")
    notes.files()
    git("add", "-A")
    git("commit", "-qm", "two")
    ids = {entry.path: entry.memory_id for entry in notes.files()}
    one = {"kept.md": "The note kept", "changed.md": "The note changed", "removed.md": "The note removed"}
    two = {
        "kept.md": "The note kept",
        "changed.md": "The note changed on a branch",
        "new.md": "The note new",
    }

    for _ in range(3):
        git("checkout", "-q", "main")
        check(notes, folder, one)
        git("checkout", "-q", "other")
        check(notes, folder, two)

    assert {entry.path: entry.memory_id for entry in notes.files()} == ids
    assert notes.inbox() == []
    done = subprocess.run(
        ["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""


# ------------------------------------------------------------------------ Claude Code's own notes beside ours


@requirement("files.by-hand", "files.same-memory")
def test_claude_codes_own_notes_are_shared_without_a_fight(bind: Bind, tmp_path: Path, folder: Path) -> None:
    folder.mkdir()
    theirs = (
        "---\nname: prefers-tabs\ndescription: Indents with tabs\nmetadata:\n  type: feedback\n---\n\n"
        "Tabs.\n\n**Why:** taste\n"
    )
    index = "- [Prefers tabs](prefers-tabs.md) — Indents with tabs\n- an old line of theirs\n"
    (folder / "prefers-tabs.md").write_text(theirs)
    (folder / "MEMORY.md").write_text(index)

    notes = bind(layout="shared")
    as_bound = (folder / "prefers-tabs.md").read_text(), (folder / "MEMORY.md").read_text()
    ours = settled(
        notes.remember("Deploys on Fridays", category="project", subject="deploys", summary="When")
    )
    assert ours is not None

    assert as_bound == (theirs, index)
    [entry] = [one for one in notes.files() if one.path == "prefers-tabs.md"]
    assert (entry.name, entry.type, entry.description) == ("prefers-tabs", "feedback", "Indents with tabs")
    assert (folder / "deploys.md").read_text() == (
        "---\nname: deploys\ndescription: When\nmetadata:\n  type: project\n  updated: 2026-03-01\n"
        f"  id: {ours.id}\n---\n\nDeploys on Fridays\n"
    )
    assert (folder / "MEMORY.md").read_text() == index + "- [deploys](deploys.md) — When\n"
    # Claude Code writes a note and its own line of the index; ours stay.
    (folder / "new-fact.md").write_text(theirs.replace("prefers-tabs", "new-fact"))
    with (folder / "MEMORY.md").open("a") as file:
        file.write("- [New fact](new-fact.md) — hook of theirs\n")
    before = (folder / "MEMORY.md").read_text()
    assert len(notes.files()) == 3
    assert (folder / "MEMORY.md").read_text() == before
    # A memory that is forgotten here takes its file and its line along, whoever wrote them.
    notes.forget(str(entry.memory_id))
    assert not (folder / "prefers-tabs.md").exists()
    assert (folder / "MEMORY.md").read_text() == before.replace(index.splitlines()[0] + "\n", "")
    # A change through another door keeps what Claude Code put into the heading.
    [fact] = [one for one in notes.files() if one.path == "new-fact.md"]
    notes.revise(str(fact.memory_id), "Spaces after all.")
    assert (
        (folder / "new-fact.md")
        .read_text()
        .startswith("---\nname: new-fact\ndescription: Indents with tabs\nmetadata:\n  type: feedback\n")
    )


@requirement("files.same-memory")
def test_files_that_follow_a_change_go_by_the_clock_of_the_store(notes: Memories, clock: FixedClock) -> None:
    clock.advance(days=3)
    written(notes, "one", "Note one")

    with notes.store.read(notes.space) as tx:
        bound = tx.files.bound()

    assert bound is not None
    assert bound.agreed_at == clock.now()
