"""How much there is and how much waits, over all spaces: counts, ages and sums, never a text or a name.

Names of spaces may be private, and there may be many: the figures are sums.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.domain.memory import STATES, State
from holdfast.domain.query import Filter
from holdfast.domain.spend import Spent, total
from holdfast.engine.embedding_progress import embedding_progress
from holdfast.engine.ports import JobState, Store
from holdfast.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All spaces of one database, added up."""

    spaces: int
    memories: Mapping[State, int]
    sessions: int
    messages: int
    jobs: Mapping[tuple[str, JobState], int]  # by kind and state, done ones left out
    longest_wait: Mapping[str, timedelta]  # by kind: since when the oldest job that is due has been so
    not_embedded: int  # changes of memories, and messages, that have no vector yet
    spend: Mapping[str, Spent]  # by model


def figures(*, store: Store, now: datetime, embedder: str | None) -> Figures:
    """Raises: Unavailable."""
    memories: Counter[State] = Counter(dict.fromkeys(STATES, 0))
    jobs: Counter[tuple[str, JobState]] = Counter()
    waits: dict[str, timedelta] = {}
    spend: dict[str, Spent] = {}
    counted: Counter[str] = Counter()
    for space in store.spaces():
        try:
            with store.read(space.name) as tx:
                counted.update(spaces=1, sessions=tx.sessions.count(), messages=tx.sessions.message_count())
                memories.update({state: tx.memories.count(Filter(states=(state,))) for state in STATES})
                for tally in tx.jobs.tallies():
                    jobs[tally.kind, tally.state] += tally.count
                    wait = max(now - tally.oldest_due_at, timedelta())
                    if tally.state == "queued":
                        waits[tally.kind] = max(wait, waits.get(tally.kind, timedelta()))
                for model, spent in tx.spend.grouped("model"):
                    spend[str(model)] = total([spend.get(str(model), Spent()), spent])
                progress = embedding_progress(embedder, tx)
        except NotFound:  # deleted since it was listed
            continue
        if embedder is not None:
            counted["not_embedded"] += max(progress.total - progress.done, 0)
    return Figures(
        spaces=counted["spaces"],
        memories=memories,
        sessions=counted["sessions"],
        messages=counted["messages"],
        jobs=jobs,
        longest_wait=waits,
        not_embedded=counted["not_embedded"],
        spend=spend,
    )
