"""The measure of recall, and the floor under what the product reaches on our own questions."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.__main__ import bench
from bench.queries import measure, reported, users
from bench.relations import TEST
from tests.requirements_ledger import requirement


def written(folder: Path, memories: Sequence[str], questions: Sequence[str]) -> Path:
    (folder / "queries_memories.jsonl").write_text("\n".join(memories), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(questions), encoding="utf-8")
    return folder


MEMORIES = [json.dumps({"id": f"m{n}", "content": f"fact {n}", "subject": None}) for n in range(4)]


def test_ranking_and_silence_are_counted_apart(tmp_path: Path) -> None:
    questions = [
        json.dumps({"query": "m0", "relevant": ["m0"]}),
        json.dumps({"query": "m1", "relevant": ["m2", "m3"]}),
        json.dumps({"query": "", "relevant": []}),
        json.dumps({"query": "m3", "relevant": []}),
    ]
    folder = written(tmp_path, MEMORIES, questions)

    [user] = users(folder)
    answered = measure(
        user,
        remember=lambda content, _: "m" + content[-1],
        ask=lambda question: ([question, "m3"], bool(question)),
    )
    report = reported(answered)

    assert (report.questions, report.hit_at_1, report.hit_at_5) == (4, 0.5, 1.0)
    assert (report.silent_on_empty, report.answered_answerable) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("line", "said"), [("{", "line 1: not JSON"), ("{}", "line 1: missing query, relevant")]
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    folder = written(tmp_path, MEMORIES, [line])

    with pytest.raises(ValueError, match=said):
        list(users(folder))


@requirement("sem.search", "sem.search.silence", "models.shipped")
@pytest.mark.slow
def test_the_product_holds_its_floor_on_a_user_that_nobody_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "default")
    rows = (TEST / "pools_y1.jsonl").read_text("utf-8").splitlines()
    known, asked = ([row for row in rows if row.startswith(begins)] for begins in ('{"id"', '{"prompt"'))
    (tmp_path / "pools_y1.jsonl").write_text("\n".join([*known, *asked[::2]]), encoding="utf-8")
    file = tmp_path / "figures.json"

    told = CliRunner().invoke(bench, ["queries", "--data", str(tmp_path), "--json", str(file)])

    assert told.exit_code == 0, told.output
    metrics = json.loads(file.read_text())["metrics"]
    assert metrics["hit@1"] >= 0.45
    assert metrics["hit@5"] >= 0.70
    assert metrics["silence.empty"] >= 0.75
    assert metrics["silence.answerable"] >= 0.80
