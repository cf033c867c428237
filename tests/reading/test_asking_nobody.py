"""What an agent waits for never asks a language model, though every one of them is configured and there."""

from __future__ import annotations

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.testing import FixedClock
from tests.reading.conftest import OpenReaders
from tests.reading.scripted import Scripted
from tests.requirements_ledger import requirement


@requirement("sem.recall.no-model")
def test_recall_and_briefs_never_call_a_language_model(
    database_url: str, clock: FixedClock, server: Scripted, language_models_for: OpenReaders
) -> None:
    models = language_models_for(judge=True)
    with Memories.of(open_store(database_url), "default", clock=clock, language_models=models) as memories:
        memories.remember("The invoices service runs on host inv-7", subject="invoices")
        memories.say("s", "user", "Where do the invoices run?")
        asked_while_writing = len(server.asked)
        speaker = memories.speaking_as("assistant", session="s")

        found = memories.recall("where do the invoices run")
        # In this order: what a session's brief shows, its context leaves out.
        told = [
            speaker.context(["invoices host"]).text,
            speaker.brief().text,
            memories.look("invoices").block.text,
        ]
        speaker.delta()
        memories.why(found.memories[0].memory.id)

        assert all("inv-7" in text for text in told)
        assert len(server.asked) == asked_while_writing
        memories.capture("s")
        assert memories.read_due() is not None  # the models are there, and answer whoever asks them
        assert len(server.asked) > asked_while_writing
