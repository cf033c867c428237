"""Upkeep and the junk report on the command line and over JSON."""

from __future__ import annotations

from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

BROKER = "The broker runs on host alpha"
AGAIN = "Host alpha is where the broker runs"


def alike(shell: Shell) -> tuple[str, str]:
    one = shell.remembers(BROKER, "-c", "fact")
    shell.clock.advance(days=1)
    return one, shell.remembers(AGAIN, "-c", "reference", "-s", "house")


@requirement("sem.dedup")
def test_tend_previews_proposes_and_the_inbox_decides(shell: Shell) -> None:
    one, other = alike(shell)

    preview = shell.says("tend", "--preview")
    listed = shell.json("tend", "--preview")
    before = shell.json("inbox")["total"]
    said = shell.says("tend")
    waiting = shell.json("inbox")["waiting"][0]["memory"]["id"]
    approved = shell.says("inbox", "approve", waiting)

    reason = f"{one} and {other} say the same in other words: merge them into {one}"
    assert preview == f"Would propose: {reason}\nNothing was changed\n"
    assert (listed["proposed"][0]["kept"]["id"], listed["proposed"][0]["content"]) == (one, AGAIN)
    assert before == 0
    assert said == f"Proposed {waiting}: {reason}\n1 proposal in the inbox; review with `holdfast inbox`\n"
    assert approved.startswith(f"Approved {one}  [fact] house: {AGAIN}")
    assert [memory["id"] for memory in shell.json("list")["memories"]] == [one]


def test_a_rejected_proposal_leaves_both_and_does_not_come_again(shell: Shell) -> None:
    alike(shell)
    shell.says("tend")
    waiting = shell.json("inbox")["waiting"][0]["memory"]["id"]

    shell.says("inbox", "reject", waiting)

    assert len(shell.json("list")["memories"]) == 2
    assert shell.says("tend") == "Nothing to do: everything is up to date\n"


@requirement("sem.expiry")
def test_what_is_archived_is_said_listed_and_restored(shell: Shell) -> None:
    semantic = shell.in_space("talks", "semantic")
    memory = semantic.remembers("We moved the broker to its own host")
    semantic.clock.advance(days=400)

    planned = semantic.says("tend", "--preview")
    said = semantic.says("tend")
    listed = semantic.json("list", "--state", "inactive")["memories"]
    semantic.says("restore", memory)

    assert planned.startswith(f"Would archive: {memory}")
    assert said.endswith("1 memory archived; restore one with `holdfast restore ID --space talks`\n")
    assert "(not used for 365 days)" in said
    assert [one["id"] for one in listed] == [memory]
    assert [one["id"] for one in semantic.json("list")["memories"]] == [memory]


def test_an_audit_ends_with_one_when_there_is_something_to_do(shell: Shell) -> None:
    shell.remembers("Miriam is our landlord")
    clean = shell("audit")
    one, other = alike(shell)

    found = shell("audit")
    answer = shell("audit", "--json")

    assert (clean.exit_code, found.exit_code, answer.exit_code) == (0, 1, 1)
    assert clean.stdout == "Checked 1 memory: no problems found\n"
    assert "duplicates: 1 with the same meaning as another memory" in found.stdout
    assert one in found.stdout
    assert "run `holdfast tend`, then `holdfast inbox`" in found.stdout
    assert f'"pairs": [["{one}", "{other}"]]' in answer.stdout
    assert '"clean": false' in answer.stdout
