"""Measures how well a judge tells same, contradicting and distinct memories apart.

Knows labelled pairs and figures; how a judge comes to its verdict is the judge's affair.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, get_args

from holdfast.language.comparison import Relation, Statement, Verdict

#: The rows that nobody trained on.
TEST = Path(__file__).parent.parent / "training" / "data" / "test"
RELATIONS: tuple[Relation, ...] = get_args(Relation)
_TEXTS = ("id", "domain", "existing", "new", "relation")


class Judge(Protocol):
    """Anything that compares pairs of statements."""

    def compare(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        """The relation of each draft (second) to what is known (first)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two statements with the relation that a reader gave them."""

    id: str
    domain: str
    known: Statement
    draft: Statement
    relation: Relation
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A pair that the judge took for something else."""

    pair: Pair
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationsReport:
    """How a judge did on labelled pairs; all shares lie between 0 and 1."""

    pairs: int
    accuracy: float
    false_merges: float  # of the pairs that are not the same, those judged the same
    false_contradictions: float  # of the pairs that do not contradict, those judged to
    confusion: dict[str, dict[str, int]]  # labelled relation, then judged relation
    by_domain: dict[str, float]
    mistakes: tuple[Mistake, ...]

    def as_json(self) -> dict[str, object]:
        """The figures without the mistakes, ready for a result file."""
        return {
            "bench": "relations",
            "metrics": {
                "accuracy": self.accuracy,
                "false_merges": self.false_merges,
                "false_contradictions": self.false_contradictions,
            },
            "confusion": self.confusion,
            "pairs": self.pairs,
            "by_domain": self.by_domain,
        }


def load(path: Path | None = None) -> list[Pair]:
    """The labelled pairs of a file, by default of the test part: pairs, or clusters that pairs follow from.

    Raises:
        ValueError: a line is no JSON object, lacks a field or names an unknown relation.
    """
    sources = [path] if path is not None else sorted(TEST.glob("clusters_*.jsonl"))
    return [
        pair
        for source in sources
        for number, row in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1)
        if row.strip()
        for pair in _pairs(row, number)
    ]


def measure(judge: Judge, pairs: Sequence[Pair]) -> RelationsReport:
    """The figures of one judge on labelled pairs."""
    verdicts = judge.compare([(pair.known, pair.draft) for pair in pairs])
    return _report(zip(pairs, verdicts, strict=True))


def _report(judged: Iterable[tuple[Pair, Verdict]]) -> RelationsReport:
    results = list(judged)
    counts = Counter((pair.relation, verdict.relation) for pair, verdict in results)
    right = Counter(pair.domain for pair, verdict in results if pair.relation == verdict.relation)
    domains = Counter(pair.domain for pair, _ in results)
    return RelationsReport(
        pairs=len(results),
        accuracy=_share(sum(right.values()), len(results)),
        false_merges=_wrongly(counts, "same"),
        false_contradictions=_wrongly(counts, "contradicts"),
        confusion={label: {found: counts[label, found] for found in RELATIONS} for label in RELATIONS},
        by_domain={domain: _share(right[domain], total) for domain, total in sorted(domains.items())},
        mistakes=tuple(
            Mistake(pair=pair, verdict=verdict)
            for pair, verdict in results
            if pair.relation != verdict.relation
        ),
    )


def _wrongly(counts: Counter[tuple[Relation, Relation]], relation: Relation) -> float:
    others = {key: count for key, count in counts.items() if key[0] != relation}
    return _share(sum(count for key, count in others.items() if key[1] == relation), sum(others.values()))


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _pairs(row: str, number: int) -> list[Pair]:
    try:
        fields = json.loads(row)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}: not JSON ({error.msg})") from error
    if not isinstance(fields, dict):
        raise ValueError(f"line {number}: an object is needed, not {type(fields).__name__}")
    return _of_cluster(fields, number) if "memory" in fields else [_pair(fields, number)]


def _of_cluster(fields: dict[str, Any], number: int) -> list[Pair]:
    """A memory with each of the texts about it."""
    return [
        Pair(
            id=f"{number}-{relation}-{place}",
            domain=str(fields.get("domain", "")),
            known=Statement(text=fields["memory"]),
            draft=Statement(text=text),
            relation=relation,
            why="",
        )
        for relation in RELATIONS
        for place, text in enumerate(fields.get(relation, ()))
    ]


def _pair(fields: dict[str, Any], number: int) -> Pair:
    missing = [name for name in _TEXTS if not isinstance(fields.get(name), str)]
    if missing:
        raise ValueError(f"line {number}: missing or not a text: {', '.join(missing)}")
    if fields["relation"] not in RELATIONS:
        allowed = ", ".join(RELATIONS)
        raise ValueError(f"line {number}: relation {fields['relation']!r} is none of {allowed}")
    labels = {"subject": fields.get("subject"), "category": fields.get("category")}
    return Pair(
        id=fields["id"],
        domain=fields["domain"],
        known=Statement(text=fields["existing"], **labels),
        draft=Statement(text=fields["new"], **labels),
        relation=fields["relation"],
        why=str(fields.get("why", "")),
    )
