"""Plays a story into a space by the same verbs that agents and people use, at the time of the story.

So what is seen afterwards is real: belief that grew and faded, versions, receipts, links, what waits and what
was forgotten. Knows nothing of where a story comes from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from holdfast.app import wiring
from holdfast.domain.markers import written
from holdfast.domain.outcomes import settled
from holdfast.domain.spend import ModelCall, Usage
from holdfast.engine.memories import Memories
from holdfast.engine.ports import Embedder, Store
from holdfast.engine.spaces import Overview, create_space, overview
from holdfast.example_data.story import STORIES, ExampleStory, Scene, read

_STEP = timedelta(minutes=1)  # between two steps, unless they say otherwise
_KEPT_OTHERWISE = "its agent keeps what matters by itself"
Step = Mapping[str, Any]


def fill(store: Store, *, now: datetime | None = None, embedder: Embedder | None = None) -> list[Overview]:
    """Plays all stories, up to `now`; answers what is in their spaces.

    Raises: Conflict, when a space of a story is there already; Unavailable.
    """
    told = []
    for name in STORIES:
        story = read(name)
        Player(story, store, now=now or wiring.utc_now(), embedder=embedder).play()
        told.append(overview(story.space, store=store))
    return told


@dataclass(slots=True)
class _Clock:
    """Stands where the story stands."""

    moment: datetime

    def __call__(self) -> datetime:
        return self.moment


class Player:
    """One story, played once."""

    def __init__(
        self, story: ExampleStory, store: Store, *, now: datetime, embedder: Embedder | None = None
    ) -> None:
        self._story = story
        self._now = now
        self._clock = _Clock(now - story.scenes[0].ago)
        create_space(story.space, store=store, clock=self._clock, profile=story.profile)
        self._memories = Memories.of(store, story.space, clock=self._clock, embedder=embedder)
        self._speaking = self._memories
        self._session: str | None = None
        self._message: str | None = None  # what was said last
        self._named: dict[str, str] = {}  # the story's names to ids
        self._verbs: dict[str, Callable[[Step], None]] = {
            "user": self._said,
            "assistant": self._said,
            "tool": self._said,
            "remember": self._remember,
            "revise": self._revise,
            "forget": self._forget,
            "restore": self._restore,
            "link": self._link,
            "event": self._event,
            "attempt": self._attempt,
            "brief": self._brief,
            "recall": self._recall,
            "context": self._context,
            "approve": self._approve,
            "reject": self._reject,
            "undo": self._undo,
            "model": self._model,
        }

    def play(self) -> None:
        """From the first scene to the last, and whatever upkeep is due at the end."""
        for scene in self._story.scenes:
            self._clock.moment = max(self._now - scene.ago, self._clock.moment)
            self._scene(scene)
        self._clock.moment = self._now
        self._memories.tend()

    def _scene(self, scene: Scene) -> None:
        self._session, self._message = None, None
        self._speaking = self._memories
        if scene.session is not None:
            opened = self._memories.open_session(
                scene.session["id"], **{name: value for name, value in scene.session.items() if name != "id"}
            )
            self._session = opened.id
            self._speaking = self._memories.speaking_as(
                "assistant", session=opened.id, project=opened.project
            )
        for step in scene.steps:
            self._step(step)
        if self._session is not None and scene.end is not None:
            self._advance(_STEP)
            self._memories.close_session(self._session, **scene.end)
            reason = None if scene.captured else _KEPT_OTHERWISE
            self._memories.capture(self._session, quiet=lambda project, session: reason)

    def _step(self, step: Step) -> None:
        [verb] = [name for name in step if name in self._verbs]
        self._advance(timedelta(minutes=step["after"]) if "after" in step else _STEP)
        self._verbs[verb](step)

    def _advance(self, by: timedelta) -> None:
        """Goes on, but never past the present."""
        self._clock.moment = min(self._clock.moment + by, self._now)

    # ------------------------------------------------------------------------------------------- what is said

    def _said(self, step: Step) -> None:
        [role] = [name for name in ("user", "assistant", "tool") if name in step]
        self._say(role, step[role], step.get("speaker"))

    def _say(self, role: str, text: str, speaker: str | None = None) -> None:
        assert self._session is not None, text
        said = self._memories.say(self._session, role, text, speaker=speaker)
        self._message = said.id

    def _record(self, word: str, name: str, subject: str | None, text: str) -> None:
        """An agent that records by markers writes one into its answer."""
        if self._story.markers and self._session is not None:
            self._say("assistant", written(word, name, subject, text))

    # ---------------------------------------------------------------------------------------- what is known

    def _remember(self, step: Step) -> None:
        origin = step.get("by")
        if origin is None:
            self._record("MEMORY", step["category"], step.get("subject"), step["remember"])
        about = _taken(step, "category", "subject", "summary", "project", "tags", "confidence", "importance")
        outcome = self._as(origin).remember(
            step["remember"],
            **about,
            message=self._message if self._session else None,
            doubtful=step.get("doubtful"),
        )
        memory = settled(outcome)
        if memory is not None and "as" in step:
            self._named[step["as"]] = memory.id

    def _revise(self, step: Step) -> None:
        changed = _taken(
            step, "content", "category", "subject", "summary", "tags", "confidence", "importance", "pinned"
        )
        revised = self._as(step.get("by")).revise(self._named[step["revise"]], **changed)
        if "as" in step:
            self._named[step["as"]] = revised.memory.id

    def _forget(self, step: Step) -> None:
        self._as(step.get("by")).forget(self._named[step["forget"]])

    def _restore(self, step: Step) -> None:
        self._as(step.get("by")).restore(self._named[step["restore"]])

    def _link(self, step: Step) -> None:
        one, other = step["link"]
        self._speaking.link(self._named[one], self._named[other], step.get("kind", "related"))

    def _approve(self, step: Step) -> None:
        self._memories.approve(self._named[step["approve"]])

    def _reject(self, step: Step) -> None:
        self._memories.reject(self._named[step["reject"]])

    def _undo(self, step: Step) -> None:
        self._memories.undo_session(step["undo"])

    # ------------------------------------------------------------------------------ what happened, and asking

    def _event(self, step: Step) -> None:
        self._record("EVENT", step["event"], step.get("subject"), step["text"])
        self._speaking.record_event(step["event"], step["text"], service=step.get("subject"))

    def _attempt(self, step: Step) -> None:
        result = "success" if step["succeeded"] else "failure"
        self._record("COOLDOWN", step["attempt"], step["subject"], f"{result} - {step['text']}")
        self._speaking.record_attempt(
            step["attempt"], step["subject"], step["succeeded"], content=step["text"]
        )

    def _model(self, step: Step) -> None:
        """A call of a model that nobody makes here: only what it would have cost is written down."""
        call = ModelCall(
            id=wiring.new_id(),
            purpose=step["purpose"],
            model=step["model"],
            usage=Usage(step["input"], step["output"], step.get("cached", 0)),
            micro_dollars=step["micro_dollars"],
            outcome="answered",
            session=self._session,
            created_at=self._clock(),
        )
        with self._memories.store.write(self._story.space) as tx:
            tx.spend.add(call)

    def _brief(self, step: Step) -> None:
        self._speaking.brief(subject=step["brief"] or None)

    def _recall(self, step: Step) -> None:
        self._speaking.recall(step["recall"], limit=step.get("limit", 5))

    def _context(self, step: Step) -> None:
        self._speaking.context([step["context"]])

    def _as(self, origin: Any) -> Memories:
        return self._speaking.speaking_as(origin, session=self._session) if origin else self._speaking


def _taken(step: Step, *names: str) -> dict[str, Any]:
    return {name: step[name] for name in names if name in step}
