"""The beginning of an id, in every command that takes one."""

from __future__ import annotations

from itertools import chain, count

from holdfast import Memories
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

IDS = [
    ["show", "ID"],
    ["why", "ID"],
    ["revise", "ID", "Lives in Porto"],
    ["link", "ID", "ID2"],
    ["promote", "ID"],
    ["forget", "ID"],
    ["restore", "ID"],
    ["erase", "ID", "--yes"],
]


@requirement("first.id-beginning")
def test_the_beginning_of_an_id_names_the_memory_in_every_command(shell: Shell) -> None:
    one = shell.remembers("Lives in Lisbon", "-c", "context", "--project", "home")
    other = shell.remembers("Likes jazz")

    results = [
        shell(*(each.replace("ID2", other[:5]).replace("ID", one[:4]) for each in arguments))
        for arguments in IDS
    ]

    assert [result.exit_code for result in results] == [0] * len(IDS), [each.output for each in results]
    assert contents_of(shell) == {"Likes jazz"}


def test_a_waiting_memory_is_approved_by_the_beginning_of_its_id(shell: Shell) -> None:
    shell.says("import", "-", "--review", stdin="Plays the violin\nHas a dog\n")
    first, second = (item["memory"]["id"] for item in shell.json("inbox")["waiting"])

    shell.says("inbox", "approve", first[:6])
    shell.says("inbox", "reject", second[:6])

    assert shell.json("inbox")["total"] == 0


@requirement("first.id-beginning")
def test_a_beginning_that_names_none_or_several_is_refused(shell: Shell) -> None:
    names = chain(["abcd1111", "abcd2222", "xyz98765"], map(str, count()))
    with Memories.open(shell.db, clock=shell.clock, ids=names.__next__) as memories:
        for text in ("Lives in Lisbon", "Likes jazz", "Has a dog"):
            memories.remember(text)

    several, short, none = (shell("why", words).stderr for words in ("abcd", "xyz", "nowhere"))

    assert several == "holdfast: several ids begin with 'abcd': abcd1111, abcd2222; give more of one\n"
    assert short == "holdfast: 'xyz' is too short for an id: give its first 4 characters or more\n"
    assert none.startswith("holdfast: there is no memory 'nowhere' in space 'default'")


def contents_of(shell: Shell) -> set[str]:
    return {memory["content"] for memory in shell.json("list", "--state", "all")["memories"]}
