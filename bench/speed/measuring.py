"""Measures the product at one size: each verb through the engine, beside the least that it could cost.

Works on a space that is filled already and gives plain figures: milliseconds as medians, ratios taken side by
side, megabytes. What embedding takes is left out everywhere but in `bulk`.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.speed.bare import BareTable, looped, matrix
from bench.speed.corpus import Corpus, GeneratedEmbedder
from bench.speed.cost import Cost, Patience, cost_of, middle
from bench.speed.filling import draft_of, memory_id
from holdfast.domain.query import Filter, Query
from holdfast.engine.brief import brief
from holdfast.engine.embedding import embed_missing
from holdfast.engine.imports import import_drafts
from holdfast.engine.memory_search import CANDIDATES
from holdfast.engine.recall import recall
from holdfast.engine.remember import remember
from holdfast.engine.space_context import SpaceContext

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROUNDS = 40
SECONDS = 20.0  # for one figure; slow ones get by with fewer rounds
HITS = 5

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Filled:
    """A space with `size` memories of the corpus."""

    ctx: SpaceContext
    corpus: Corpus
    embedder: GeneratedEmbedder
    size: int
    fresh: Iterator[int]  # numbers of memories that nobody has yet

    @classmethod
    def of(cls, ctx: SpaceContext, corpus: Corpus, embedder: GeneratedEmbedder, size: int) -> "Filled":
        with ctx.store.read(ctx.space) as tx:
            held = tx.memories.count(Filter())
        return cls(replace(ctx, embedder=embedder), corpus, embedder, size, count(2 * held))

    def question(self, number: int) -> str:
        # A prime step: neighbours in number lie side by side in the file.
        return self.corpus.question(number * 7_919 % self.size)


def reading(filled: Filled) -> Figures:
    """Recall as it stands: the first one after a start, then many, with and without a filter."""
    first = _recall(filled, 0)
    plain = [_recall(filled, number) for number in Patience(ROUNDS, SECONDS).rounds()]
    category = Filter(category=filled.corpus.categories[0])
    narrow = [_recall(filled, number, category) for number in Patience(ROUNDS, SECONDS).rounds()]
    return {
        "recall.first_ms": first.wall,
        **_as_figures("recall", middle(plain)),
        **_as_figures("recall.filtered", middle(narrow)),
        "memory_mb": resident(),
    }


def vectors(filled: Filled) -> Figures:
    """The search by vectors alone, in turn with a bare product over the same vectors.

    Above some size the search is not exact: how many of the truly nearest it finds is told too.
    """
    rows = matrix(filled.corpus, filled.embedder, filled.size)
    ours, bare, by_blas, shares = [], [], [], []
    for number in Patience(ROUNDS, SECONDS).rounds():
        query = filled.embedder.query(filled.question(number))
        [asked] = filled.embedder.matrix([filled.question(number)])
        with filled.ctx.store.read(filled.ctx.space) as tx:
            search = partial(tx.memory_vectors.nearest, [query], filled.embedder.name, CANDIDATES)
            ours.append(cost_of(search))
            shares.append(_share_of_nearest(looped(rows, asked), search()))
        bare.append(cost_of(partial(looped, rows, asked)))
    # Not in turn with the others: its threads go on spinning for a while, at the cost of whoever comes next.
    for _ in Patience(ROUNDS, SECONDS / 2).rounds():
        by_blas.append(cost_of(partial(rows.dot, asked)))
    cheaper = min(middle(bare), middle(by_blas), key=lambda cost: cost.cpu)
    return {
        **_as_figures("vectors", middle(ours)),
        **_as_figures("numpy", cheaper),
        "vectors.ratio": middle(ours).cpu / cheaper.cpu,  # by the processor: nothing here waits for a disk
        "vectors.found": sum(shares) / len(shares),
    }


def _share_of_nearest(scores: "NDArray[np.float32]", found: Mapping[str, object]) -> float:
    """How many of the ten memories with the highest scores were found; the first one has an id of its own."""
    best = [number for number in (-scores).argsort()[:11].tolist() if number][:10]
    return sum(memory_id(number) in found for number in best) / len(best)


def writing(filled: Filled, folder: Path) -> Figures:
    """Remembering, in turn with a bare insert of the same row; then with the vector, and read at once."""
    plain = replace(filled.ctx, embedder=None)
    with filled.ctx.store.read(filled.ctx.space) as tx:
        row = next(tx.dump.rows("memories"))
    kept, bare, added, after = [], [], [], []
    with BareTable(folder / "bare.db", row) as table:
        for number in Patience(ROUNDS, SECONDS).rounds():
            kept.append(_remember(filled, plain))
            bare.append(cost_of(partial(table.insert, {**row, "id": f"bare{number}"})))
    for number in Patience(ROUNDS, SECONDS).rounds():
        stored = _remember(filled, plain)
        embedded = cost_of(lambda: embed_missing(filled.ctx, limit=HITS), filled.embedder.meter)
        added.append(Cost(stored.wall + embedded.wall, stored.cpu + embedded.cpu))
        after.append(_recall(filled, number))
    return {
        **_as_figures("remember", middle(kept)),
        **_as_figures("bare_insert", middle(bare)),
        "remember.ratio": _ratio([cost.wall for cost in kept], [cost.wall for cost in bare]),
        **_as_figures("remember.with_vector", middle(added)),
        **_as_figures("recall.after_a_write", middle(after)),
    }


def briefing(filled: Filled) -> Figures:
    costs = [cost_of(lambda: brief(ctx=filled.ctx)) for _ in Patience(ROUNDS, SECONDS / 2, least=1).rounds()]
    return _as_figures("brief", middle(costs))


def among_others(filled: Filled, before: Cost) -> Figures:
    """Recall again, now that there are other spaces in the file."""
    costs = [_recall(filled, number) for number in Patience(ROUNDS, SECONDS).rounds()]
    now = middle(costs)
    return {**_as_figures("recall.among_others", now), "recall.among_others.ratio": now.cpu / before.cpu}


def bulk(ctx: SpaceContext, corpus: Corpus, texts: int) -> Figures:
    """An import with its vectors, as a share of what the embedder alone takes for the same texts."""
    embedder = ctx.embedder
    if embedder is None:
        return {}
    embedder.documents(["a first text, so that the model is loaded"])
    drafts = [draft_of(fact) for fact in corpus.facts(0, texts)]
    alone = cost_of(lambda: embedder.documents([draft.content for draft in drafts]))
    stored = cost_of(lambda: import_drafts(enumerate(drafts, start=1), ctx=ctx))
    followed = cost_of(lambda: embed_missing(ctx, limit=2 * texts))
    return {
        "bulk.embedder_per_second": 1000 * texts / alone.wall,
        "bulk.stored_per_second": 1000 * texts / stored.wall,
        "bulk.share": alone.wall / (stored.wall + followed.wall),
    }


def over_http(
    remember: Callable[[str], object], recall: Callable[[str], object], corpus: Corpus, size: int
) -> Figures:
    """Both verbs as a program calls them that asks the service, in turn; nothing is left out."""
    stored, found = [], []
    for number in Patience(ROUNDS, SECONDS).rounds():
        stored.append(cost_of(partial(remember, corpus.fact(2 * size + number).content)).wall)
        found.append(cost_of(partial(recall, corpus.question(number * 7_919 % size))).wall)
    return {"http.remember.wall_ms": median(stored), "http.recall.wall_ms": median(found)}


def resident() -> float:
    """Megabytes that this process holds in memory now; on systems that don't tell, the most it ever held."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 / (1024 if sys.platform == "darwin" else 1)


def _recall(filled: Filled, number: int, where: Filter | None = None) -> Cost:
    question = filled.question(number)
    query = Query(text=question, where=where, limit=HITS)
    return cost_of(lambda: recall(query, ctx=filled.ctx), filled.embedder.meter)


def _remember(filled: Filled, ctx: SpaceContext) -> Cost:
    draft = draft_of(filled.corpus.fact(next(filled.fresh)))
    return cost_of(lambda: remember(draft, ctx=ctx))


def _as_figures(name: str, cost: Cost) -> Figures:
    return {f"{name}.wall_ms": cost.wall, f"{name}.cpu_ms": cost.cpu}


def _ratio(ours: list[float], least: list[float]) -> float:
    """How many times as long, by the median of pairs taken one after the other."""
    return median(one / other for one, other in zip(ours, least, strict=True))
