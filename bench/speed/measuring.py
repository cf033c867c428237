"""Measures the product at one size: each verb through the engine.

Works on a space that is filled already and gives plain figures: milliseconds as medians, ratios taken side by
side, megabytes. What embedding takes is left out everywhere but in `bulk`; what judging and reading take is
told apart.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, cast

from bench.speed.corpus import Corpus, GeneratedEmbedder
from bench.speed.cost import Cost, Metered, Patience, cost_of, middle
from bench.speed.filling import draft_of, memory_id
from bench.speed.floor import matrix, product
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

    from holdfast.engine.ports import BuiltinModel, Judge

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
    judge: Metered
    reader: Metered
    size: int
    fresh: Iterator[int]  # numbers of memories that nobody has yet
    unasked: Iterator[int]  # of questions that the reader has not answered yet

    @classmethod
    def of(cls, ctx: SpaceContext, corpus: Corpus, embedder: GeneratedEmbedder, size: int) -> "Filled":
        with ctx.store.read(ctx.space) as tx:
            held = tx.memories.count(Filter())
        judge, reader = Metered(ctx.judge), Metered(ctx.builtin_model)
        metered = replace(
            ctx, embedder=embedder, judge=cast("Judge", judge), builtin_model=cast("BuiltinModel", reader)
        )
        return cls(metered, corpus, embedder, judge, reader, size, count(2 * held), count())

    def question(self, number: int) -> str:
        # A prime step: neighbours in number lie side by side in the file.
        return self.corpus.question(number * 7_919 % self.size)


def reading(filled: Filled) -> Figures:
    """Recall as it stands: the first one after a start, then many, with and without a filter."""
    [(first, _)] = _recalls(filled, 1)
    both = _recalls(filled, ROUNDS)
    narrow = _recalls(filled, ROUNDS, Filter(category=filled.corpus.categories[0]))
    return {
        "recall.first_ms": first.wall,
        **as_figures("recall", middle([whole for whole, _ in both])),
        **as_figures("recall.without_reader", middle([alone for _, alone in both])),
        **as_figures("recall.filtered", middle([alone for _, alone in narrow])),
        "memory_mb": resident(),
    }


def vectors(filled: Filled) -> Figures:
    """The search by vectors alone, in turn with a bare product over the same vectors.

    Above some size the search is not exact: how many of the truly nearest it finds is told too.
    """
    rows = matrix(filled.corpus, filled.embedder, filled.size)
    ours, bare, shares = [], [], []
    for number in Patience(ROUNDS, SECONDS).rounds():
        query = filled.embedder.query(filled.question(number))
        [asked] = filled.embedder.matrix([filled.question(number)])
        with filled.ctx.store.read(filled.ctx.space) as tx:
            search = partial(tx.memory_vectors.nearest, [query], filled.embedder.name, CANDIDATES)
            ours.append(cost_of(search))
            shares.append(_share_of_nearest(product(rows, asked), search()))
        bare.append(cost_of(partial(product, rows, asked)))
    return {
        **as_figures("vectors", middle(ours)),
        **as_figures("numpy", middle(bare)),
        "vectors.ratio": middle(ours).cpu / middle(bare).cpu,  # nothing here waits for a disk
        "vectors.found": sum(shares) / len(shares),
    }


def _share_of_nearest(scores: "NDArray[np.float32]", found: Mapping[str, object]) -> float:
    """How many of the ten memories with the highest scores were found; the first one has an id of its own."""
    best = [number for number in (-scores).argsort()[:11].tolist() if number][:10]
    return sum(memory_id(number) in found for number in best) / len(best)


def writing(filled: Filled) -> Figures:
    """Remembering, then with the vector, then a recall at once, without the reader."""
    _remember(filled)  # loads the judge
    kept, judged, added, after = [], [], [], []
    for _ in Patience(ROUNDS, 2 * SECONDS).rounds():
        before = filled.judge.meter.spent
        kept.append(_remember(filled))
        judged.append(filled.judge.meter.spent - before)
        embedded = cost_of(lambda: embed_missing(filled.ctx, limit=HITS), filled.embedder.meter)
        added.append(Cost(kept[-1].wall + embedded.wall, kept[-1].cpu + embedded.cpu))
        after += [alone for _, alone in _recalls(filled, 1)]
    return {
        **as_figures("remember", middle(kept)),
        **as_figures("remember.with_vector", middle(added)),
        "judging.cpu_ms": sum(cost.cpu for cost in judged) / len(judged),
        "judging.longest.cpu_ms": max(cost.cpu for cost in judged),
        **as_figures("recall.after_a_write", middle(after)),
    }


def briefing(filled: Filled) -> Figures:
    costs = [cost_of(lambda: brief(ctx=filled.ctx)) for _ in Patience(ROUNDS, SECONDS / 2, least=1).rounds()]
    return as_figures("brief", middle(costs))


def among_others(filled: Filled, before: Cost) -> Figures:
    """Recall without the reader again, now that there are other spaces in the file."""
    now = middle([alone for _, alone in _recalls(filled, ROUNDS)])
    return {**as_figures("recall.among_others", now), "recall.among_others.ratio": now.cpu / before.cpu}


def bulk(ctx: SpaceContext, corpus: Corpus, texts: int) -> Figures:
    """An import with its vectors, and which share of its CPU time the embedder alone takes."""
    embedder = ctx.embedder
    if embedder is None:
        return {}
    embedder.documents(["a first text, so that the model is loaded"])
    drafts = [draft_of(fact) for fact in corpus.facts(0, texts)]
    judge = Metered(ctx.judge)
    ctx = replace(ctx, judge=cast("Judge", judge))
    alone = cost_of(lambda: embedder.documents([draft.content for draft in drafts]))
    stored = cost_of(lambda: list(import_drafts(enumerate(drafts, start=1), ctx=ctx)))
    followed = cost_of(lambda: embed_missing(ctx, limit=2 * texts))
    whole = stored.cpu + followed.cpu
    return {
        "bulk.embedder_per_second": 1000 * texts / alone.wall,
        "bulk.stored_per_second": 1000 * texts / stored.wall,
        "bulk.share": alone.cpu / whole,
        "bulk.share_unjudged": alone.cpu / (whole - judge.meter.spent.cpu),
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


def _recalls(filled: Filled, times: int, where: Filter | None = None) -> list[tuple[Cost, Cost]]:
    """What recalls cost without embedding, and without the reader too."""
    costs = []
    for _ in Patience(times, SECONDS).rounds():
        query = Query(text=filled.question(next(filled.unasked)), where=where, limit=HITS)
        before = filled.reader.meter.spent
        whole = cost_of(lambda: recall(query, ctx=filled.ctx), filled.embedder.meter)  # noqa: B023
        costs.append((whole, whole - (filled.reader.meter.spent - before)))
    return costs


def _remember(filled: Filled) -> Cost:
    """Without embedding and judging."""
    draft = draft_of(filled.corpus.fact(next(filled.fresh)))
    return cost_of(lambda: remember(draft, ctx=filled.ctx), filled.embedder.meter, filled.judge.meter)


def as_figures(name: str, cost: Cost) -> Figures:
    return {f"{name}.wall_ms": cost.wall, f"{name}.cpu_ms": cost.cpu}
