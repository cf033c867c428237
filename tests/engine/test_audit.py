"""The junk report: each kind of junk is found with its ids, and a clean space is called clean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from holdfast import Memories, Memory
from holdfast.engine import changes
from holdfast.engine.audit import KINDS, Finding
from holdfast.engine.ports import Store
from holdfast.language.relative_dates import undated
from holdfast.testing import FixedClock


@dataclass
class Numbers:
    """An embedder that puts every text into one place, under a name of its own."""

    name: str

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        return [[self.query(text)] for text in texts]

    def query(self, text: str) -> bytes:
        import numpy

        return numpy.eye(1, 16, dtype="<f4").tobytes()

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        return [self.query(text) for text in texts]


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


def kept(memories: Memories, content: str, category: str = "fact", subject: str | None = None) -> Memory:
    memory = getattr(memories.remember(content, category=category, subject=subject), "memory", None)
    assert isinstance(memory, Memory)
    return memory


def found(memories: Memories, kind: str) -> Finding:
    (finding,) = [one for one in memories.audit().findings if one.kind == kind]
    return finding


def test_a_clean_space_is_clean_and_every_kind_was_looked_for(memories: Memories) -> None:
    kept(memories, "Miriam is our landlord")

    audit = memories.audit()

    assert (audit.clean, audit.memories) == (True, 1)
    assert tuple(one.kind for one in audit.findings) == KINDS
    assert all(one.says and one.advice for one in audit.findings)


def test_duplicates_are_found_as_pairs_once(memories: Memories) -> None:
    one = kept(memories, "The broker runs on host alpha")
    other = kept(memories, "Host alpha is where the broker runs", "reference", "house")

    duplicates = found(memories, "duplicates")

    assert duplicates.count == 1
    assert set(duplicates.ids) == set(duplicates.pairs[0]) == {one.id, other.id}


def test_facts_that_need_a_date_are_found(memories: Memories) -> None:
    vague = kept(memories, "The certificate was renewed yesterday")
    kept(memories, "The mail gateway was moved yesterday, on 2026-02-28")

    assert found(memories, "undated").ids == (vague.id,)


def test_secrets_are_found_in_earlier_wordings_too(memories: Memories, store: Store) -> None:
    """Nothing comes in with a secret by any verb; an archive of another release may bring one."""
    clean = kept(memories, "The deploy token is in the safe")
    kept(memories, "Miriam is our landlord")
    with store.write("default") as tx:
        secret = "The deploy token is ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
        now = clean.created_at
        worse = clean.worded(secret, summary=None, now=now)
        changes.change(tx, clean, worse, "revised", source=clean.source, now=now)
        better = worse.worded("The deploy token is in the safe", summary=None, now=now)
        changes.change(tx, worse, better, "revised", source=clean.source, now=now)

    assert found(memories, "secrets").ids == (clean.id,)


def test_contradictions_are_open_while_both_are_believed(memories: Memories) -> None:
    old = kept(memories, "The export takes 60 seconds", "timing", "billing")
    new = kept(memories, "The export takes 90 seconds", "timing", "billing")
    open_pairs = found(memories, "contradictions").pairs

    memories.forget(old.id)

    assert open_pairs == ((new.id, old.id),)
    assert found(memories, "contradictions").count == 0


def test_never_used_counts_recall_and_prompts_but_not_what_is_new_or_pinned(
    memories: Memories, clock: FixedClock
) -> None:
    recalled = kept(memories, "The gateway is reached at port 8443")
    unused = kept(memories, "Otto prefers short mails")
    pinned = kept(memories, "Miriam is our landlord")
    memories.revise(pinned.id, pinned=True)
    clock.advance(days=29)
    memories.recall("port of the gateway")
    early = found(memories, "never_used").ids
    clock.advance(days=1)
    kept(memories, "The cellar is dry")

    assert early == ()
    assert found(memories, "never_used").ids == (unused.id,)
    assert recalled.id not in found(memories, "never_used").ids


def test_vectors_of_another_model_are_named(store: Store, clock: FixedClock) -> None:
    first = Memories.of(store, "default", clock=clock, embedder=Numbers("first-model"))
    kept(first, "Miriam is our landlord")
    first.tend()
    second = Memories.of(store, "default", clock=clock, embedder=Numbers("second-model"))

    assert found(first, "other_model").ids == ()
    assert found(second, "other_model").ids == ("first-model",)


def test_an_audit_changes_nothing(memories: Memories, clock: FixedClock) -> None:
    memory = kept(memories, "The certificate was renewed yesterday")
    before = memories.show(memory.id)
    clock.advance(days=100)

    memories.audit()

    assert memories.show(memory.id) == replace(before)
    assert memories.inbox() == []


@pytest.mark.parametrize(
    "text",
    [
        "The invoice was paid yesterday",
        "We meet next week about the roof",
        "Otto is currently in Bonn",
        "The disk failed 3 days ago",
        "The new lift comes in two weeks",
        "Last Friday the heating failed",
    ],
)
def test_words_that_need_a_day_are_known(text: str) -> None:
    assert undated(text)


@pytest.mark.parametrize(
    "text",
    [
        "The invoice was paid yesterday, 2026-03-01",
        "Backups run every night at 3",
        "The export takes 5 days",
        "On 3 May the lift was mended last",
        "In 2025 we recently-ish moved",
        "Deploys happen within 2 weeks of review",
        "",
    ],
)
def test_what_says_when_or_holds_always_is_not_called_undated(text: str) -> None:
    assert undated(text) is None
