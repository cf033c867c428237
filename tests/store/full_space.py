"""A space with a row in every table, from all verbs; the same ids and times each time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import count

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.outcomes import settled
from holdfast.domain.space import Bound
from holdfast.domain.spend import ModelCall, Usage
from holdfast.testing import FixedClock

ELSEWHERE = "/somewhere/memory"  # a directory on another machine: nothing here reads or writes it


# budget: a life, one verb after the other.
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
        memories.remember(
            "Takes about 60 seconds to start after a restart", subject="jellyfin", project="media"
        )
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
        agent.record_event("warning", "The disk is nearly full: 97 %", service="nas")
        agent.record_attempt("restart", "jellyfin", True, content="It answers again")
        memories.rename_file("jellyfin_takes_60s_to_start_after_restart.md", "media/jellyfin.md")
        memories.put_file("media/empty.md", "")
        memories.close_session("run-1", exit_code=0)
    _bind_and_meter(url, space, clock.now())


def _bind_and_meter(url: str, space: str, now: datetime) -> None:
    """What takes another machine's disk, and a model that costs something."""
    store = open_store(url)
    asked = ModelCall(
        id="call-1", purpose="gate", model="anthropic:a", usage=Usage(100, 10, 40), micro_dollars=7,
        session="run-1", created_at=now,
    )  # fmt: skip
    refused = {"notes.md": ["1 2 3", "it is too long"]}
    with store.write(space) as tx:
        tx.spend.add(replace(asked, outcome="answered"))
        tx.spend.add(replace(asked, id="call-2", micro_dollars=None))
        tx.files.bind(Bound(path=ELSEWHERE, layout="folders", refused=refused, bound_at=now))
    store.close()
