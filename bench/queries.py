"""How well recall ranks, and when it is silent, measured on questions with known answers.

Drives whatever it is given through two functions, so that what is measured is the product itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Our own labelled questions.
OWN = Path(__file__).parent / "data"

Remember = Callable[[str, str | None], str]  # content and subject to the id that now holds it
Ask = Callable[
    [str], tuple[Sequence[str], bool]
]  # a question to ids, best first, and whether it was answered


@dataclass(frozen=True, slots=True)
class QueriesReport:
    """Shares from 0 to 1: ranking on what has an answer, silence on both kinds."""

    questions: int
    hit_at_1: float
    hit_at_5: float
    silent_on_empty: float
    answered_answerable: float

    def as_json(self) -> dict[str, Any]:
        return {
            "bench": "queries",
            "questions": self.questions,
            "metrics": {
                "hit@1": self.hit_at_1,
                "hit@5": self.hit_at_5,
                "silence.empty": self.silent_on_empty,
                "silence.answerable": self.answered_answerable,
            },
        }


def measure(folder: Path, remember: Remember, ask: Ask) -> QueriesReport:
    """Stores the folder's memories and asks its questions.

    Raises: ValueError, naming the file and the line, for data of another form.
    """
    ids = {
        row["id"]: remember(row["content"], row["subject"])
        for row in _rows(folder / "queries_memories.jsonl", ("id", "content", "subject"))
    }
    first, five, answered, silent = [], [], [], []
    for row in _rows(folder / "queries.jsonl", ("query", "relevant")):
        found, answers = ask(row["query"])
        gold = {ids[name] for name in row["relevant"]}
        if gold:
            first.append(bool(gold & set(found[:1])))
            five.append(bool(gold & set(found[:5])))
            answered.append(answers)
        else:
            silent.append(not answers)
    return QueriesReport(len(first) + len(silent), *map(_share, (first, five, silent, answered)))


def _share(cases: Sequence[bool]) -> float:
    return round(sum(cases) / len(cases), 4) if cases else 0.0


def _rows(path: Path, wanted: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
        except ValueError:
            raise ValueError(f"{path.name}, line {number}: not JSON") from None
        missing = [name for name in wanted if not isinstance(row, dict) or name not in row]
        if missing:
            raise ValueError(f"{path.name}, line {number}: missing {', '.join(missing)}")
        rows.append(row)
    return rows
