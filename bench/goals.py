"""What is wanted of each figure: one list for every benchmark that holds its figures against goals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from holdfast.cli.tables import Table, TableColumn

PEERS = ("floor", "chromadb", "mem0", "langgraph")
_SIZES = {1_000: "1k", 10_000: "10k", 100_000: "100k", 1_000_000: "1M"}


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure of a benchmark, what it is called, and the most or the least that it may be."""

    bench: str
    figure: str  # where it stands in the JSON of the benchmark
    says: str
    at_most: float | None = None
    at_least: float | None = None

    def row(self, figures: Mapping[str, float]) -> dict[str, Any]:
        """The figure, held against its goal; of a cost, also the wall time and what peers take."""
        value = figures.get(self.figure)
        row: dict[str, Any] = {"bench": self.bench, "figure": self.figure, "goal": self.says, "value": value}
        if self.at_most is not None:
            row |= {"at_most": self.at_most, "reached": value is not None and value <= self.at_most}
        if self.at_least is not None:
            row |= {"at_least": self.at_least, "reached": value is not None and value >= self.at_least}
        wall = self.figure.replace("cpu_ms", "wall_ms")
        if wall == self.figure or wall not in figures:
            return row
        beside = {
            peer: {"cpu_ms": figures[f"{peer}.{self.figure}"], "wall_ms": figures[f"{peer}.{wall}"]}
            for peer in PEERS
            if f"{peer}.{self.figure}" in figures
        }
        return row | {"wall_ms": figures[wall]} | ({"beside": beside} if beside else {})


def _speed(figure: str, says: str, by_size: Mapping[int, float | None]) -> Iterator[Goal]:
    for size, most in by_size.items():
        yield Goal("speed", f"{figure}@{size}", f"{says}, {_SIZES[size]}", at_most=most)


_EACH: dict[int, float | None] = dict.fromkeys(_SIZES)
_OTHERS: dict[int, float | None] = dict.fromkeys(_SIZES, 1.1)
_PRODUCT: dict[int, float | None] = {1_000: None, 10_000: 2, 100_000: 0.3, 1_000_000: 0.3}
GOALS: tuple[Goal, ...] = (
    Goal("relations", "accuracy", "pairs judged right", at_least=0.88),
    Goal("relations", "false_merges", "false merges", at_most=0.01),
    Goal("gate", "accuracy", "conversations rightly kept or not", at_least=0.94),
    Goal("gate", "captured", "facts captured", at_least=0.88),
    Goal("queries", "hit@1", "queries, hit@1", at_least=0.70),
    Goal("queries", "hit@5", "queries, hit@5", at_least=0.92),
    Goal("queries", "silence.empty", "queries without an answer, silent", at_least=0.90),
    Goal("months", "turn.R@10", "own messages over months, R@10", at_least=0.73),
    Goal("locomo", "turn.R@5", "LoCoMo turns, R@5", at_least=0.78),
    Goal("locomo", "turn.R@10", "LoCoMo turns, R@10", at_least=0.86),
    Goal("locomo", "session.hit@5", "LoCoMo sessions, hit@5", at_least=0.97),
    Goal("locomo", "session.all@5", "LoCoMo sessions, all@5", at_least=0.88),
    Goal("longmemeval", "session.hit@5", "LongMemEval, hit@5", at_least=0.985),
    Goal("longmemeval", "session.all@5", "LongMemEval, all@5", at_least=0.93),
    Goal("week", "lines_that_help", "lines shown at prompts that help", at_least=0.8),
    Goal("week", "rightly_silent", "prompts rightly left alone", at_least=0.95),
    *_speed(
        "remember.cpu_ms",
        "remember without embedding and judging",
        {1_000: 5, 10_000: 6, 100_000: None, 1_000_000: None},
    ),
    *_speed("remember.with_vector.cpu_ms", "the same and storing its vector", _EACH),
    *_speed("judging.cpu_ms", "judging a draft, mean", dict.fromkeys(_SIZES, 15)),
    *_speed("judging.longest.cpu_ms", "judging a draft, longest", dict.fromkeys(_SIZES, 60)),
    Goal("speed", "bulk.share", "bulk import, share of the embedder's throughput"),
    Goal("speed", "bulk.share_unjudged", "the same without judging", at_least=0.8),
    *_speed("recall.cpu_ms", "recall without embedding", {1_000: 4, 10_000: 6, 100_000: 15, 1_000_000: 80}),
    *_speed("recall.without_reader.cpu_ms", "the same without the reader", _EACH),
    *_speed("recall.filtered.cpu_ms", "recall in one category without the reader", _EACH),
    *_speed("recall.among_others.ratio", "recall among other spaces against alone", _OTHERS),
    Goal("speed", "growth", "recall at 1M against 10k", at_most=20),
    *_speed("vectors.ratio", "vectors against a bare product", _PRODUCT),
    *_speed("brief.cpu_ms", "brief", dict.fromkeys(_SIZES, 10)),
    *_speed("memory_mb", "memory, MB", {1_000: 150, 10_000: 150, 100_000: 155, 1_000_000: 241}),
    *(
        Goal("hooks", f"{size}.quiet.{event}.{figure}", f"hook at {says}, {size:,}, {unit}", at_most=60)
        for size in (500, 5_000, 50_000)
        for event, says in (("SessionStart", "session start"), ("UserPromptSubmit", "a prompt"))
        for figure, unit in (("cpu_ms", "CPU ms over bare"), ("p50_ms", "wall ms over bare"))
    ),
    *(
        Goal("cli", f"here.{name}", f"holdfast {name} alone, CPU ms over bare", at_most=most)
        for name, most in {"list": 150, "remember": 750, "recall": 800, "brief": 150}.items()
    ),
    *(
        Goal("cli", f"served.{name}", f"holdfast {name} with a service, CPU ms over bare", at_most=60)
        for name in ("list", "remember", "recall", "brief")
    ),
    *(
        Goal("dashboard", f"pages.{page}.cpu_ms", f"page {page}, CPU ms", at_most=150)
        for page in ("Overview", "Stats", "Inbox", "Memories, by recency", "Search")
    ),
)  # fmt: skip


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of figures beside their goals, and beside what peers take for the same."""
    peers = list(dict.fromkeys(name for row in rows for name in row.get("beside", {})))
    titles = ("figure", "goal", "reached", "wall ms", *peers)
    table = Table(
        [TableColumn(title="what"), *(TableColumn(title=title, justify="right") for title in titles)]
    )
    for row in rows:
        reached = {True: "yes", False: "no", None: ""}[row.get("reached")]
        value = "not measured" if row["value"] is None else f"{row['value']:g}"
        wall = f"{row['wall_ms']:g}" if "wall_ms" in row else ""
        others = [_cell(row.get("beside", {}).get(peer)) for peer in peers]
        table.rows.append([row["goal"], value, _wanted(row), reached, wall, *others])
    return table


def say_missing(peers: Mapping[str, str]) -> None:
    """Names the peers that could not be measured."""
    for name, why in peers.items():
        click.echo(f"without {name}: {why} (python -m pip install --group peers)")


def _wanted(row: Mapping[str, Any]) -> str:
    if "at_most" in row:
        return f"<= {row['at_most']:g}"
    return f">= {row['at_least']:g}" if "at_least" in row else ""


def _cell(cost: Mapping[str, float] | None) -> str:
    return f"{cost['cpu_ms']:g} / {cost['wall_ms']:g}" if cost else ""


def rows(bench: str, figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of a benchmark that are held against goals, in the order of the list."""
    found = flat({**figures, **figures.get("metrics", {})})
    return [goal.row(found) for goal in GOALS if goal.bench == bench and goal.figure in found]


def flat(figures: Mapping[str, Any], before: str = "") -> dict[str, float]:
    """The numbers in nested figures, each under the path to it."""
    found: dict[str, float] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{before}{name}.")
        elif isinstance(value, int | float):
            found[f"{before}{name}"] = value
    return found


def rounded(value: float) -> float:
    """Three figures that mean something."""
    return float(f"{value:.3g}") if abs(value) < 1000 else round(value)
