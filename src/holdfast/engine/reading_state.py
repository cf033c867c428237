"""How reading with a model stands in a space: what waits, what was given up and why, what was spent."""

from dataclasses import dataclass

from holdfast.domain.spend import Spent
from holdfast.engine.ports import Transaction
from holdfast.engine.reading_queue import KIND


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingState:
    """Figures of one space."""

    space: str
    waiting: int  # pieces that a model is still to read
    failed: int  # pieces that were given up
    error: str | None  # of the last of them
    put_off: str | None  # why pieces wait for another day
    spent: Spent  # since ever


def reading_state(tx: Transaction) -> ReadingState:
    """How it stands now."""
    pieces = tx.jobs.of_kind(KIND)
    failed = sorted((job for job in pieces if job.state == "failed"), key=lambda job: (job.due_at, job.id))
    capped = [job.error for job in pieces if job.state == "queued" and job.error and not job.attempts]
    return ReadingState(
        space=tx.space.name,
        waiting=len(pieces) - len(failed),
        failed=len(failed),
        error=failed[-1].error if failed else None,
        put_off=capped[0] if capped else None,
        spent=tx.spend.total(),
    )
