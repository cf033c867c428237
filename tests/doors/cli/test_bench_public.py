"""bench locomo and longmemeval: the product itself, told small conversations and asked about them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Shell
from tests.quality import talks


def test_locomo_is_told_and_asked_through_the_product(sqlite_shell: Shell, tmp_path: Path) -> None:
    data = talks.written(tmp_path / "locomo10.json", talks.locomo())
    figures = tmp_path / "figures.json"

    said = sqlite_shell.says("bench", "locomo", "--data", str(data), "--json", str(figures))

    told = json.loads(figures.read_text(encoding="utf-8"))
    assert said.startswith("locomo, 1 conversations, 2 questions\n")
    assert re.search(r"^single-hop +1 +100\.0% +100\.0%", said, re.MULTILINE)
    assert re.search(r"^adversarial, apart +1 ", said, re.MULTILINE)
    assert said.endswith("1 questions without evidence were left out\n")
    assert (told["bench"], told["left_out"], told["embedder"]) == ("locomo", 1, None)
    assert told["metrics"]["turn.R@5.single-hop"] == 1.0
    assert told["metrics"]["session.hit@5"] == 1.0
    assert {"turn.R@10", "turn.NDCG@10", "session.all@5", "adversarial.R@10"} <= told["metrics"].keys()
    assert all(0 <= share <= 1 for share in told["metrics"].values())


@pytest.mark.parametrize("name", ["longmemeval_s.json", "longmemeval_s.jsonl.gz"])
def test_longmemeval_is_told_and_asked_through_the_product(
    sqlite_shell: Shell, tmp_path: Path, name: str
) -> None:
    data = talks.written(tmp_path / name, talks.longmemeval())

    told = json.loads(sqlite_shell.says("bench", "longmemeval", "--data", str(data), "--json", "-"))

    assert told["bench"] == "longmemeval"
    assert told["questions"] == {"abstention": 1, "single-session-user": 1}
    assert told["metrics"]["session.hit@5"] == 1.0
    assert told["metrics"]["turn.R@5.single-session-user"] == 1.0
    assert "abstention.session.hit@5" in told["metrics"]


def test_each_conversation_is_searched_alone(sqlite_shell: Shell, tmp_path: Path) -> None:
    first, second = talks.locomo()[0], talks.locomo()[0]
    for turn in second["conversation"]["session_1"]:
        turn["text"] = "Nothing to see here."
    data = talks.written(tmp_path / "locomo10.json", [first, second])

    told = json.loads(sqlite_shell.says("bench", "locomo", "--data", str(data), "--json", "-"))
    alone = json.loads(
        sqlite_shell.says("bench", "locomo", "--data", str(data), "--first", "1", "--json", "-")
    )

    assert alone["metrics"]["turn.R@5.single-hop"] == 1.0
    assert told["metrics"]["turn.R@5.single-hop"] == 0.5


def test_the_users_own_store_is_left_alone(sqlite_shell: Shell, tmp_path: Path) -> None:
    data = talks.written(tmp_path / "locomo10.json", talks.locomo())

    sqlite_shell.says("bench", "locomo", "--data", str(data))

    assert sqlite_shell.json("list")["memories"] == []
    assert not (tmp_path / "home" / "data").exists()


def test_bad_data_is_named_with_file_and_place(sqlite_shell: Shell, tmp_path: Path) -> None:
    case = talks.locomo()
    del case[0]["conversation"]["session_2"][0]["text"]
    data = talks.written(tmp_path / "locomo10.json", case)

    result = sqlite_shell("bench", "locomo", "--data", str(data))

    assert result.exit_code == 1
    place = "entry 1 (line 2), conversation, session_2, turn 1: text is missing"
    assert f"holdfast: {str(data)!r} can't be used: {place}" in result.stderr


def test_data_is_asked_for(sqlite_shell: Shell) -> None:
    result = sqlite_shell("bench", "longmemeval")

    assert result.exit_code == 2
    assert "missing option '--data'" in result.stderr
