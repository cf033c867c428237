"""The written data: clusters of statements, conversations, and pools of memories with prompts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

DATA: Final = Path(__file__).parent / "data"
TEST: Final = DATA / "test"  # by authors of their own: never trained on, read once at the end
VALIDATION: Final = frozenset(  # whole files
    {
        "clusters_n",
        "talks_s",
        "months_1",
        "months_2",
        "chats_4",
        "chats_5",
        *(f"weeks_{number}" for number in (1, 10, 28, 38, 39, 40, 41)),
        *(f"pools_{number}" for number in (3, 7, 8, 28, 29, 30, 31, 45, 46, 82, 83, 84, 85)),
    }
)
LABELS: Final = ("same", "contradicts", "distinct")
KINDS: Final = ("decision", "insight", "fact", "preference", "project", "person", "context", "feedback")
RETRACTION: Final = "retraction"  # of what was said before, with nothing in its place
FOUND_KINDS: Final = (*KINDS, RETRACTION)

Row: TypeAlias = dict[str, Any]


def read(path: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def files(kind: str, part: str) -> Iterator[Path]:
    """The files of a kind for `training`, `validation`, `all` (both of them) or `test`."""
    for path in sorted((TEST if part == "test" else DATA).glob(f"{kind}_*.jsonl")):
        if part in ("test", "all") or (path.stem in VALIDATION) == (part == "validation"):
            yield path


def rows(kind: str, part: str) -> list[Row]:
    """All rows of a kind."""
    return [row for path in files(kind, part) for row in read(path)]


def pools(part: str) -> list[tuple[list[Row], list[Row]]]:
    """The memories of each person or team, and the prompts that ask for them."""
    return [
        ([row for row in read(path) if "content" in row], [row for row in read(path) if "prompt" in row])
        for path in files("pools", part)
    ]


def dialogues(part: str) -> list[tuple[list[Row], list[Row]]]:
    """The sessions of one user or of two people over months, and the questions that are asked later."""
    return [
        ([row for row in read(path) if "messages" in row], [row for row in read(path) if "question" in row])
        for kind in ("months", "chats")
        for path in files(kind, part)
    ]
