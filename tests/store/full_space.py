"""A space with a row in every table that has an export, from all verbs; the same ids and times each time."""

from __future__ import annotations

from itertools import count

from holdfast import Memories
from holdfast.domain.outcomes import settled
from holdfast.testing import FixedClock


def fill(url: str, space: str = "default") -> None:
    """Fills `space` in the database at `url`."""
    clock, numbers = FixedClock(), count(1)
    with Memories.open(url, space, clock=clock, ids=lambda: f"Id{next(numbers):06d}") as memories:
        memories.open_session("run-1", name="A run", client="tests", directory="/somewhere", tier=2)
        said = memories.say("run-1", "user", "I like tea with — honestly — no milk: 茶 🫖", speaker="Ada")
        agent = memories.speaking_as("assistant", session="run-1")
        tea = settled(
            agent.remember(
                "Ada likes tea without milk 茶 🫖",
                subject="Ada",
                summary="tea",
                tags=["drink", 'quo"te'],
                message=said.id,
                importance=5,
                key="first",
            )
        )
        assert tea is not None
        clock.advance(days=1, seconds=0.5)
        memories.revise(tea.id, "Ada likes green tea without milk 茶 🫖", confidence=0.9, pinned=True)
        memories.remember("Takes 60s to start after restart", subject="jellyfin", project="media")
        memories.remember("Takes 30s to start after restart", subject="jellyfin", project="media")
        memories.remember("Doubtful news about the mail server", subject="mail", doubtful="it seems odd")
        gone = settled(memories.remember("A note that was forgotten again", subject="gone"))
        assert gone is not None
        memories.link(tea.id, gone.id, "related")
        memories.forget(gone.id)
        agent.recall("which tea does Ada like")
        agent.brief()
        clock.advance(days=30)
        memories.tend()
        memories.say("run-1", "assistant", "Noted: green tea, no milk. — Das wär's, 謝謝")
        memories.say("run-1", "tool", "exit status 0")
        memories.close_session("run-1", exit_code=0)
