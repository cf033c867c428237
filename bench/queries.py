"""What recall gives at its default threshold, and when it is silent, on questions with known answers.

Drives whatever it is given through two functions, so that what is measured is the product itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import Invalid

TRAINING = Path(__file__).parent.parent / "training" / "data"

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

    @property
    def metrics(self) -> dict[str, float]:
        return {
            "hit@1": self.hit_at_1,
            "hit@5": self.hit_at_5,
            "silence.empty": self.silent_on_empty,
            "silence.answerable": self.answered_answerable,
        }


@dataclass(frozen=True, slots=True)
class User:
    """The memories of one user, and prompts with the memories that help."""

    memories: Sequence[dict[str, Any]]
    prompts: Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Answered:
    """What one prompt came to, in a store of so many memories."""

    memories: int
    answerable: bool
    first: bool
    five: bool
    answered: bool


def users(folder: Path) -> Iterator[User]:
    """All users in a folder.

    Raises: ValueError, naming the file and the line, for data of another form.
    """
    if (folder / "queries.jsonl").exists():
        memories = _rows(folder / "queries_memories.jsonl", ("id", "content", "subject"))
        asked = _rows(folder / "queries.jsonl", ("query", "relevant"))
        yield User(memories, [(row["query"], row["relevant"]) for row in asked])
    for path in sorted(folder.glob("pools_*.jsonl")):
        rows = _rows(path, ())
        memories = [row for row in rows if "content" in row]
        yield User(memories, [(row["prompt"], row["relevant"]) for row in rows if "prompt" in row])


def others_say(count: int) -> list[str]:
    """So many statements of other people, spread over all that was written for training.

    Raises: Invalid, when there are fewer.
    """
    rows = [row for path in sorted(TRAINING.glob("[cp]*_*.jsonl")) for row in _rows(path, ())]
    said = [row.get("memory") or row["content"] for row in rows if "memory" in row or "content" in row]
    if count > len(said):
        raise Invalid(f"--others {count} is too many: {len(said)} were written", field="others")
    return [said[place * len(said) // count] for place in range(count)]


def measure(user: User, remember: Remember, ask: Ask, others: int = 0) -> list[Answered]:
    """Stores a user's memories, beside those of so many others, and asks the prompts."""
    ids = {row["id"]: remember(row["content"], row.get("subject")) for row in user.memories}
    found = []
    for prompt, relevant in user.prompts:
        given, answers = ask(prompt)
        gold = {ids[name] for name in relevant}
        first, five = bool(gold & set(given[:1])), bool(gold & set(given[:5]))
        found.append(Answered(others + len(ids), bool(gold), first, five, answers))
    return found


def by_size(answered: Sequence[Answered]) -> dict[int, QueriesReport]:
    """The shares for each size of a store."""
    sizes = sorted({each.memories for each in answered})
    return {size: reported([each for each in answered if each.memories == size]) for size in sizes}


def reported(answered: Sequence[Answered]) -> QueriesReport:
    """The shares over all prompts."""
    asked = [each for each in answered if each.answerable]
    return QueriesReport(
        len(answered),
        _share([each.first for each in asked]),
        _share([each.five for each in asked]),
        _share([not each.answered for each in answered if not each.answerable]),
        _share([each.answered for each in asked]),
    )


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
