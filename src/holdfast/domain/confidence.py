"""How far a memory is believed: reinforcement, contradiction and decay as arithmetic.

Pure functions of a memory, a policy and a moment; who calls them, and when, is the engine's business. A clock
that is far ahead would take everybody's belief: `clock_doubt` tells.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory, State
from holdfast.domain.profile import Policy

WEEK = timedelta(days=7)


LONGEST_PAUSE = timedelta(days=180)  # between two changes that raises no doubt
SETTLED = timedelta(days=7)  # what was written under the clock of today alone proves nothing


def believed(memory: Memory, confidence: float, policy: Policy) -> Memory:
    """The same memory, held with another confidence; too little of it makes it inactive."""
    # Rounded, because 0.7 + 0.1 must equal 0.8 after a trip through the database.
    confidence = round(min(max(confidence, 0.0), 1.0), 4)
    state: State = memory.state
    if state in ("active", "inactive"):
        state = "active" if confidence >= policy.floor else "inactive"
    return replace(memory, confidence=confidence, state=state)


def reinforced(memory: Memory, policy: Policy, now: datetime) -> Memory:
    """The same memory after somebody else said it again."""
    return believed(memory, memory.confidence + policy.reinforce_by, policy).confirmed(now)


def weakened(memory: Memory, policy: Policy) -> Memory:
    """The same memory after something contradicted it. That is no confirmation: decay goes on."""
    return believed(memory, memory.confidence - policy.weaken_by, policy)


def decayed(memory: Memory, policy: Policy, now: datetime) -> Memory:
    """The same memory after the full weeks that passed unconfirmed, grace excluded.

    Running it twice changes nothing, and one late run equals many weekly ones: it counts from
    `confirmed_at`, remembers the weeks already taken, and stops where weekly runs would have
    stopped, at the first step that makes the memory inactive. A clock set back takes nothing.
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
    """When decay takes the next week off; none for what does not fade."""
    if not memory.active or policy.decay_by <= 0 or memory.pinned:
        return None
    return memory.confirmed_at + timedelta(days=policy.decay_after_days) + (memory.decayed_weeks + 1) * WEEK


def clock_doubt(settled: datetime | None, now: datetime) -> str | None:
    """Why nothing should fade now; none when nothing speaks against the clock.

    `settled` is the time of the newest change that is a week old or older.
    """
    if settled is None or now - settled <= LONGEST_PAUSE:
        return None
    return (
        f"the clock says {now:%Y-%m-%d}, but the last change before this week was on {settled:%Y-%m-%d}, "
        f"{(now - settled).days} days earlier: confidence decay is paused"
    )
