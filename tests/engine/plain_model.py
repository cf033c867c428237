"""The engine once more, as plain Python over lists: what the stateful test holds the real one against.

Written from DESIGN.md and the requirement rows. No storage, no ids of its own: the test tells it the id that
the engine chose, and everything else must follow.
"""
# budget: one model; its rules call each other, and a reader checks them side by side.

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from holdfast.domain.profile import Profile
from tests.engine.scripted_judge import verdict

Origin = str


@dataclass(frozen=True)
class Belief:
    """What is known of one memory at one time."""

    id: str
    content: str
    category: str
    subject: str | None
    project: str | None
    tags: tuple[str, ...]
    origin: Origin
    session: str | None
    confidence: float
    importance: int
    state: str
    pinned: bool
    version: int
    created_at: datetime
    updated_at: datetime
    confirmed_at: datetime
    weeks: int = 0
    waits: bool = False  # for a person; what was forgotten while it waited waits again when it is restored

    @property
    def active(self) -> bool:
        return self.state == "active"


@dataclass(frozen=True)
class Deed:
    """One change of one memory."""

    number: int
    action: str
    memory: str
    session: str | None
    before: Belief | None
    after: Belief | None
    note: str | None = None
    by: Origin = ""


@dataclass(frozen=True)
class Grave:
    """A text that may not come back."""

    memory: str
    category: str
    subject: str | None
    keeps_text: bool


@dataclass(frozen=True)
class Tie:
    """Who linked two memories, and when."""

    session: str | None
    at: datetime


@dataclass
class Said:
    """A draft, as the test made it."""

    content: str
    category: str
    subject: str | None
    project: str | None
    tags: tuple[str, ...]
    origin: Origin
    session: str | None
    confidence: float
    importance: int
    doubtful: bool = False

    @property
    def trusted(self) -> bool:
        return self.origin not in ("tool", "import", "file")


@dataclass
class Expected:
    """What should become of a draft: the outcome's name, and the memory that it is about."""

    kind: str
    known: str | None = None  # none: a new memory
    counted: bool = True
    others: tuple[str, ...] = ()
    in_place_of: str | None = None  # an operator's memory that waits for a person's word


@dataclass
class PlainModel:
    """All that one space should hold."""

    profile: Profile
    memories: dict[str, Belief] = field(default_factory=dict)
    wordings: dict[str, list[str]] = field(default_factory=dict)
    repeated: dict[str, dict[str, str | None]] = field(
        default_factory=dict
    )  # other words, with who said them
    deeds: list[Deed] = field(default_factory=list)
    links: dict[tuple[str, str, str], Tie] = field(default_factory=dict)
    graves: dict[str, Grave] = field(default_factory=dict)  # by text
    accesses: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)  # ids that were removed for good

    # ------------------------------------------------------------------------------------------ what is there

    def in_state(self, *states: str) -> list[Belief]:
        return [memory for memory in self.memories.values() if memory.state in states]

    def visible(self, project: str | None) -> list[Belief]:
        """What briefs and recall may use."""
        return [memory for memory in self.in_state("active") if memory.project in (None, project)]

    def vouched(self, memory: str) -> bool:
        """Whether an operator wrote, revised or approved it."""
        actions = ("added", "merged", "revised", "approved")
        return any(d.memory == memory and d.by == "operator" and d.action in actions for d in self.deeds)

    def did(self, session: str, memory: str, *actions: str) -> bool:
        return any(d.session == session and d.memory == memory and d.action in actions for d in self.deeds)

    # ----------------------------------------------------------------------------------------------- changes

    def note(
        self,
        action: str,
        session: str | None,
        before: Belief | None,
        after: Belief | None,
        note: str | None = None,
        by: Origin = "",
    ) -> None:
        memory = after or before
        assert memory is not None
        self.deeds.append(Deed(len(self.deeds), action, memory.id, session, before, after, note, by))

    def put(
        self, after: Belief, action: str, session: str | None, note: str | None = None, by: Origin = ""
    ) -> Belief:
        before = self.memories.get(after.id)
        if before is None or before.version != after.version:
            self.wordings.setdefault(after.id, []).append(after.content)
        self.memories[after.id] = after
        self.note(action, session, before, after, note, by)
        return after

    def held(self, memory: Belief, confidence: float) -> Belief:
        confidence = round(min(max(confidence, 0.0), 1.0), 4)
        state = memory.state
        if state in ("active", "inactive"):
            state = "active" if confidence >= self.profile.policy.floor else "inactive"
        return replace(memory, confidence=confidence, state=state)

    def confirmed(self, memory: Belief, now: datetime) -> Belief:
        return replace(memory, updated_at=now, confirmed_at=now, weeks=0)

    def worded(self, memory: Belief, content: str, now: datetime) -> Belief:
        return replace(memory, content=content, version=memory.version + 1, updated_at=now)

    def connect(self, from_id: str, to_id: str, kind: str, session: str | None, at: datetime) -> None:
        self.links.setdefault((from_id, to_id, kind), Tie(session, at))

    # ---------------------------------------------------------------------------------------------- remember

    def grave_for(self, said: Said) -> str | None:
        """The text whose grave forbids what is said."""
        if said.content in self.graves:
            return said.content
        for text, grave in self.graves.items():
            across = self.profile.policy.neighbours == "space"
            about = grave.subject == said.subject and (across or grave.category == said.category)
            if grave.keeps_text and about and verdict(text, said.content).relation == "same":
                return text
        return None

    def overwriting(self, known: Belief, said: Said) -> Expected:
        if said.doubtful or (not said.trusted and self.vouched(known.id)):
            there = self.waiting_already(said)
            return Expected("Waiting", there, in_place_of=known.id, others=(known.id,))
        return Expected("Merged", known.id)

    def waiting_already(self, said: Said) -> str | None:
        """The same draft in the inbox."""
        about = (said.category, said.subject, said.project, said.confidence)
        alike = [
            m
            for m in self.in_state("waiting")
            if (m.category, m.subject, m.project, m.confidence) == about
            and verdict(m.content, said.content).relation == "same"
        ]
        return min(alike, key=lambda m: (m.created_at, m.id)).id if alike else None

    def expected(self, said: Said) -> Expected:
        """What should become of `said`, once no grave forbids it."""
        policy = self.profile.policy
        if policy.subject_is_key and said.subject is not None:
            name = (said.subject, said.project)
            named = [m for m in self.in_state("active", "inactive") if (m.subject, m.project) == name]
            if named:
                return self.overwriting(min(named, key=lambda m: m.created_at), said)
        same, against, near = self.compared(said)
        others = tuple(m.id for m in (*against, *near))
        doubted = said.doubtful or (not said.trusted and any(self.vouched(m.id) for m in against))
        if same is None and doubted and against and policy.on_contradiction == "suggest":
            there = self.waiting_already(said)
            return Expected("Waiting", there, in_place_of=against[0].id, others=(against[0].id,))
        if same is None and doubted:
            return Expected("Waiting", self.waiting_already(said), others=others)
        if same is not None:
            if policy.on_same == "overwrite":
                return self.overwriting(same, said)
            counted = self.counts(same, said)
            merged = "Merged" if counted else "Reinforced"
            kinds = {"suggest": "UpdateSuggested", "reinforce": "Reinforced", "merge": merged}
            return Expected(kinds[policy.on_same], same.id, counted)
        if against:
            if policy.on_contradiction == "suggest":
                return Expected("UpdateSuggested", against[0].id)
            if policy.on_contradiction == "overwrite":
                return self.overwriting(against[0], said)
            return Expected("Contradicting", others=tuple(m.id for m in against))
        return Expected("Added", others=tuple(m.id for m in near))

    def compared(self, said: Said) -> tuple[Belief | None, list[Belief], list[Belief]]:
        # No text here names its subject, so that another subject is another thing in every profile.
        across = self.profile.policy.neighbours == "space"
        near_by = [
            m
            for m in self.visible(said.project)
            if m.subject == said.subject and (across or m.category == said.category)
        ]
        near_by.sort(key=lambda m: m.id)
        near_by.sort(key=lambda m: m.created_at, reverse=True)
        same, against, near = [], [], []
        for known in near_by:
            found = verdict(known.content, said.content)
            if found.relation == "same":
                same.append((-found.similarity, known.created_at, known.id))
            elif found.relation == "contradicts":
                if known.project == said.project:
                    against.append(known)
            elif not found.certain:
                near.append(known)
        return (self.memories[min(same)[2]] if same else None), against, near

    def counts(self, known: Belief, said: Said) -> bool:
        """Whether saying it again is evidence."""
        if said.doubtful or (known.origin not in ("tool", "import", "file") and not said.trusted):
            return False
        if said.session is None:
            return True
        return not self.did(said.session, known.id, "added", "reinforced", "merged", "revised", "waiting")

    def remember(self, said: Said, expected: Expected, new_id: str, now: datetime) -> None:
        """Does what was expected; `new_id` is the engine's, where it made a memory."""
        match expected.kind:
            case "Waiting" if expected.known is not None:
                pass  # it waits already
            case "Added":
                self.add(said, new_id, now)
                for other in expected.others:
                    self.connect(new_id, other, "related", said.session, now)
            case "Waiting" if expected.in_place_of is not None:
                self.add(said, new_id, now, waiting=True)
                self.connect(new_id, expected.in_place_of, "supersedes", said.session, now)
            case "Waiting":
                self.add(said, new_id, now, waiting=True)
                _, against, near = self.compared(said)
                for kind, others in (("contradicts", against), ("related", near)):
                    for known in others:
                        self.connect(new_id, known.id, kind, said.session, now)
            case "Contradicting":
                memory = self.add(said, new_id, now)
                for other in expected.others:
                    self.weaken(other, memory, now)
            case "Reinforced" | "Merged":
                self.keep_wording(expected, said)
                if expected.counted:
                    _, against, _ = self.compared(said)
                    self.say_again(expected, said, now)
                    self.lead_again(expected, {m.id for m in against}, said, now)

    def keep_wording(self, expected: Expected, said: Said) -> None:
        assert expected.known is not None
        known = self.repeated.setdefault(expected.known, {})
        if self.profile.policy.on_same != "overwrite" and said.content not in self.wordings[expected.known]:
            known.setdefault(said.content, said.session)

    def texts(self, memory_id: str) -> list[str]:
        return [*self.wordings.get(memory_id, ()), *self.repeated.get(memory_id, ())]

    def add(self, said: Said, new_id: str, now: datetime, *, waiting: bool = False) -> Belief:
        state = "active" if said.confidence >= self.profile.policy.floor else "inactive"
        memory = Belief(
            id=new_id,
            content=said.content,
            category=said.category,
            subject=said.subject,
            project=said.project,
            tags=said.tags,
            origin=said.origin,
            session=said.session,
            confidence=said.confidence,
            importance=said.importance,
            state="waiting" if waiting else state,
            pinned=False,
            version=1,
            created_at=now,
            updated_at=now,
            confirmed_at=now,
            waits=waiting,
        )
        return self.put(memory, "waiting" if waiting else "added", said.session, by=said.origin)

    def say_again(self, expected: Expected, said: Said, now: datetime) -> None:
        assert expected.known is not None
        known, policy = self.memories[expected.known], self.profile.policy
        after = self.confirmed(known, now)
        if expected.kind == "Reinforced":
            after = self.held(after, known.confidence + policy.reinforce_by)
            self.put(after, "reinforced", said.session)
            return
        if policy.on_same == "merge":
            importance = min(known.importance + policy.raise_importance_by, 5)
            tags = tuple(sorted({*known.tags, *said.tags}))
            after = replace(after, importance=importance, tags=tags)
            if not set(said.content.split()) <= set(known.content.split()):
                after = self.worded(after, said.content, now)
        else:
            after = self.worded(after, said.content, now)
            after = replace(after, category=said.category, tags=said.tags or known.tags)
        self.put(after, "merged", said.session, by=said.origin)

    def lead_again(self, expected: Expected, against: set[str], said: Said, now: datetime) -> None:
        """What was said again leads over what had superseded it."""
        assert expected.known is not None
        if self.profile.policy.on_same == "overwrite":
            return
        successor = self.superseded().get(expected.known)
        if successor in against:
            self.links.pop((expected.known, successor, "supersedes"), None)
            self.connect(expected.known, successor, "supersedes", said.session, now)

    def superseded(self) -> dict[str, str]:
        """Who leads in place of whom: of each pair the later link counts."""
        ties = sorted((tie.at, *link) for link, tie in self.links.items() if link[2] == "supersedes")
        found: dict[str, str] = {}
        for place, (_, newer, older, _) in enumerate(ties):
            turned = any((newer, older) == (to, origin) for _, origin, to, _ in ties[place + 1 :])
            one, other = self.memories[newer], self.memories[older]
            if one.active and other.active and one.project in (None, other.project) and not turned:
                found[older] = newer
        return found

    def weaken(self, old_id: str, by: Belief, now: datetime) -> None:
        old, policy = self.memories[old_id], self.profile.policy
        self.connect(by.id, old_id, "contradicts", by.session, now)
        leads, follows = (by.id, old_id) if by.created_at >= old.created_at else (old_id, by.id)
        self.connect(leads, follows, "supersedes", by.session, now)
        if policy.on_contradiction != "weaken":
            return
        if by.session is not None and self.did(by.session, old_id, "contradicted"):
            return
        self.put(self.held(old, old.confidence - policy.weaken_by), "contradicted", by.session)

    # ------------------------------------------------------------------------------------- the other verbs

    def bury(self, memory: Belief) -> None:
        for text in self.texts(memory.id):
            self.graves[text] = Grave(memory.id, memory.category, memory.subject, keeps_text=True)

    def remove(self, memory_id: str) -> None:
        """The row is gone, and the links with it."""
        del self.memories[memory_id]
        self.repeated.pop(memory_id, None)
        self.gone.add(memory_id)
        for link in [link for link in self.links if memory_id in link[:2]]:
            del self.links[link]

    def forget(self, memory_id: str, session: str | None) -> None:
        memory = self.memories[memory_id]
        self.bury(memory)
        if self.profile.policy.removal == "permanent":
            self.note("purged", session, memory, None)
            self.remove(memory_id)
        else:
            self.put(replace(memory, state="forgotten"), "forgotten", session)

    def restore(self, memory_id: str, session: str | None) -> None:
        memory = self.memories[memory_id]
        self.unbury(memory_id)
        state = "waiting" if memory.waits else "active"
        self.put(self.held(replace(memory, state=state), memory.confidence), "restored", session)

    def erase(self, memory_id: str) -> None:
        texts = set(self.texts(memory_id))
        texts |= {text for text, grave in self.graves.items() if grave.memory == memory_id}
        for text in texts:
            self.graves[text] = Grave(memory_id, "", None, keeps_text=False)
        if memory_id in self.memories:
            self.remove(memory_id)
        self.deeds = [replace(d, before=None, after=None) if d.memory == memory_id else d for d in self.deeds]

    def unbury(self, memory_id: str) -> None:
        for text in self.texts(memory_id):
            self.graves.pop(text, None)

    def linked_from(self, memory_id: str, kind: str) -> list[str]:
        """Where links of a kind lead that are not forgotten, oldest link first."""
        found = sorted((tie.at, *link) for link, tie in self.links.items() if link[0] == memory_id)
        return [to for _, _, to, which in found if which == kind and self.memories[to].state != "forgotten"]

    def approve(self, memory_id: str, session: str | None, now: datetime) -> None:
        waiting = self.memories[memory_id]
        self.unbury(memory_id)
        named = [
            m.id
            for m in sorted(self.in_state("active", "inactive"), key=lambda m: m.created_at)
            if self.profile.policy.subject_is_key
            and m.subject is not None
            and (m.subject, m.project) == (waiting.subject, waiting.project)
        ]
        if replaced := self.linked_from(memory_id, "supersedes") or named:
            done = replace(waiting, state="forgotten", waits=False)
            self.put(done, "approved", session, by="operator")
            after = self.confirmed(self.memories[replaced[0]], now)
            if waiting.content != after.content:
                after = self.worded(after, waiting.content, now)
            after = replace(
                after,
                category=waiting.category,
                subject=waiting.subject,
                project=waiting.project,
                tags=waiting.tags,
                importance=waiting.importance,
            )
            after = self.held(after, waiting.confidence)
            self.put(after, "revised", waiting.session, by=waiting.origin)
            return
        ready = self.held(replace(waiting, state="active", waits=False), waiting.confidence)
        memory = self.put(self.confirmed(ready, now), "approved", session, by="operator")
        for old in self.linked_from(memory_id, "contradicts"):
            if self.memories[old].active:
                self.weaken(old, memory, now)

    def reject(self, memory_id: str, session: str | None) -> None:
        waiting = self.memories[memory_id]
        self.bury(waiting)
        self.put(replace(waiting, state="forgotten", waits=False), "rejected", session)

    def decay(self, now: datetime) -> set[str]:
        """Takes off what is due; answers whose belief changed."""
        policy, changed = self.profile.policy, set()
        for memory in self.in_state("active"):
            if policy.decay_by <= 0 or memory.pinned:
                continue
            due = (now - memory.confirmed_at - timedelta(days=policy.decay_after_days)) // timedelta(days=7)
            after = memory
            while after.weeks < due and after.active:
                after = replace(self.held(after, after.confidence - policy.decay_by), weeks=after.weeks + 1)
            if after != memory:
                self.put(after, "decayed", None)
                changed.add(memory.id)
        return changed

    # ------------------------------------------------------------------------------------------ undo session

    def undo(self, session: str) -> tuple[set[str], set[str], set[str]]:
        """Takes back what a session did: ids removed, changed and kept."""
        removed, changed, kept = set(), set(), set()
        for memory_id, own in self.deeds_of(session).items():
            memory = self.memories[memory_id]
            since = [
                deed
                for deed in self.deeds
                if deed.memory == memory_id
                and deed.number > own[0].number
                and deed.session != session
                and deed.action not in ("linked", "unlinked", "decayed")
            ]
            if own[0].action in ("added", "waiting"):
                vouching = ("reinforced", "merged", "revised", "approved", "restored")
                if any(deed.action in vouching for deed in since):
                    kept.add(memory_id)
                    continue
                self.bury(memory)
                self.put(replace(memory, state="forgotten"), "undone", None, session)
                removed.add(memory_id)
            elif after := self.taken_back(memory, own, since):
                if after.state == "waiting":
                    against = {
                        to for one, to, kind in self.links if (one, kind) == (memory_id, "contradicts")
                    }
                    for to in against:
                        self.links.pop((memory_id, to, "supersedes"), None)
                self.put(after, "undone", None, session)
                changed.add(memory_id)
        self.links = {link: tie for link, tie in self.links.items() if tie.session != session}
        for memory_id, texts in self.repeated.items():
            self.repeated[memory_id] = {text: by for text, by in texts.items() if by != session}
        return removed, changed, kept

    def deeds_of(self, session: str) -> dict[str, list[Deed]]:
        own: dict[str, list[Deed]] = {}
        for deed in self.deeds:
            memory = self.memories.get(deed.memory)
            undone = any(
                d.memory == deed.memory and d.action == "undone" and d.note == session for d in self.deeds
            )
            if deed.session != session or deed.action in ("linked", "unlinked") or undone:
                continue
            if memory is not None:
                own.setdefault(deed.memory, []).append(deed)
        return {memory_id: deeds for memory_id, deeds in own.items() if not self.stays_gone(memory_id, deeds)}

    def stays_gone(self, memory_id: str, own: list[Deed]) -> bool:
        forgot_it = own[-1].action == "forgotten" and own[0].before is not None
        return self.memories[memory_id].state == "forgotten" and not forgot_it

    def taken_back(self, memory: Belief, own: list[Deed], since: list[Deed]) -> Belief | None:
        before = own[0].before
        if before is None or own[-1].after is None:
            return None
        if since:
            share = sum(d.after.confidence - d.before.confidence for d in own if d.after and d.before)
            return self.held(memory, memory.confidence - share)
        if memory.state == "forgotten":
            self.unbury(memory.id)
        if before.content == memory.content:
            return replace(before, version=memory.version)
        return replace(before, version=memory.version + 1)


def ids(memories: Iterable[Belief]) -> set[str]:
    return {memory.id for memory in memories}
