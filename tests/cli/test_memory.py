"""`holdfast memory`: the words of /memory in a shell."""

from __future__ import annotations

from holdfast import Memories
from holdfast.agents.memory_command import answer
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@requirement("asst.command")
def test_the_shell_gives_the_same_text_as_every_other_door(shell: Shell) -> None:
    mine = shell.in_space("me", "assistant")
    friday = mine.remembers("The user prefers Friday due dates", "-c", "preference")

    listed = mine.says("memory")
    deleted = mine.says("memory", "delete", friday)

    with Memories.open(shell.db, "me") as memories:
        assert deleted == (
            f"Deleted: 'The user prefers Friday due dates'\nUndo: holdfast memory restore {friday}\n"
        )
        memories.restore(friday)
        assert listed.replace("holdfast memory", "/memory") == answer(memories, "/memory") + "\n"
    assert listed.endswith("Use holdfast memory delete ID to remove one.\n")


@requirement("asst.command")
def test_what_can_not_be_done_is_said_with_exit_code_1(sqlite_shell: Shell) -> None:
    for words in (("delete", "zzzzzzzz"), ("fly",), ("delete",)):
        result = sqlite_shell("memory", *words)

        assert result.exit_code == 1
        assert result.stdout.strip()
    assert sqlite_shell.json("memory") == {"text": "No memories yet.", "done": True}
