"""Hypothesis drives a space and the plain model with the same calls and compares them after each one."""
# budget: one rule a verb, and the checks that follow each; splitting them would hide what is left out.

from __future__ import annotations

import itertools
import json
import re
import string
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from holdfast.app import wiring
from holdfast.domain.history import REMEMBERED, remembered
from holdfast.domain.memory import LINK_KINDS, LinkKind, Memory, Origin
from holdfast.domain.outcomes import Outcome, Refused, settled
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.domain.terms import words
from holdfast.engine import consolidate
from holdfast.engine.memories import Memories
from holdfast.engine.ports import Store
from holdfast.engine.revise import Revised
from holdfast.engine.spaces import create_space
from holdfast.errors import Conflict, NotFound
from holdfast.testing import FixedClock
from tests.engine.plain_model import Belief, Expected, PlainModel, Said, ids
from tests.engine.scripted_judge import ScriptedJudge, numbers_of, wording

ALPHABET = string.ascii_letters + string.digits
AN_ID = re.compile(r"[A-Za-z0-9]{8}")
SESSIONS = ("s1", "s2", "s3")
FIRST_ACTIONS = {"added", "waiting", "imported"}
MUCH = 1_000_000  # tokens: no memory is left out for want of room

CONTENTS = st.builds(wording, st.integers(0, 3), st.integers(0, 1), st.sampled_from("ab"))
MAYBE_SESSION = st.sampled_from((None, *SESSIONS))
ORIGINS: st.SearchStrategy[Origin] = st.sampled_from(("operator", "assistant", "assistant", "tool"))
PICK = st.integers(0, 1_000)
CONFIDENCES = st.sampled_from((0.0, 0.2, 0.3, 0.4, 0.7, 0.95, 1.0, 1.5, -1.0))

_space_numbers = itertools.count(1)


@dataclass(frozen=True)
class Answered:
    """A call under an idempotency key, and what it gave."""

    said: Said
    kind: str
    memory: str | None
    named: frozenset[str]


class Ids:
    """Ids in a fixed order; told to, it offers one that is taken first."""

    def __init__(self) -> None:
        self._numbers = itertools.count(62**7)
        self.taken: str | None = None

    def __call__(self) -> str:
        if self.taken is not None:
            clash, self.taken = self.taken, None
            return clash
        number, letters = next(self._numbers), ""
        for _ in range(8):
            number, rest = divmod(number, 62)
            letters += ALPHABET[rest]
        return letters


class MemoriesMachine(RuleBasedStateMachine):
    """One space of one profile on one database, through its whole life."""

    def __init__(self, url: str, profile: str) -> None:
        super().__init__()
        self.url = url
        self.profile_name = profile
        self.clock = FixedClock()
        self.latest = self.clock()
        self.ids = Ids()
        self.store: Store = wiring.open_store(url)
        self.frozen: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.answered: dict[str, Answered] = {}
        self.said: list[Said] = []
        self.moments: list[tuple[datetime, dict[str, Belief]]] = []
        self.memories = self.new_space()
        self.model = PlainModel(self.memories.profile)

    def teardown(self) -> None:
        self.store.close()

    def new_space(self) -> Memories:
        name = f"{self.profile_name}-{next(_space_numbers)}"
        create_space(name, store=self.store, clock=self.clock, profile=self.profile_name)
        return self.opened(name)

    def opened(self, name: str) -> Memories:
        return Memories.of(self.store, name, clock=self.clock, ids=self.ids, judge=ScriptedJudge())

    def tick(self, **by: float) -> datetime:
        now = self.clock.advance(seconds=1, **by)
        self.latest = max(self.latest, now)
        return now

    def chosen(self, pick: int, *states: str) -> Belief | None:
        found = self.model.in_state(*states)
        return found[pick % len(found)] if found else None

    @initialize()
    def open_sessions(self) -> None:
        for session in SESSIONS:
            self.memories.open_session(session)

    # ---------------------------------------------------------------------------------------------- remember

    @rule(
        content=CONTENTS,
        category=st.integers(0, 1),
        subject=st.sampled_from((None, "web")),
        project=st.sampled_from((None, None, "atlas")),
        tags=st.sampled_from(((), ("blue",))),
        origin=ORIGINS,
        session=MAYBE_SESSION,
        confidence=st.sampled_from((None, None, 0.2, 0.4, 1.5)),
        importance=st.sampled_from((None, 5)),
        doubtful=st.sampled_from((False, False, False, True)),
        key=st.sampled_from((None, None, "k1", "k2")),
        anyway=st.booleans(),
        clash=st.booleans(),
    )
    def remember(
        self,
        content: str,
        category: int,
        subject: str | None,
        project: str | None,
        tags: tuple[str, ...],
        origin: Origin,
        session: str | None,
        confidence: float | None,
        importance: int | None,
        doubtful: bool,
        key: str | None,
        anyway: bool,
        clash: bool,
    ) -> None:
        policy = self.model.profile.policy
        said = Said(
            content=content,
            category=self.model.profile.category_names[category],
            subject=subject,
            project=project,
            tags=tags,
            origin=origin,
            session=session,
            confidence=policy.confidence if confidence is None else min(confidence, 1.0),
            importance=policy.importance if importance is None else importance,
            doubtful=doubtful,
        )
        if clash and self.model.memories:
            self.ids.taken = next(iter(self.model.memories))
        if key in self.answered:
            self.remember_again(key, said)
        else:
            self.remember_first(said, key, anyway=anyway and key is None)
        self.ids.taken = None

    @precondition(lambda self: self.said)
    @rule(
        pick=PICK,
        twist=st.sampled_from(("again", "again", "reworded", "otherwise", "near")),
        origin=ORIGINS,
        session=MAYBE_SESSION,
        anyway=st.sampled_from((False, False, True)),
    )
    def remember_what_was_said(
        self, pick: int, twist: str, origin: Origin, session: str | None, anyway: bool
    ) -> None:
        """Chance alone would seldom repeat, reword or contradict what was said before."""
        before = self.said[-1 - pick % min(len(self.said), 6)]
        fact, value, variant = numbers_of(before.content)
        content = {
            "again": before.content,
            "reworded": wording(fact, value, "b" if variant == "a" else "a"),
            "otherwise": wording(fact, 1 - value, variant),
            "near": wording(fact ^ 1, value, variant),
        }[twist]
        policy = self.model.profile.policy
        said = replace(
            before,
            content=content,
            origin=origin,
            session=session,
            confidence=policy.confidence,
            doubtful=False,
        )
        self.remember_first(said, None, anyway=anyway)

    def remember_first(self, said: Said, key: str | None, *, anyway: bool) -> None:
        self.said.append(said)
        brought_back = anyway and said.origin == "operator"  # an agent can't
        now = self.tick()
        grave = None if self.model.compared(said)[0] else self.model.grave_for(said)
        if grave is not None and not brought_back:
            assert isinstance(self.call(said, key, anyway=anyway), Refused)
            return
        while grave is not None:
            del self.model.graves[grave]
            grave = self.model.grave_for(said)
        expected = self.model.expected(said)
        outcome = self.call(said, key, anyway=anyway)
        self.compare_outcome(expected, outcome)
        new = settled(outcome)
        new_id = new.id if new is not None and expected.known is None else ""
        assert new_id not in self.model.memories
        assert new_id not in self.model.gone
        self.model.remember(said, expected, new_id, now)
        memory = expected.known or new_id
        self.keep(key, said, expected.kind, memory, {memory, *expected.others})

    def keep(self, key: str | None, said: Said, kind: str, memory: str | None, named: set[str]) -> None:
        if key is not None and kind != "UpdateSuggested":
            self.answered[key] = Answered(replace(said), kind, memory, frozenset(named))

    @rule(key=st.sampled_from(("k1", "k2")), other=st.booleans())
    def remember_under_a_used_key(self, key: str, other: bool) -> None:
        if key not in self.answered:
            return
        said = replace(self.answered[key].said)
        if other:
            said.content = wording(9, 9)
        self.remember_again(key, said)

    def remember_again(self, key: str | None, said: Said) -> None:
        assert key is not None
        self.tick()
        first = self.answered[key]
        if said != first.said:
            with pytest.raises(Conflict):
                self.call(said, key)
            return
        again = self.call(said, key)
        lost = first.memory is not None and first.memory not in self.model.memories
        assert type(again).__name__ == ("Refused" if lost else first.kind)
        if first.memory is not None and not lost:
            assert getattr(again, "memory").id == first.memory  # noqa: B009

    def call(self, said: Said, key: str | None, *, anyway: bool = False) -> Outcome:
        speaker = self.memories.speaking_as(said.origin, session=said.session)  # type: ignore[arg-type]
        return speaker.remember(
            said.content,
            category=said.category,
            subject=said.subject,
            project=said.project,
            tags=said.tags,
            confidence=said.confidence,
            importance=said.importance,
            doubtful="somebody should look" if said.doubtful else None,
            key=key,
            anyway=anyway,
        )

    def compare_outcome(self, expected: Expected, outcome: Outcome) -> None:
        assert type(outcome).__name__ == expected.kind
        if expected.known is not None:
            about = getattr(outcome, "known" if expected.kind == "UpdateSuggested" else "memory")
            assert about.id == expected.known
        if expected.kind == "Reinforced":
            assert getattr(outcome, "counted") == expected.counted  # noqa: B009

    # -------------------------------------------------------------------------------------------- one memory

    @rule(
        pick=PICK,
        content=st.none() | CONTENTS,
        confidence=st.none() | CONFIDENCES,
        category=st.none() | st.integers(0, 1),
        tags=st.sampled_from((None, (), ("red",))),
        pinned=st.sampled_from((None, None, True, False)),
        origin=ORIGINS,
        session=MAYBE_SESSION,
        stale=st.sampled_from((False, False, False, True)),
    )
    def revise(
        self,
        pick: int,
        content: str | None,
        confidence: float | None,
        category: int | None,
        tags: tuple[str, ...] | None,
        pinned: bool | None,
        origin: Origin,
        session: str | None,
        stale: bool,
    ) -> None:
        known = self.chosen(pick, "active", "inactive", "waiting")
        if known is None or (content, confidence, category, tags, pinned) == (None,) * 5:
            return
        name = None if category is None else self.model.profile.category_names[category]
        wanted = replace(
            known,
            content=content or known.content,
            category=name or known.category,
            tags=known.tags if tags is None else tags,
            pinned=known.pinned if pinned is None else pinned,
        )
        same = wanted == known and (confidence is None or self.model.held(known, confidence) == known)
        proposed = origin == "tool" and self.model.vouched(known.id) and not same
        buried = wanted.content != known.content and self.buried(wanted) is not None
        now = self.tick()
        speaker = self.memories.speaking_as(origin, session=session)

        def act() -> object:
            return speaker.revise(
                known.id,
                content,
                category=name,
                tags=tags,
                pinned=pinned,
                confidence=confidence,
                expect_version=known.version + 1 if stale else known.version,
            )

        if stale or buried:
            with pytest.raises(Conflict):
                act()
            return
        outcome = act()
        if proposed:
            self.propose(known, wanted, confidence, session, getattr(outcome, "memory").id, now)  # noqa: B009
            return
        assert isinstance(outcome, Revised)
        if same:
            return
        after = replace(wanted, content=known.content, updated_at=now)
        if wanted.content != known.content:
            after = self.model.worded(after, wanted.content, now)
        if confidence is not None:
            after = self.model.held(after, confidence)
        if origin == "operator":
            after = self.model.confirmed(after, now)
        self.model.put(after, "revised", session, by=origin)

    def buried(self, wanted: Belief) -> str | None:
        said = Said(wanted.content, wanted.category, wanted.subject, None, (), "operator", None, 1.0, 3)
        return self.model.grave_for(said)

    def propose(
        self,
        known: Belief,
        wanted: Belief,
        confidence: float | None,
        session: str | None,
        new_id: str,
        now: datetime,
    ) -> None:
        said = Said(
            content=wanted.content,
            category=wanted.category,
            subject=wanted.subject,
            project=wanted.project,
            tags=wanted.tags,
            origin="tool",
            session=session,
            confidence=known.confidence if confidence is None else min(max(confidence, 0.0), 1.0),
            importance=known.importance,
        )
        there = self.model.waiting_already(said)
        assert there in (None, new_id)
        if there is None:
            self.model.add(said, new_id, now, waiting=True)
            self.model.connect(new_id, known.id, "supersedes", session, now)

    @rule(pick=PICK, session=MAYBE_SESSION, stale=st.booleans())
    def forget(self, pick: int, session: str | None, stale: bool) -> None:
        known = self.chosen(pick, "active", "inactive", "waiting")
        if known is None:
            return
        self.tick()
        speaker = self.memories.speaking_as("assistant", session=session)
        if stale:
            with pytest.raises(Conflict):
                speaker.forget(known.id, expect_version=known.version + 1)
        gone = speaker.forget(known.id)
        self.model.forget(known.id, session)
        assert gone.restorable == (known.id in self.model.memories)

    @rule(pick=PICK)
    def restore(self, pick: int) -> None:
        known = self.chosen(pick, "forgotten")
        if known is None:
            return
        self.tick()
        named = [(m.subject, m.project) for m in self.model.in_state("active", "inactive")]
        taken = known.subject is not None and (known.subject, known.project) in named
        if self.model.profile.policy.subject_is_key and taken:
            with pytest.raises(Conflict):
                self.memories.restore(known.id)
            return
        self.memories.restore(known.id)
        self.model.restore(known.id, None)

    @precondition(lambda self: self.model.gone)
    @rule(pick=PICK)
    def what_was_removed_for_good_is_not_found(self, pick: int) -> None:
        gone = sorted(self.model.gone)[pick % len(self.model.gone)]
        for verb in (self.memories.show, self.memories.why, self.memories.forget, self.memories.restore):
            with pytest.raises(NotFound):
                verb(gone)

    @precondition(lambda self: len(self.model.memories) > 3)
    @rule(pick=PICK, other=PICK)
    def erase(self, pick: int, other: int) -> None:
        known = list(self.model.memories)
        chosen = tuple(dict.fromkeys((known[pick % len(known)], known[other % len(known)])))
        self.tick()
        self.memories.erase(*chosen)
        for memory_id in chosen:
            self.model.erase(memory_id)
            self.frozen = {s: given for s, given in self.frozen.items() if memory_id not in given[1]}
            self.answered = {k: a for k, a in self.answered.items() if memory_id not in a.named}

    @rule(pick=PICK, other=PICK, kind=st.sampled_from(LINK_KINDS), session=MAYBE_SESSION)
    def link(self, pick: int, other: int, kind: LinkKind, session: str | None) -> None:
        left = self.chosen(pick, "active", "inactive", "waiting")
        right = self.chosen(other, "active", "inactive", "waiting")
        if left is None or right is None or left.id == right.id:
            return
        now = self.tick()
        fresh = (left.id, right.id, kind) not in self.model.links
        assert self.memories.speaking_as("assistant", session=session).link(left.id, right.id, kind) == fresh
        if fresh:
            self.model.connect(left.id, right.id, kind, session, now)
            self.model.note("linked", session, left, left)

    @precondition(lambda self: self.model.links)
    @rule(pick=PICK)
    def unlink(self, pick: int) -> None:
        from_id, to_id, kind = list(self.model.links)[pick % len(self.model.links)]
        known = self.model.memories[from_id]
        if known.state == "forgotten":
            return
        self.tick()
        assert self.memories.unlink(from_id, to_id, kind) == 1  # type: ignore[arg-type]
        del self.model.links[from_id, to_id, kind]
        self.model.note("unlinked", None, known, known)

    @rule(pick=PICK, approve=st.booleans(), session=MAYBE_SESSION)
    def decide_what_waits(self, pick: int, approve: bool, session: str | None) -> None:
        waiting = self.chosen(pick, "waiting")
        if waiting is None:
            return
        now = self.tick()
        speaker = self.memories.speaking_as("operator", session=session)
        if approve:
            speaker.approve(waiting.id)
            self.model.approve(waiting.id, session, now)
        else:
            speaker.reject(waiting.id)
            self.model.reject(waiting.id, session)

    # --------------------------------------------------------------------------------------- the whole space

    @rule(days=st.sampled_from((1, 8, 31, 38, 45, 80, -3, -40)))
    def move_the_clock_and_tend(self, days: int) -> None:
        now = self.tick(days=days)
        self.moments = [(moment, past) for moment, past in self.moments if moment < now]
        changed = self.model.decay(now)
        # What tending proposes is no part of this model: it has tests of its own.
        with patch.object(consolidate, "consolidate", return_value=[]):
            assert {after.id for _, after in self.memories.tend().decayed} == changed
            assert self.memories.tend().decayed == ()

    @rule(session=MAYBE_SESSION, project=st.sampled_from((None, "atlas")))
    def brief(self, session: str | None, project: str | None) -> None:
        now = self.tick()
        given = self.memories.speaking_as("assistant", session=session).brief(project=project, budget=MUCH)
        if session in self.frozen:
            assert given.frozen
            assert (given.text, given.included) == self.frozen[session or ""]
            return
        self.model.decay(now)
        assert not given.frozen
        led = set() if self.model.profile.block.shows_superseded else self.model.superseded().keys()
        assert set(given.included) == ids(self.model.visible(project)) - led
        assert given.included or "fact" not in given.text
        if session is not None:
            self.frozen[session] = (given.text, given.included)

    @rule(
        query=st.sampled_from(("fact0", "fact3 equals", "web", "BLUE red", "value1", "nowhere")),
        project=st.sampled_from((None, "atlas")),
        session=MAYBE_SESSION,
    )
    def recall(self, query: str, project: str | None, session: str | None) -> None:
        self.tick()
        asked = set(words(query))
        speaker = self.memories.speaking_as("assistant", session=session)
        found = speaker.recall(query, project=project, threshold=0.0, limit=1_000)
        expected = {m.id for m in self.model.visible(project) if asked & words_of(m)}
        superseded = self.model.superseded()
        while more := {superseded[one] for one in expected if one in superseded} - expected:
            expected |= more
        assert {hit.memory.id for hit in found.memories} == expected
        for memory_id in expected:
            self.model.accesses[memory_id] = self.model.accesses.get(memory_id, 0) + 1

    @rule(session=st.sampled_from(SESSIONS))
    def undo_session(self, session: str) -> None:
        self.tick()
        undone = self.memories.undo_session(session)
        removed, changed, kept = self.model.undo(session)
        assert {m.id for m in undone.removed} == removed
        assert {m.id for m in undone.changed} == changed
        assert {m.id for m in undone.kept} == kept

    @rule()
    def remember_the_moment(self) -> None:
        now = self.tick()
        if now >= self.latest:  # a clock that was set back stands in the middle of the past
            self.moments.append((now, dict(self.model.memories)))

    @precondition(lambda self: self.moments)
    @rule(pick=PICK)
    def look_back(self, pick: int) -> None:
        moment, past = self.moments[pick % len(self.moments)]
        then = self.memories.find(EVERYTHING, as_of=moment)
        believed = {m.id: m for m in past.values() if m.id not in self.model.gone}
        assert {m.id: belief_of(m) for m in then.memories} == believed
        assert then.total == len(believed)

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = wiring.open_store(self.url)
        self.memories = self.opened(self.memories.space)

    @rule()
    def move_to_another_space(self) -> None:
        lines = list(self.memories.export())
        there = self.new_space()
        (imported,) = there.import_archive(lines)
        assert imported.added == len(self.model.memories)
        # But for the header, which names the space, an export of the import is the same file.
        assert list(there.export())[1:-1] == lines[1:-1]
        self.memories = there

    # -------------------------------------------------------------------------------------------- invariants

    @invariant()
    def everything_is_as_the_model_says(self) -> None:
        found = self.memories.find(EVERYTHING)
        assert {m.id: belief_of(m) for m in found.memories} == self.model.memories
        assert found.total == len(self.model.memories)
        active = self.memories.find(Filter())
        assert ids(self.model.in_state("active")) == {m.id for m in active.memories}
        assert active.total == len(active.memories)
        for memory in found.memories:
            assert AN_ID.fullmatch(memory.id)
            assert 0.0 <= memory.confidence <= 1.0
            assert memory.state == "forgotten" or (memory.state == "waiting") == bool(memory.waiting_for)
            assert memory.accesses == self.model.accesses.get(memory.id, 0)

    @invariant()
    def rows_agree_with_each_other(self) -> None:
        rows = self.rows()
        found = {m.id: m for m in self.memories.find(EVERYTHING).memories}
        versions: dict[str, list[str]] = {memory_id: [] for memory_id in found}
        for row in rows.get("versions", ()):
            versions[row["memory_id"]].append(row["content"])
            assert row["number"] == len(versions[row["memory_id"]])
        assert versions == {memory_id: self.model.wordings[memory_id] for memory_id in found}
        assert all(wordings[-1] == found[m].content for m, wordings in versions.items())
        repeated: dict[str, dict[str, str | None]] = {}
        for row in rows.get("repetitions", ()):
            repeated.setdefault(row["memory_id"], {})[row["content"]] = row["session_id"]
        assert repeated == {memory: texts for memory, texts in self.model.repeated.items() if texts}
        links = {
            (row["from_id"], row["to_id"], row["kind"]): row["session_id"] for row in rows.get("links", ())
        }
        assert links == {link: tie.session for link, tie in self.model.links.items()}
        journal = rows.get("journal", [])
        assert [row["seq"] for row in journal] == list(range(1, len(journal) + 1))
        for memory_id, memory in found.items():
            entries = [row for row in journal if row["memory_id"] == memory_id]
            assert entries[0]["action"] in FIRST_ACTIONS
            assert entries[-1]["after"] == {name: remembered(memory)[name] for name in REMEMBERED}
        buried = {row["content"] for row in rows.get("tombstones", ()) if row["content"] is not None}
        assert buried == {text for text, grave in self.model.graves.items() if grave.keeps_text}
        assert len(rows.get("tombstones", ())) == len(self.model.graves)

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        rows: dict[str, list[dict[str, Any]]] = {}
        for line in self.memories.export():
            entry = json.loads(line)
            if "table" in entry:
                rows.setdefault(entry["table"], []).append(entry["row"])
        return rows


def belief_of(memory: Memory) -> Belief:
    """A memory in the model's terms."""
    return Belief(
        id=memory.id,
        content=memory.content,
        category=memory.category,
        subject=memory.subject,
        project=memory.project,
        tags=memory.tags,
        origin=memory.source.origin,
        session=memory.source.session,
        confidence=memory.confidence,
        importance=memory.importance,
        state=memory.state,
        pinned=memory.pinned,
        version=memory.version,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        confirmed_at=memory.confirmed_at,
        weeks=memory.decayed_weeks,
        waits=memory.waiting_for is not None,
    )


def words_of(memory: Belief) -> set[str]:
    return {
        *words(memory.content),
        *words(memory.subject or ""),
        *(w for tag in memory.tags for w in words(tag)),
    }
