"""The spool: whole files or none, one a session, never too many."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from holdfast.agents.hooks import spool
from holdfast.app import paths


def entry(session: str, **more: object) -> dict[str, object]:
    return spool.entry_of("Stop", {"session_id": session, "transcript_path": "/t.jsonl", "offset": 1, **more})


def test_entries_come_back_oldest_first() -> None:
    for number, session in enumerate(["a", "b", "c"]):
        spool.put(entry(session))
        os.utime(spool.waiting()[-1], (1_000 + number, 1_000 + number))

    found = [spool.entry(path) for path in spool.waiting()]

    assert [one["session_id"] for one in found if one] == ["a", "b", "c"]


def test_a_session_has_one_entry_the_latest() -> None:
    spool.put(entry("a", offset=1))
    spool.put(entry("a", offset=2))

    [path] = spool.waiting()
    found = spool.entry(path)
    assert found is not None
    assert found["offset"] == 2


def test_files_are_for_their_owner_only() -> None:
    spool.put(entry("a"))

    [path] = spool.waiting()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(paths.spool()).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(paths.home()).st_mode) == 0o700


def test_when_there_are_too_many_the_oldest_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_ENTRIES", 3)

    for number in range(6):
        spool.put(entry(f"s{number}"))
        newest = Path(paths.spool(), f"s{number}.json")
        os.utime(newest, (1_000 + number, 1_000 + number))

    assert sorted(Path(path).stem for path in spool.waiting()) == ["s3", "s4", "s5"]


@pytest.mark.parametrize(
    "wrong",
    [{}, {"session_id": 5}, {"session_id": "x" * 2_000}, {"session_id": "a", "cwd": "/" + "x" * 2_000}],
)
def test_what_cannot_be_an_entry_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no session, or a field that is too long"):
        spool.put(wrong)

    assert spool.waiting() == []


def test_a_session_with_any_name_stays_in_the_folder() -> None:
    spool.put(entry("../../escape"))
    spool.put(entry("nul\0byte/\N{GREEN HEART}"))

    assert [Path(path).parent for path in spool.waiting()] == [Path(paths.spool())] * 2


def test_damaged_and_unfinished_files_are_no_entries() -> None:
    spool.put(entry("a"))
    Path(paths.spool(), "b.json").write_bytes(b'{"session_id": "b", "tran')
    Path(paths.spool(), "c.json").write_bytes(b"[]")
    fresh = Path(paths.spool(), ".d.json.123456.new")
    fresh.write_bytes(b"{")
    old = Path(paths.spool(), ".e.json.123456.new")
    old.write_bytes(b"{")
    os.utime(old, (1_000, 1_000))

    found = [spool.entry(path) for path in spool.waiting()]

    assert [one is not None for one in found].count(True) == 1
    assert len(found) == 3
    assert fresh.exists()
    assert not old.exists()  # its writer was killed long ago


def test_without_a_spool_nothing_waits() -> None:
    assert spool.waiting() == []
    assert not Path(paths.home()).exists()
