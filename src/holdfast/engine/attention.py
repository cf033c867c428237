"""What in a space needs a look: work that failed or rests, meaning still to come, a cap that is reached.

Cheap enough to be asked with every page; what takes a look at the database itself is doctor's.
"""

from datetime import timedelta

from holdfast.domain.background import JobTally
from holdfast.domain.health import HealthFinding, unread
from holdfast.engine import meter
from holdfast.engine.models_in_use import EmbeddingProgress, embedding_progress
from holdfast.engine.reading_queue import KIND as READING
from holdfast.engine.reading_queue import reading_state
from holdfast.engine.space_context import SpaceContext

#: Work that is due for longer is not being done.
LATE = timedelta(hours=1)
#: Texts without a vector that the next question makes by the way.
_FEW = 200


def attention(*, ctx: SpaceContext) -> list[HealthFinding]:
    """Problems first, then notes; nothing, when all is well."""
    now = ctx.now()
    with ctx.store.read(ctx.space) as tx:
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
