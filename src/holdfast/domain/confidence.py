"""The confidence of a memory: reinforcement, contradiction and decay."""

from dataclasses import replace
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory, State
from holdfast.domain.profile import Policy

#: What decay counts from, and what it has counted.
COUNTED = ("confirmed_at", "decayed_weeks")
WEEK = timedelta(days=7)
LONGEST_PAUSE = timedelta(days=180)  # between two changes; after a longer one the clock may be wrong
SETTLED = timedelta(days=7)  # only changes at least this old are used to check the clock


def believed(memory: Memory, confidence: float, policy: Policy) -> Memory:
    """The memory with a new confidence; below the policy's floor it becomes inactive."""
    # Rounded, because 0.7 + 0.1 must equal 0.8 after a trip through the database.
    confidence = round(min(max(confidence, 0.0), 1.0), 4)
    state: State = memory.state
    if state in ("active", "inactive"):
        state = "active" if confidence >= policy.floor else "inactive"
    return replace(memory, confidence=confidence, state=state)


def reinforced(memory: Memory, policy: Policy, now: datetime) -> Memory:
    """The memory after another source repeated it."""
    return believed(memory, memory.confidence + policy.reinforce_by, policy).confirmed(now)


def weakened(memory: Memory, policy: Policy) -> Memory:
    """The memory after a contradiction. This is no confirmation, so decay continues."""
    return believed(memory, memory.confidence - policy.weaken_by, policy)


def decayed(memory: Memory, policy: Policy, now: datetime) -> Memory:
    """The memory after decay for the full weeks without confirmation, after the grace period.

    Idempotent, and one late run equals many weekly ones: it counts from `confirmed_at`, stores the weeks that
    were already applied, and stops at the step that makes the memory inactive, as weekly runs would. A clock
    that was set back has no effect.
    """
    if next_step_at(memory, policy) is None:
        return memory
    idle = memory.unconfirmed_for(now) - timedelta(days=policy.decay_after_days)
    due = idle // WEEK
    for week in range(memory.decayed_weeks + 1, due + 1):
        memory = replace(believed(memory, memory.confidence - policy.decay_by, policy), decayed_weeks=week)
        if not memory.active:
            break
    return memory


def next_step_at(memory: Memory, policy: Policy) -> datetime | None:
    """When the next weekly decay is due; None if the memory does not decay."""
    if not memory.active or policy.decay_by <= 0 or memory.pinned:
        return None
    return memory.confirmed_at + timedelta(days=policy.decay_after_days) + (memory.decayed_weeks + 1) * WEEK


def clock_doubt(settled: datetime | None, now: datetime) -> str | None:
    """Why nothing should decay; None if the clock looks right. `settled`: the newest change before this
    week.
    """
    if settled is None or now - settled <= LONGEST_PAUSE:
        return None
    return (
        f"the clock says {now:%Y-%m-%d}, but the last change before this week was on {settled:%Y-%m-%d}, "
        f"{(now - settled).days} days earlier: confidence decay is paused"
    )
