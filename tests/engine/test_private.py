"""What is private to a person is seen with that person's tokens alone, whatever is asked.

Every verb is called, by its name; one without an example here fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import GeneratorType
from typing import Any

import pytest

from holdfast import Memories
from holdfast.domain.access import Grant
from holdfast.domain.dialogue import Dialogue, Turn
from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Added, Contradicting, Reinforced, Waiting
from holdfast.domain.query import EVERYTHING, Filter, SessionFilter
from holdfast.engine.sessions import NewMessage
from holdfast.errors import Forbidden, HoldfastError, Invalid, NotFound
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.store.some_vectors import Hashing
from tests.test_grants import VERBS

#: In every text and label of what is private to ana, and nowhere else.
CANARY = "zyzzyva"
_SESSION = "anas-run"


@dataclass(frozen=True)
class Space:
    """A space in which ana keeps private memories, and how each of its people enters it."""

    owner: Memories
    shared: str
    private: tuple[str, ...]
    since: int

    def as_person(self, person: str | None, *scopes: str) -> Memories:
        grant = Grant.of(*scopes, token=f"token of {person}")
        return self.owner.granted(replace(grant, person=person)).speaking_as("user")


@pytest.fixture
def space(database_url: str, clock: FixedClock) -> Iterator[Space]:
    with Memories.open(database_url, clock=clock, embedder=Hashing()) as owner:
        yield planted(owner, clock)


def planted(owner: Memories, clock: FixedClock) -> Space:
    """Private memories in each state, with all that belongs to a memory."""
    shared = _id(owner.remember("The export runs at night", subject="export", category="timing"))
    empty = Space(owner, shared, (), 0)
    ana = empty.as_person("ana", "write").speaking_as("user", session=_SESSION)
    labels: dict[str, Any] = {"subject": CANARY, "summary": f"{CANARY} in short", "tags": [CANARY]}
    labels |= {"project": CANARY, "category": "fact", "private": True}
    first = _id(ana.remember(f"The {CANARY} ferry takes 60 s to leave the harbour", **labels))
    ana.remember(f"The {CANARY} ferry takes 60 s to leave the harbour.", **labels, key=CANARY)
    ana.remember(f"The {CANARY} ferry takes about 60 s to leave the harbour", **labels)
    ana.revise(first, f"The {CANARY} ferry takes 61 s to leave the harbour")
    second = _id(ana.remember(f"The {CANARY} ferry takes 30 s to leave the harbour", **labels))
    third = _id(ana.remember(f"Ana prefers the {CANARY} harbour", private=True, category="preference"))
    ana.link(third, second)
    ana.brief(project=CANARY)
    ana.recall(f"how long does the {CANARY} ferry take", project=CANARY)
    ana.context([f"How long does the {CANARY} ferry take to leave?"], project=CANARY)
    ana.recall(f"when does the export to the {CANARY} ferry run", where=Filter(), threshold=0.0)
    gone = _id(ana.remember(f"The {CANARY} ferry was painted red", **labels))
    ana.forget(gone)
    waiting = _id(ana.remember(f"The {CANARY} ferry may be sold", **labels, doubtful=f"{CANARY} says so"))
    turned = _id(ana.remember(f"The {CANARY} ferry has two decks", category="fact"))
    ana.revise(turned, private=True)
    since = owner.last_change()
    clock.advance(days=1)
    return Space(owner, shared, (first, second, third, gone, waiting, turned), since)


def _id(outcome: object) -> str:
    assert isinstance(outcome, Added | Contradicting | Reinforced | Waiting), outcome
    return outcome.memory.id


def _dialogue(text: str) -> Dialogue:
    turn = Turn(role="user", text=text, place=0)
    return Dialogue(turns=(turn,), session=_SESSION)


Call = Callable[[Memories, str], object]

#: Each verb that is about one memory, with its id.
ABOUT_ONE: Mapping[str, Call] = {
    "approve": lambda m, one: m.approve(one),
    "around": lambda m, one: m.around(one),
    "delete_file": lambda m, one: m.delete_file(f"{one}.md"),
    "erase": lambda m, one: m.erase(one),
    "erasure": lambda m, one: m.erasure(one),
    "feedback": lambda m, one: m.feedback(one),
    "file": lambda m, one: m.file(f"{one}.md"),
    "forget": lambda m, one: m.forget(one),
    "link": lambda m, one: m.link(one, one[::-1]),
    "linked": lambda m, one: m.linked(one),
    "message": lambda m, one: m.message(one),
    "promote": lambda m, one: m.promote(one),
    "reject": lambda m, one: m.reject(one),
    "rename_file": lambda m, one: m.rename_file(f"{one}.md", "other.md"),
    "restore": lambda m, one: m.restore(one),
    "review_items": lambda m, one: m.review_items(one),
    "revise": lambda m, one: m.revise(one, "The ferry is slow"),
    "show": lambda m, one: m.show(one),
    "split": lambda m, one: m.split(one, 1),
    "undo": lambda m, one: m.undo(one, since=0),
    "unlink": lambda m, one: m.unlink(one, one[::-1]),
    "why": lambda m, one: m.why(one),
}
#: All others.
CALLS: Mapping[str, Call] = {
    **ABOUT_ONE,
    "access_log": lambda m, one: m.access_log(),
    "attention": lambda m, one: m.attention(),
    "audit": lambda m, one: m.audit(),
    "bind_directory": lambda m, one: m.directory(),
    "brief": lambda m, one: (m.speaking_as("user", session=_SESSION).brief(project="zyzzyva"), m.brief()),
    "cache_report": lambda m, one: m.cache_report(_SESSION),
    "capture": lambda m, one: m.capture(),
    "capture_due": lambda m, one: m.capture_due(),
    "close_session": lambda m, one: m.close_session(_SESSION),
    "context": lambda m, one: (
        m.context(["How long does the ferry take to leave the harbour?"], project="zyzzyva"),
        m.context(["How long does the ferry take?"], project="zyzzyva", explain=True),
    ),
    "cooldowns": lambda m, one: m.cooldowns(),
    "delta": lambda m, one: m.speaking_as("user", session=_SESSION).delta(),
    "directory": lambda m, one: m.directory(),
    "embed": lambda m, one: m.embed(10),
    "events": lambda m, one: m.events(),
    "events_by_day": lambda m, one: m.events_by_day(m._ctx.now()),
    "export": lambda m, one: m.export(),
    "file_index": lambda m, one: m.file_index(),
    "files": lambda m, one: m.files(),
    "find": lambda m, one: [
        m.find(EVERYTHING),
        m.find(EVERYTHING, order="recent", limit=10),
        m.find(EVERYTHING, order="confidence", limit=10, group="subject"),
        m.find(replace(EVERYTHING, text="ferry")),
        m.find(replace(EVERYTHING, session=_SESSION)),
        m.find(replace(EVERYTHING, person="ana")),
        m.find(EVERYTHING, as_of=m._ctx.now()),
    ],
    "find_memory": lambda m, one: m.find_memory(one[:6]),
    "projects": lambda m, one: m.projects(),
    "unread_sessions": lambda m, one: m.unread_sessions(),
    "find_session": lambda m, one: m.find_session("last"),
    "group_sizes": lambda m, one: sum(m.group_sizes(EVERYTHING, "subject", ["zyzzyva"]).values()) and 1 / 0,
    "import_archive": lambda m, one: m.import_archive(m.export(), dry_run=True),
    "import_batches": lambda m, one: list(m.import_batches([(1, Draft(content="A ferry leaves at six"))])),
    "import_drafts": lambda m, one: m.import_drafts([(1, Draft(content="A ferry leaves at seven"))]),
    "inbox": lambda m, one: m.inbox(),
    "jobs": lambda m, one: [m.jobs(state) for state in ("queued", "done", "failed")],
    "last_change": lambda m, one: m.last_change(),
    "look": lambda m, one: m.look("how long does the ferry take to leave the harbour"),
    "models": lambda m, one: m.models(),
    "name_session": lambda m, one: m.name_session(_SESSION, "a run"),
    "open_session": lambda m, one: m.open_session(_SESSION),
    "overview": lambda m, one: m.overview(),
    "proxy_context": lambda m, one: m.proxy_context(_dialogue("How long does the ferry take to leave?")),
    "proxy_record": lambda m, one: m.proxy_record(_dialogue("How long does the ferry take to leave?")),
    "put_file": lambda m, one: m.put_file("notes.md", "A note about ferries"),
    "read_again": lambda m, one: m.read_again(),
    "read_due": lambda m, one: m.read_due(),
    "recall": lambda m, one: [
        m.recall("how long does the ferry take to leave the harbour", where=Filter(), threshold=0.0),
        m.recall("ferry", where=EVERYTHING, threshold=0.0, limit=50),
        m.recall("ferry", as_of=m._ctx.now(), threshold=0.0),
        m.speaking_as("user", session=_SESSION).recall("the ferry", where=Filter(), threshold=0.0),
    ],
    "recapture": lambda m, one: m.recapture(dry_run=True),
    "record_attempt": lambda m, one: m.record_attempt("restart", "ferry", True),
    "record_event": lambda m, one: m.record_event("info", "a ferry left"),
    "remember": lambda m, one: [
        m.remember(f"The ferry takes {seconds} s to leave the harbour", category="fact", unattended=True)
        for seconds in (30, 60, 61, 90)
    ],
    "review": lambda m, one: m.review(),
    "say": lambda m, one: m.say(_SESSION, "user", "the ferry left"),
    "say_all": lambda m, one: m.say_all(_SESSION, [NewMessage(role="user", content="it left again")]),
    "session": lambda m, one: m.session(_SESSION),
    "session_story": lambda m, one: m.session_story(_SESSION),
    "session_tallies": lambda m, one: m.session_tallies(_SESSION),
    "session_titles": lambda m, one: m.session_titles(_SESSION),
    "session_totals": lambda m, one: m.session_totals(SessionFilter()),
    "session_values": lambda m, one: m.session_values("project"),
    "sessions": lambda m, one: m.sessions(),
    "spend": lambda m, one: m.spend(),
    "stats": lambda m, one: m.stats(),
    "store": lambda m, one: None,  # for programs that hold the database
    "subject_story": lambda m, one: [m.subject_story("zyzzyva"), m.subject_story(None)],
    "subjects": lambda m, one: m.subjects(),
    "sync_directory": lambda m, one: m.sync_directory(),
    "take_session": lambda m, one: m.take_session("other", [NewMessage(role="user", content="hello")]),
    "tend": lambda m, one: m.tend(),
    "tend_preview": lambda m, one: m.tend_preview(),
    "try_models": lambda m, one: m.try_models(),
    "unbind_directory": lambda m, one: m.unbind_directory(),
    "undo_session": lambda m, one: m.undo_session(_SESSION),
    "undo_session_preview": lambda m, one: m.undo_session_preview(_SESSION),
    "upkeep": lambda m, one: m.upkeep(),
    "write_file": lambda m, one: m.write_file("other.md", "A note about harbours"),
}
#: Those that tell the id of a memory which they were given, and nothing of it, or ids of what was read.
IDS_ONLY = ("access_log",)


def asked(space: Space) -> Iterator[tuple[str, str]]:
    """Each verb with what it is asked about."""
    for verb in VERBS:
        for one in space.private if verb in ABOUT_ONE else space.private[:1]:
            yield verb, one


def answer(call: Call, memories: Memories, one: str) -> str:
    """All that a call tells, also by its error."""
    try:
        told = call(memories, one)
        return repr(list(told) if isinstance(told, GeneratorType) else told)
    except HoldfastError as error:
        return f"{type(error).__name__}: {error} {error.command}".replace(one, "ID")


@requirement("team.private")
@pytest.mark.parametrize("person", ["ben", None])
def test_no_verb_tells_another_person_what_is_private(space: Space, person: str | None) -> None:
    other = space.as_person(person, "admin")

    told = {(verb, one): answer(CALLS[verb], other, one) for verb, one in asked(space)}

    told["why", "shared"] = answer(CALLS["why"], other, space.shared)
    leaks = {key: text for key, text in told.items() if CANARY in text}
    named = [verb for (verb, _), text in told.items() if any(one in text for one in space.private)]
    assert leaks == {}
    assert [verb for verb in named if verb not in IDS_ONLY] == []


@requirement("team.private")
def test_a_private_memory_is_like_one_that_is_not_there(space: Space) -> None:
    other, unknown = space.as_person("ben", "admin"), "abcdefgh"
    about_one = [verb for verb, call in ABOUT_ONE.items() if "NotFound" in answer(call, other, unknown)]

    different = [
        (verb, one)
        for verb in about_one
        for one in space.private
        if answer(CALLS[verb], other, one) != answer(CALLS[verb], other, unknown)
    ]

    assert different == []
    assert len(about_one) > 15


@requirement("team.private")
def test_nothing_that_others_call_changes_what_is_private(space: Space) -> None:
    ana = space.as_person("ana", "admin")
    before = {one: replace(ana.why(one), session=None) for one in space.private}

    for verb, one in asked(space):
        answer(CALLS[verb], space.as_person("ben", "admin"), one)

    assert {one: replace(ana.why(one), session=None) for one in space.private} == before
    assert any(story.repetitions and story.links for story in before.values())


@requirement("team.private")
def test_its_person_and_the_holder_of_the_database_see_it_and_its_mark(space: Space) -> None:
    ana = space.as_person("ana", "admin")
    first, _, third, *_ = space.private
    verbs = (
        "brief",
        "context",
        "export",
        "find",
        "inbox",
        "look",
        "recall",
        "review",
        "session_story",
        "stats",
    )

    told = {verb: answer(CALLS[verb], ana, first) for verb in (*verbs, "show", "subjects", "why")}

    assert [verb for verb, text in told.items() if CANARY not in text and verb != "stats"] == []
    assert [space.owner.show(one).memory.private for one in space.private] == [True] * len(space.private)
    assert '"private": true' in "".join(space.owner.export()).replace('":true', '": true')
    assert CANARY not in space.owner.brief(project=CANARY).text  # of no other person in any prompt
    assert ana.forget(third).memory.id == third


@requirement("team.private")
def test_what_one_keeps_private_is_no_duplicate_for_others_nor_the_other_way_round(space: Space) -> None:
    ana, ben = space.as_person("ana", "write"), space.as_person("ben", "write")
    text = "The badge reader needs a new battery"

    kept = ana.remember(text, category="fact", private=True)
    by_ben = ben.remember(text, category="fact")
    bens = ben.remember("The badge reader needs a new battery", category="fact", private=True)
    contradicting = ana.remember("The badge reader needs no new battery", category="fact")

    assert [type(each) for each in (kept, by_ben, bens)] == [Added] * 3
    assert isinstance(contradicting, Added | Contradicting)
    assert ana.show(_id(kept)).memory.confidence == 0.7
    assert not ana.show(_id(kept)).links
    assert not ben.show(_id(bens)).links


@requirement("team.private")
def test_what_one_deleted_privately_is_refused_to_that_person_alone(space: Space) -> None:
    ana, ben = space.as_person("ana", "write"), space.as_person("ben", "write")
    text = "The spare key is under the third stone"
    ana.forget(_id(ana.remember(text, category="fact", private=True)))

    again, shared = ana.remember(text, category="fact", private=True), ben.remember(text, category="fact")

    assert type(again).__name__ == "Refused"
    assert isinstance(shared, Added)


@requirement("team.private")
def test_a_memory_that_becomes_private_leaves_what_others_see(space: Space) -> None:
    ana, ben = space.as_person("ana", "write"), space.as_person("ben", "admin")
    one = _id(ana.remember("The quokka house opens at nine", category="fact"))
    other = _id(ben.remember("The zoo has a shop", category="fact"))
    ben.link(other, one)
    ben.speaking_as("user", session="bens-run").brief()

    ana.revise(one, private=True)

    seen = [answer(call, ben, other) for verb, call in CALLS.items() if verb not in ("erase", "forget")]
    assert "quokka" not in "".join(seen)
    assert ana.show(one).links == ()
    ana.revise(one, private=False)
    assert ben.show(one).memory.content.startswith("The quokka")


@requirement("team.private")
def test_only_a_person_can_keep_something_private_and_only_what_that_person_wrote(space: Space) -> None:
    nobody, ben = space.as_person(None, "admin"), space.as_person("ben", "write")
    anas = _id(space.as_person("ana", "write").remember("The gate is green", category="fact"))

    for call in (
        lambda: nobody.remember("A secret of nobody", private=True),
        lambda: ben.revise(anas, private=True),
        lambda: nobody.revise(anas, private=True),
        lambda: ben.speaking_as("user", person="ana").remember("In another's name"),
    ):
        with pytest.raises((Invalid, Forbidden)):
            call()


@requirement("team.private")
def test_an_archive_of_another_person_can_not_open_what_is_private(space: Space) -> None:
    ben, before = space.as_person("ben", "admin"), "".join(space.owner.export())
    opened = before.replace('"private":true', '"private":false')

    with pytest.raises((Invalid, NotFound, HoldfastError)):
        ben.import_archive(opened.splitlines(keepends=True))
    with suppress(HoldfastError):
        ben.import_archive(before.splitlines(keepends=True))

    assert CANARY not in answer(CALLS["find"], ben, space.shared)
