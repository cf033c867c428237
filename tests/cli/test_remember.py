"""remember, revise, forget, restore, erase and link, as the command line says them."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

SAME = ("The user's dog is called Rex", "The dog of the user is called Rex")


@requirement("sem.cli")
def test_remember_answers_in_text_and_in_json_with_all_fields(shell: Shell) -> None:
    options = ("-c", "project", "-s", "website", "--summary", "The move", "-t", "b", "-t", "a")
    more = (
        "--project",
        "web",
        "--importance",
        "5",
        "--confidence",
        "0.9",
        "--session",
        "s1",
        "--origin",
        "user",
    )

    answer = shell.json("remember", "Moves in May", *options, *more)

    assert answer["outcome"] == "added"
    assert answer["related"] == []
    assert {key: value for key, value in answer["memory"].items() if key != "id"} == {
        "category": "project",
        "subject": "website",
        "content": "Moves in May",
        "version": 1,
        "created_at": "2026-03-01T12:00:00.000000Z",
        "updated_at": "2026-03-01T12:00:00.000000Z",
        "confidence": 0.9,
        "importance": 5,
        "tags": ["a", "b"],
        "state": "active",
        "origin": "user",
        "session": "s1",
        "message": None,
        "tier": None,
        "person": None,
        "private": False,
        "project": "web",
        "summary": "The move",
        "pinned": False,
        "waiting_for": None,
        "confirmed_at": "2026-03-01T12:00:00.000000Z",
        "accessed_at": None,
        "accesses": 0,
        "superseded_by": None,
        "redacted": [],
    }


def test_the_text_may_come_from_standard_input(sqlite_shell: Shell) -> None:
    said = sqlite_shell.says("remember", "-", stdin="two\nlines\n")

    assert said.endswith("  [general] two lines (confidence 0.7)\n")
    assert sqlite_shell.json("list")["memories"][0]["content"] == "two\nlines"


def test_the_same_key_counts_once(ops: Shell) -> None:
    call = ("remember", "Takes 60s to start after restart", "-c", "timing", "--key", "k1")

    first = ops.json(*call)
    again = ops.json(*call)
    other = ops("remember", "Something else", "-c", "timing", "--key", "k1")

    assert first["outcome"] == again["outcome"] == "added"
    assert ops.json("list")["memories"][0]["confidence"] == 0.7
    assert (other.exit_code, other.stderr) == (
        1,
        "holdfast: the idempotency key 'k1' was already used for a different request: use a new key\n",
    )


def test_a_tier_opens_its_session(ops: Shell) -> None:
    kept = ops.remembers("Starts slowly", "-c", "timing", "--session", "run-1", "--tier", "2")

    assert "operator in session run-1, tier 2, 2026-03-01 12:00 UTC" in ops.says("why", kept)


def test_a_second_voice_in_one_session_is_known_but_does_not_count(ops: Shell) -> None:
    call = ("Takes 60s to start after restart", "-c", "timing", "--session", "run-1")
    kept = ops.remembers(*call)

    said = ops.says("remember", *call)

    assert said.startswith(f"Duplicate of {kept}  [timing] Takes 60s")
    assert ops.json("list")["memories"][0]["confidence"] == 0.7


def test_an_assistant_is_advised_to_update(sqlite_shell: Shell) -> None:
    assistant = sqlite_shell.in_space("me", "assistant")
    known = assistant.remembers(SAME[0], "-c", "person", "-s", "dog")

    result = assistant("remember", SAME[0], "-c", "person", "-s", "dog")
    answer = assistant("remember", SAME[0], "-c", "person", "-s", "dog", "--json")

    assert result.exit_code == answer.exit_code == 1
    assert result.stdout == (
        f"Not stored: duplicate of {known}  [person] dog: {SAME[0]}\n"
        f"  Edit it with `holdfast revise {known} TEXT --space me`\n"
    )
    assert '"outcome": "update_suggested", "memory": null' in answer.stdout


def test_a_merge_says_what_grew(sqlite_shell: Shell) -> None:
    notes = sqlite_shell.in_space("notes", "semantic")
    known = notes.remembers(SAME[0], "-c", "fact")

    said = notes.says("remember", SAME[0], "-c", "fact")

    assert said.startswith(f"Merged into {known}  [fact] {SAME[0]}")
    assert said.endswith("  importance 3 -> 4\n")


@requirement("trust.tombstone")
def test_what_was_forgotten_is_refused_until_somebody_insists(shell: Shell) -> None:
    kept = shell.remembers("Likes jazz", "-c", "preference")

    forgot = shell.says("forget", kept)
    refused = shell("remember", "Likes jazz", "-c", "preference")
    in_json = shell("remember", "Likes jazz", "-c", "preference", "--json")
    restored = shell.says("restore", kept)

    assert forgot == (f"Deleted {kept}  [preference] Likes jazz; restore with `holdfast restore {kept}`\n")
    assert refused.exit_code == in_json.exit_code == 1
    assert refused.stdout == (
        "Not stored: this was deleted on 2026-03-01 and is not stored again: "
        f"use `holdfast restore {kept}` or --anyway to store it again\n"
    )
    assert '"outcome": "refused", "memory": null, "reason": "this was deleted' in in_json.stdout
    assert restored == f"Restored {kept}  [preference] Likes jazz (confidence 0.7)\n"


def test_anyway_brings_back_what_was_deleted(ops: Shell) -> None:
    kept = ops.remembers("Needs the database first", "-c", "dependency")
    ops.says("forget", kept, "--yes")

    answer = ops.json("remember", "Needs the database first", "-c", "dependency", "--anyway")

    assert answer["outcome"] == "added"


def test_of_several_ids_the_good_ones_are_done_and_the_bad_ones_named(shell: Shell) -> None:
    kept = shell.remembers("Likes jazz")

    result = shell("forget", kept, "nowhere0", kept)
    restored = shell("restore", "nowhere0", kept, "--json")

    assert result.exit_code == restored.exit_code == 1
    assert result.stdout.count("Deleted ") == 1
    assert result.stderr.startswith("holdfast: there is no memory 'nowhere0'")
    assert '"errors": [{"kind": "not_found"' in restored.stdout
    assert shell.json("list")["total"] == 1


def test_forgetting_for_good_is_not_done_without_a_yes(ops: Shell) -> None:
    kept = ops.remembers("Needs the database first", "-c", "dependency")

    result = ops("forget", kept)
    gone = ops.says("forget", kept, "--yes")
    back = ops("restore", kept)

    assert result.exit_code == 2
    assert "the profile 'ops' deletes for good: add --yes to confirm" in result.stderr
    assert gone == f"Deleted {kept}  [dependency] Needs the database first; for good\n"
    assert back.stderr == f"holdfast: memory {kept} was deleted permanently and can't be restored\n"


@requirement("trust.export-erase")
def test_erase_says_what_will_go_and_needs_a_yes(shell: Shell) -> None:
    kept = shell.remembers("My number is 4711")
    shell.says("revise", kept, "My number is 4712")
    shell.says("brief", "--session", "s1")
    shell.says("link", kept, shell.remembers("Has a dog"))

    asked = shell("erase", kept)
    erased = shell.says("erase", kept, "--yes")

    assert asked.exit_code == 2
    what = "1 memory with 2 stored texts, 1 link and the text of 1 stored prompt"
    assert f"this erases {what} for good: add --yes to confirm" in asked.stderr
    assert erased.startswith(f"Erased {what}\n")
    assert shell("show", kept).exit_code == 1
    assert "4711" not in shell.says("export")
    assert "4712" not in shell.says("export")


def test_erasing_an_unknown_id_erases_nothing(shell: Shell) -> None:
    kept = shell.remembers("My number is 4711")

    result = shell("erase", kept, "nowhere0", "--yes")

    assert result.exit_code == 1
    assert shell.json("show", kept)["memory"]["content"] == "My number is 4711"


def test_revise_says_what_changed_and_keeps_what_it_was(shell: Shell) -> None:
    kept = shell.remembers("Lives in Lisbon", "-c", "context", "-t", "old")

    said = shell.says(
        "revise", kept, "Lives in Porto", "--confidence", "0.9", "--pin", "-s", "home", "--no-tags"
    )
    back = shell.says("revise", kept, "--to-version", "1", "--unpin", "-s", "")

    assert said == (
        f"Revised {kept}  [context] home: Lives in Porto (confidence 0.9, pinned)\n"
        "  version 1 -> 2, confidence 0.7 -> 0.9, subject none -> home, tags none, pinned\n"
    )
    assert back == (
        f"Revised {kept}  [context] Lives in Lisbon (confidence 0.9)\n"
        "  version 2 -> 3, subject home -> none, unpinned\n"
    )
    versions = shell.json("show", kept)["versions"]
    assert [version["content"] for version in versions] == [
        "Lives in Lisbon",
        "Lives in Porto",
        "Lives in Lisbon",
    ]


def test_a_lost_update_is_a_conflict(shell: Shell) -> None:
    kept = shell.remembers("Lives in Lisbon")
    shell.says("revise", kept, "Lives in Porto", "--expect-version", "1")

    result = shell("revise", kept, "Lives in Faro", "--expect-version", "1", "--json")

    assert result.exit_code == 1
    assert result.stdout.startswith('{"error": {"kind": "outdated", "message": "memory')
    assert shell.json("show", kept)["memory"]["content"] == "Lives in Porto"


def test_a_tools_revision_of_the_operators_word_waits(shell: Shell) -> None:
    kept = shell.remembers("Lives in Lisbon")

    said = shell.says("revise", kept, "Lives in Porto", "--origin", "tool", "--session", "s1")

    assert said.startswith("Waiting ")
    assert f"  Reason: tool proposes it in place of the operator's memory {kept}\n" in said
    assert shell.json("show", kept)["memory"]["content"] == "Lives in Lisbon"


@pytest.mark.parametrize("arguments", [[], ["--session", "s1"]])
def test_a_revision_of_nothing_is_refused(sqlite_shell: Shell, arguments: list[str]) -> None:
    kept = sqlite_shell.remembers("Lives in Lisbon")

    result = sqlite_shell("revise", kept, *arguments)

    assert result.exit_code == 1
    assert "nothing to change: give" in result.stderr


def test_links_are_made_and_removed(shell: Shell) -> None:
    first, second = shell.remembers("Lives in Lisbon"), shell.remembers("Speaks Portuguese")

    made = shell.says("link", second, first, "--kind", "elaborates")
    again = shell.json("link", second, first, "--kind", "elaborates")
    shown = shell.says("show", first)
    removed = shell.says("link", second, first, "--remove")

    assert made == f"{second} elaborates {first}\n"
    assert again == {"linked": False, "from": second, "to": first, "kind": "elaborates"}
    assert f"elaborated by {second}" in shown
    assert removed == f"Removed 1 link from {second} to {first}\n"
    assert shell.json("show", first)["links"] == []


@requirement("trust.split")
def test_a_wording_that_was_counted_as_a_repetition_is_shown_by_why_and_split_off(shell: Shell) -> None:
    kept = shell.remembers("The brother of Ada lives in Porto")
    shell.says("remember", "Porto is where the brother of Ada lives", "--session", "run-2")

    told = shell.says("why", kept)
    said = shell.says("split", kept, "1")
    again = shell("split", kept, "1")

    listed = "1  2026-03-01 12:00  operator in session run-2: Porto is where the brother of Ada lives"
    assert listed in told
    assert f"Split off a wrong one with `holdfast split {kept} N`" in told
    [new] = [one for one in shell.json("list")["memories"] if one["id"] != kept]
    assert said == (
        f"Split off {new['id']}  [general] Porto is where the brother of Ada lives (confidence 0.7)\n"
        f"  Original: {kept}  [general] The brother of Ada lives in Porto (confidence 0.7)\n"
        "  confidence 0.8 -> 0.7\n"
    )
    assert (again.exit_code, "it has none" in again.stderr) == (1, True)


def test_a_revision_that_changes_nothing_says_so(shell: Shell) -> None:
    kept = shell.remembers("Lives in Lisbon", "-c", "context")

    said = shell.says("revise", kept, "Lives in Lisbon")

    assert said == f"Nothing changed: {kept}  [context] Lives in Lisbon (confidence 0.7) is already so\n"
    assert shell.json("show", kept)["memory"]["version"] == 1


@pytest.mark.parametrize(("given", "stored"), [("7", "1"), ("-1", "0")])
def test_a_confidence_beyond_the_ends_is_stored_as_the_end_and_not_in_silence(
    shell: Shell, given: str, stored: str
) -> None:
    result = shell("remember", "Lives in Lisbon", "--confidence", given)

    assert result.stderr == f"holdfast: confidence {given} is outside of 0 to 1: storing {stored}\n"
    assert [memory["confidence"] for memory in shell.json("list", "--state", "all")["memories"]] == [
        float(stored)
    ]


@pytest.mark.parametrize(("given", "stored"), [("1", 1.0), ("0", 0.0)])
def test_the_ends_themselves_are_taken_without_a_word(shell: Shell, given: str, stored: float) -> None:
    result = shell("remember", "Lives in Lisbon", "--confidence", given)

    assert result.stderr == ""
    assert shell.json("list", "--state", "all")["memories"][0]["confidence"] == stored


@pytest.mark.parametrize("given", ["0", "6"])
def test_an_importance_beyond_the_ends_is_refused(sqlite_shell: Shell, given: str) -> None:
    result = sqlite_shell("remember", "Lives in Lisbon", "--importance", given)

    assert result.exit_code == 2
    assert "1<=x<=5" in result.stderr
