"""`holdfast cache-report`: what recorded sessions say about prompt caches."""

from __future__ import annotations

from holdfast import Memories
from holdfast.engine.sessions import NewMessage
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@requirement("asst.brief.frozen")
def test_a_session_keeps_its_block_and_the_next_one_tells_what_is_new(shell: Shell) -> None:
    shell.remembers("Deploys run on Fridays")
    block = shell.json("brief", "--session", "one")
    with Memories.open(shell.db, clock=shell.clock) as memories:
        for number in range(4):
            shell.clock.advance(minutes=1)
            memories.say_all(
                "one",
                [
                    NewMessage(role="user", content=f"Hi {number}"),
                    NewMessage(role="assistant", content="Yes"),
                ],
            )
    shell.remembers("The backup disk is full")
    assert shell.json("brief", "--session", "one")["sha256"] == block["sha256"]
    shell.clock.advance(hours=1)
    shell.json("brief", "--session", "two")
    shell.clock.advance(hours=1)
    shell.json("brief", "--session", "three")

    found = shell.json("cache-report")

    three, two, one = found["sessions"]
    assert found["without_brief"] == 0
    assert [each["held"] for each in (one, two, three)] == [True, True, True]
    assert [given["sha256"] for given in one["blocks"]] == [block["sha256"]]
    assert one["blocks"][0]["intact"] is True
    assert (one["answers"], one["cacheable_tokens"]) == (4, 3 * block["tokens"])
    assert one["before"] is None
    assert two["before"] == {"session": "one", "same": False, "added": 1, "reworded": 0, "gone": 0}
    assert three["before"] == {"session": "two", "same": True, "added": 0, "reworded": 0, "gone": 0}
    assert (two["answers"], two["cacheable_tokens"]) == (None, None)
    text = shell.says("cache-report")
    assert "one: unchanged" in text
    assert f"4 answers; a cache could serve {3 * block['tokens']:,} tokens of the brief" in text
    assert "Different from the previous session one: 1 added" in text
    assert "Same brief as in the previous session two" in text
    assert "3 of 3 sessions kept a byte-identical brief" in text


def test_erasing_changes_the_block_and_the_report_says_when_and_why(shell: Shell) -> None:
    secret = shell.remembers("The door code is 0000 0000")
    shell.remembers("Deploys run on Fridays")
    before = shell.json("brief", "--session", "one")
    shell.clock.advance(hours=2)
    shell.says("erase", secret, "--yes")
    after = shell.json("brief", "--session", "one")

    [one] = shell.json("cache-report", "one")["sessions"]

    assert not one["held"]
    assert [block["sha256"] for block in one["blocks"]] == [before["sha256"], after["sha256"]]
    assert [block["intact"] for block in one["blocks"]] == [None, True]
    assert one["changes"] == [{"at": "2026-03-01T14:00:00.000000Z", "why": "erased"}]
    assert "Changed 2026-03-01 14:00: a memory in it was erased" in shell.says("cache-report", "one")


def test_what_the_agent_reports_stands_beside_our_estimate(shell: Shell) -> None:
    shell.remembers("Deploys run on Fridays")
    block = shell.json("brief", "--session", "one")
    usage = {
        "turns": 3,
        "cache_read_tokens": 9_000,
        "input_tokens": 40,
        "cost_usd": 0.5,
        "cache_write_tokens": "?",
    }
    with Memories.open(shell.db, clock=shell.clock) as memories:
        memories.close_session("one", usage=usage)
        memories.speaking_as("assistant", session="one").recall("when do deploys run")

    [one] = shell.json("cache-report", "one")["sessions"]

    assert one["reported"] == {"cache_read_tokens": 9_000, "input_tokens": 40}
    assert (one["answers"], one["cacheable_tokens"]) == (3, 2 * block["tokens"])
    assert one["trailing"]["blocks"] == 1
    assert "Reported by the agent: 9,000 read from the cache, 40 uncached input" in shell.says("cache-report")


def test_sessions_without_a_brief_and_unknown_ones_are_named(sqlite_shell: Shell) -> None:
    assert sqlite_shell.says("cache-report") == "No sessions yet\n"
    with Memories.open(sqlite_shell.db) as memories:
        memories.open_session("quiet")

    assert sqlite_shell.says("cache-report") == "1 session without a brief\n"
    missing = sqlite_shell("cache-report", "quiet", "nobody")
    assert missing.exit_code == 1
    assert "there is no session 'nobody'" in missing.stderr
