"""audit: lists what may be junk in a space, with ids and advice; changes nothing.

`attention` lists failed, late and paused work; it is cheap enough for every page of the dashboard.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from holdfast.domain.health import HealthFinding, unread
from holdfast.domain.jobs import JobTally
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.secrets import redact
from holdfast.engine import meter
from holdfast.engine.consolidate import duplicates
from holdfast.engine.models_in_use import EmbeddingProgress, embedding_progress
from holdfast.engine.ports import Transaction
from holdfast.engine.reading_queue import READING, reading_state
from holdfast.engine.space_context import SpaceContext
from holdfast.language.relative_dates import undated

Kind = Literal["duplicates", "undated", "secrets", "contradictions", "never_used", "other_model"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Younger memories had no chance yet to be used.
NEVER_USED_AFTER = timedelta(days=30)
#: Jobs that are due for longer are reported as late.
LATE = timedelta(hours=1)
#: So few missing vectors are not reported: the next query makes them.
_FEW = 200

_SAYS: dict[Kind, tuple[str, str]] = {
    "duplicates": (
        "with the same meaning as another memory",
        "upkeep proposes each pair once: decide in the inbox, or delete one of the two",
    ),
    "undated": (
        'with "yesterday", "currently" or similar words, but no date',
        "revise them with the actual date; their history shows when they were recorded",
    ),
    "secrets": (
        "with what looks like a password or key, now or in an earlier version",
        "rotate the secret, then erase the memory",
    ),
    "contradictions": (
        "in conflict with another active memory",
        "delete or revise the wrong one; after two weeks upkeep proposes to keep the newer one",
    ),
    "never_used": (
        "not recalled or put into a prompt in the last 30 days",
        "pin what must stay, delete the rest; unused_days in the profile archives them automatically",
    ),
    "other_model": (
        "with stored vectors, other than the configured embedder",
        "upkeep re-embeds; old vectors are removed when the new ones are complete",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of junk."""

    kind: Kind
    ids: tuple[str, ...]  # of memories; of models for `other_model`
    pairs: tuple[tuple[str, str], ...] = ()  # for duplicates and contradictions
    says: str
    advice: str

    @property
    def count(self) -> int:
        """The number of pairs for duplicates and contradictions, else of memories or models."""
        return len(self.pairs) or len(self.ids)


@dataclass(frozen=True, slots=True)
class Audit:
    """How much was checked, and the findings of each kind, empty ones included."""

    memories: int
    findings: tuple[Finding, ...]

    @property
    def clean(self) -> bool:
        return not any(finding.count for finding in self.findings)


def audit(*, ctx: SpaceContext, seen: Callable[[int, int], None] = lambda done, total: None) -> Audit:
    """Checks the active memories of a space; `seen` is called with the progress."""
    now = ctx.now()
    with ctx.read() as tx:
        active = tx.memories.find(Filter(), order="created")
        contradictions = _contradictions(tx)
        found: dict[Kind, Iterable[str]] = {
            "undated": [memory.id for memory in active if undated(memory.content)],
            "secrets": _secrets(active, tx),
            "never_used": _never_used(active, tx, now),
            "other_model": _other_models(tx, ctx),
        }
    same = tuple(duplicates(ctx, lambda done: seen(done, len(active))))
    paired = {"duplicates": same, "contradictions": contradictions}
    findings = []
    for kind in KINDS:
        pairs = paired.get(kind, ())
        ids = dict.fromkeys(one for pair in pairs for one in pair) if kind in paired else found[kind]
        says, advice = _SAYS[kind]
        findings.append(Finding(kind=kind, ids=tuple(ids), pairs=pairs, says=says, advice=advice))
    return Audit(len(active), tuple(findings))


def _contradictions(tx: Transaction) -> tuple[tuple[str, str], ...]:
    pairs: dict[tuple[str, str], None] = {}
    for link in tx.links.of_kind("contradicts"):
        both = tx.memories.many([link.from_id, link.to_id])
        if len(both) == 2 and all(memory.active for memory in both):
            pairs[link.from_id, link.to_id] = None
    return tuple(pairs)


def _secrets(active: Iterable[Memory], tx: Transaction) -> list[str]:
    """Memories with a secret in any of their texts, earlier versions included."""
    holding: dict[str, None] = {}
    here = set()
    for memory in active:
        here.add(memory.id)
        labels = (memory.subject or "", memory.summary or "", *memory.tags)
        if any(redact(text).found for text in (memory.content, *labels) if text):
            holding[memory.id] = None
    for row in tx.dump.rows("versions"):
        owner = str(row["memory_id"])
        if owner in here and owner not in holding and redact(str(row["content"])).found:
            holding[owner] = None
    return list(holding)


def _never_used(active: Iterable[Memory], tx: Transaction, now: datetime) -> list[str]:
    return [
        memory.id
        for memory in active
        if memory.accesses == 0
        and not memory.pinned
        and now - memory.last_used() >= NEVER_USED_AFTER
        and not tx.receipts.uses(memory.id)
    ]


def _other_models(tx: Transaction, ctx: SpaceContext) -> list[str]:
    if ctx.embedder is None:
        return []
    return [model.name for model in tx.models.all() if model.name != ctx.embedder.name]


def attention(*, ctx: SpaceContext) -> list[HealthFinding]:
    """Problems first, then notes; empty if all is well."""
    now = ctx.now()
    with ctx.read() as tx:
        reading = reading_state(tx)
        tallies = tx.jobs.tallies()
        vectors = embedding_progress(ctx.embedder.name if ctx.embedder else None, tx)
    found = unread(ctx.space, reading.failed, reading.error, reading.put_off)
    found += [_failed(one) for one in tallies if one.state == "failed" and one.kind != READING]
    late = [one for one in tallies if one.state == "queued" and now - one.oldest_due_at > LATE]
    if late and reading.put_off is None:
        found.append(_late(late))
    stopped = meter.spend(ctx=ctx, days=1).stopped
    if stopped and reading.put_off is None:
        found.append(
            HealthFinding(
                "note",
                f"models are paused until tomorrow: {stopped}",
                "raise HOLDFAST_DAILY_CAP to resume now",
            )
        )
    found += _unfinished(vectors)
    return sorted(found, key=lambda one: one.level != "problem")


def _failed(tally: JobTally) -> HealthFinding:
    jobs = "job" if tally.count == 1 else "jobs"
    says = f"{tally.count:,} {jobs} of kind {tally.kind!r} failed"
    return HealthFinding("problem", says, "upkeep retries them; the checkup on the settings page has details")


def _late(late: list[JobTally]) -> HealthFinding:
    amount = sum(one.count for one in late)
    jobs = "job has" if amount == 1 else "jobs have"
    return HealthFinding(
        "note", f"{amount:,} {jobs} been waiting for more than an hour", "the service runs them when it can"
    )


def _unfinished(vectors: EmbeddingProgress) -> list[HealthFinding]:
    if vectors.complete or vectors.total - vectors.done < _FEW:
        return []
    says = f"{vectors.done:,} of {vectors.total:,} texts are indexed for semantic search"
    return [HealthFinding("note", says, "the rest is indexed in the background")]
