"""The files of public benchmarks: read in their own formats, and refused with the place of what is wrong."""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench import locomo, longmemeval
from bench.public_files import entries
from tests.bench import talks


def test_a_list_and_lines_hold_the_same_entries_gzipped_or_not(tmp_path: Path) -> None:
    names = ["a.json", "a.jsonl", "a.json.gz", "a.jsonl.gz"]

    read = [
        [entry.fields for entry in entries(talks.written(tmp_path / name, talks.longmemeval()))]
        for name in names
    ]

    assert read == [talks.LONGMEMEVAL] * 4


def test_gzip_is_told_by_the_content_and_not_by_the_name(tmp_path: Path) -> None:
    file = talks.written(tmp_path / "a.json.gz", talks.locomo()).rename(tmp_path / "a.json")

    assert len(locomo.load(file).conversations) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "there is no entry in it"),
        (b"[]", "there is no entry in it"),
        (b'[{"a": 1},\n {"a": 2}', "entry 2 (line 2): the list ends here without its ]"),
        (b'{"a": 1}\n{"a": \n', "entry 2 (line 2): not JSON (Expecting value at line 3)"),
        (b'[{"a": 1}, 7]', "entry 2 (line 1): 7 is no object"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (gzip.compress(b"[{}]", mtime=0)[:-6], "a damaged gzip file"),
    ],
)
def test_what_is_no_list_of_objects_is_refused_with_its_place(
    tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(content)

    with pytest.raises(ValueError, match=re.escape(said)):
        list(entries(file))


def test_locomo_is_read_with_dates_speakers_captions_and_evidence(tmp_path: Path) -> None:
    loaded = locomo.load(talks.written(tmp_path / "locomo10.json", talks.locomo()))

    [conversation] = loaded.conversations
    first, second = conversation.meetings
    assert (conversation.name, loaded.questions, conversation.left_out) == ("conv-1", 3, 1)
    assert (first.name, first.at) == ("D1", datetime(2023, 5, 8, 13, 56, tzinfo=UTC))
    assert [turn.speaker for turn in first.turns] == ["Anna", "Ben"]
    assert first.turns[1].text == "Look at this! [shares a photo of a sailing boat]"
    bicycle, sister, boat = conversation.questions
    assert (bicycle.category, bicycle.turns, bicycle.sessions) == (
        "single-hop",
        frozenset({"D1:1"}),
        frozenset({"D1"}),
    )
    assert (sister.category, sister.turns, sister.apart) == ("multi-hop", frozenset({"D2:1", "D2:2"}), False)
    assert (boat.category, boat.apart) == ("adversarial", True)
    assert bicycle.at > second.at


def test_longmemeval_is_read_with_dates_and_gold_messages(tmp_path: Path) -> None:
    loaded = longmemeval.load(talks.written(tmp_path / "longmemeval_s.json", talks.longmemeval()))

    car, boat = loaded.conversations
    [asked] = car.questions
    assert [(meeting.name, len(meeting.turns)) for meeting in car.meetings] == [
        ("noise_1", 2),
        ("answer_1", 2),
    ]
    assert (asked.at, asked.category) == (datetime(2023, 5, 30, 23, 40, tzinfo=UTC), "single-session-user")
    assert (asked.turns, asked.sessions, asked.apart) == (frozenset({"2:1"}), frozenset({"answer_1"}), False)
    assert (boat.questions[0].category, boat.questions[0].apart) == ("abstention", True)


def spoilt(path: str, value: Any) -> Any:
    """LoCoMo's entry with one value replaced; the path's steps are parted by dots."""
    case = talks.locomo()
    *way, last = path.split(".")
    inner: Any = case[0]
    for step in way:
        inner = inner[int(step)] if step.isdigit() else inner[step]
    inner[int(last) if last.isdigit() else last] = value
    return case


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("conversation", [], "entry 1 (line 2): conversation is [], which is no object"),
        ("conversation", {}, "entry 1 (line 2), conversation: there is no session_1"),
        ("conversation.session_1.1", "x", 'conversation, session_1, turn 2: "x" is no object'),
        ("conversation.session_1.1.text", None, "session_1, turn 2: text is null, which is no text"),
        ("conversation.session_2.0.dia_id", "D1:1", "conversation: dia_id D1:1 is there twice"),
        ("conversation.session_2_date_time", "May", 'session_2_date_time is "May", not like \'1:56 pm on'),
        ("qa.0.category", 9, "question 1: category 9 is none of 1 to 5"),
        ("qa.0.category", True, "question 1: category is true, which is no whole number"),
        ("qa.1.evidence", [1], "question 2: evidence holds 1, which is no text"),
        ("qa.1", {"evidence": [], "category": 1}, "question 2: question is missing"),
    ],
)
def test_bad_locomo_is_refused_with_its_place(tmp_path: Path, path: str, value: Any, said: str) -> None:
    file = talks.written(tmp_path / "locomo10.json", spoilt(path, value))

    with pytest.raises(ValueError, match=re.escape(said)):
        locomo.load(file)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("haystack_dates", ["2023/05/20 (Sat) 02:21"], "there are 2 haystack_session_ids, 1 haystack_dates"),
        ("question_date", "soon", 'question_date: "soon" is no time like \'2023/05/30'),
        ("haystack_sessions", [[], 5], "session 2: 5 is no list of messages"),
        ("haystack_sessions", [[], [{"role": "user"}]], "session 2, message 1: content is missing"),
    ],
)
def test_bad_longmemeval_is_refused_with_its_place(tmp_path: Path, name: str, value: Any, said: str) -> None:
    cases = talks.longmemeval()
    cases[0][name] = value

    with pytest.raises(ValueError, match=re.escape(said)):
        longmemeval.load(talks.written(tmp_path / "cases.jsonl", cases))


def test_one_benchmarks_file_is_not_taken_for_the_others(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(talks.LOCOMO), encoding="utf-8")

    with pytest.raises(ValueError, match=re.escape("LongMemEval's longmemeval_s.json is expected")):
        longmemeval.load(file)
    with pytest.raises(ValueError, match=re.escape("LoCoMo's locomo10.json is expected")):
        locomo.load(talks.written(tmp_path / "b.json", talks.longmemeval()))
