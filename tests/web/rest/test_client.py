"""The same code in process and over HTTP: one line decides which."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast import (
    Added,
    Client,
    Conflict,
    Contradicting,
    Draft,
    Filter,
    Forbidden,
    Invalid,
    Memories,
    Merged,
    NotFound,
    Refused,
    Reinforced,
    Source,
    Unavailable,
    UpdateSuggested,
    Waiting,
)
from holdfast.domain.outcomes import settled
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.engine.sessions import NewMessage
from holdfast.errors import Outdated
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import OWN, URL, Served

Either = Memories | Client


@pytest.fixture(params=["in process", "over HTTP"])
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def memories(served: Served, how: str) -> Either:
    return _open(served, how, "default")


def _open(served: Served, how: str, space: str, profile: str = "default") -> Either:
    served.registry.memories()
    if space != "default":
        served.make(space, profile)
    if how == "in process":
        return served.registry.memories(space)
    return Client(URL, OWN, space=space, http=served.caller(None))


def _kept(memories: Either, content: str, **fields: str) -> str:
    memory = settled(memories.remember(content, **fields))  # type: ignore[arg-type]
    assert memory is not None
    return memory.id


def test_remember_find_revise_forget_and_restore(memories: Either) -> None:
    added = memories.remember("Takes 60s to start", category="timing", subject="jellyfin", tags=["slow"])
    assert isinstance(added, Added)
    assert (added.memory.space, added.memory.tags, added.memory.version) == ("default", ("slow",), 1)
    assert isinstance(
        memories.remember("Takes 60s to start", category="timing", subject="jellyfin"), Reinforced
    )

    revised = memories.revise(added.memory.id, "Takes 90s to start", expect_version=1)
    assert not isinstance(revised, Waiting)
    assert (revised.previous.content, revised.memory.content) == ("Takes 60s to start", "Takes 90s to start")
    with pytest.raises(Outdated):
        memories.revise(added.memory.id, "Takes 30s to start", expect_version=1)

    tagged = memories.revise(added.memory.id, add_tags=["disk"], drop_tags=["slow"])
    assert not isinstance(tagged, Waiting)
    assert tagged.memory.tags == ("disk",)

    details = memories.show(added.memory.id)
    assert [version.content for version in details.versions] == ["Takes 60s to start", "Takes 90s to start"]
    assert [version.number for version in details.versions] == [1, 2]
    assert memories.forget(added.memory.id).restorable
    assert memories.find().total == 0
    assert memories.find(Filter(states=("forgotten",))).memories[0].id == added.memory.id
    assert memories.restore(added.memory.id).state == "active"


def test_what_was_forgotten_is_refused_and_errors_are_the_same(memories: Either) -> None:
    memory_id = _kept(memories, "The old mail server is in rack 7", subject="mail")
    memories.forget(memory_id)

    refused = memories.remember("The old mail server is in rack 7", subject="mail")

    assert isinstance(refused, Refused)
    assert refused.known_id == memory_id
    with pytest.raises(NotFound):
        memories.show("zzzzzzzz")
    with pytest.raises(Invalid) as wrong:
        memories.remember("Something", category="weather")
    assert wrong.value.field == "category"
    with pytest.raises(Invalid) as empty:
        memories.recall(" ")
    assert empty.value.field == "query"


def test_the_same_key_answers_the_same(memories: Either) -> None:
    first = memories.remember("Deploys run on Fridays", key="k1")
    again = memories.remember("Deploys run on Fridays", key="k1")

    assert (type(first), settled(first)) == (type(again), settled(again))
    with pytest.raises(Conflict):
        memories.remember("Deploys run on Mondays", key="k1")


def test_outcomes_of_other_profiles(served: Served, how: str) -> None:
    assistant = _open(served, how, "helper", "assistant")
    assistant.remember("Alec is the user's boss", category="person", subject="Alec")
    known = assistant.remember("Alec is the user's boss", category="person", subject="Alec")
    semantic = _open(served, how, "ideas", "semantic")
    semantic.remember("The team prefers tabs over spaces", category="decision")
    merged = semantic.remember("The team prefers tabs over spaces", category="decision")
    ops = _open(served, how, "ops", "ops")
    ops.remember("Needs 60s to start", category="timing", subject="jellyfin")
    against = ops.remember("Needs 90s to start", category="timing", subject="jellyfin")

    assert isinstance(known, UpdateSuggested)
    assert (known.known.subject, known.relation) == ("Alec", "same")
    assert isinstance(merged, Merged)
    assert isinstance(against, Contradicting)
    assert [old.content for old in against.weakened] == ["Needs 60s to start"]


def test_find_with_filters_orders_and_pages(memories: Either) -> None:
    for number in range(12):
        _kept(memories, f"Fact number {number} stands alone", subject=f"subject {number}")
    memories.remember("A remark about nothing", tags=["x"], project="garden")

    assert memories.find(limit=5).total == 13
    assert [one.subject for one in memories.find(order="created", limit=2, offset=10).memories] == [
        "subject 10",
        "subject 11",
    ]
    assert [one.project for one in memories.find(Filter(tags=("x",))).memories] == ["garden"]
    assert memories.find(Filter(project="other", other_projects=False)).total == 12
    assert memories.find(Filter(created_after=datetime.now(UTC) + timedelta(days=1))).total == 0


def test_recall_brief_and_context(memories: Either) -> None:
    said = memories.say("run-1", "user", "The jellyfin server needs a minute to start", speaker="Ada")
    agent = memories.speaking_as("assistant", session="run-1")
    agent.remember("Jellyfin takes 60 seconds to start", subject="jellyfin", message=said.id)

    asking = memories.speaking_as("assistant", session="run-2")
    found = asking.recall("how long does jellyfin take to start")
    brief, again = asking.brief(), asking.brief()
    context = memories.speaking_as("assistant", session="run-3").context(["jellyfin takes long to start"])

    [hit] = found.memories
    assert isinstance(hit, MemoryHit)
    assert (hit.memory.subject, hit.memory.source.session, hit.cites) == ("jellyfin", "run-1", said)
    assert found.matched == "text"
    assert "Jellyfin takes 60 seconds" in brief.text
    assert (again.text, again.frozen) == (brief.text, True)
    assert "Jellyfin takes 60 seconds" in context.text
    quoted = memories.recall("the jellyfin server needs a minute", where=Filter(session="run-1"))
    assert {type(one) for one in quoted.hits} <= {MemoryHit, MessageHit}
    assert said.content in [one.message.content for one in quoted.hits if isinstance(one, MessageHit)] + [
        one.cites.content for one in quoted.memories if one.cites
    ]
    story = memories.why(hit.memory.id)
    assert [entry.action for entry in story.entries] == ["added"]
    assert [message.content for message in story.messages] == [said.content]
    assert {use.session for use in story.uses} == {"run-2", "run-3"}


def test_what_others_add_comes_as_a_delta_once(memories: Either) -> None:
    agent = memories.speaking_as("assistant", session="run-1")
    agent.brief()
    memories.remember("The mail server is in rack 7", subject="mail")

    assert "rack 7" in agent.delta()
    assert agent.delta() == ""
    assert memories.delta() == ""


def test_sessions_and_messages(memories: Either) -> None:
    opened = memories.open_session("s1", name="A run", tier=2)
    first = memories.say_all("s1", [NewMessage(role="user", content="one", message_id="m1")])
    again = memories.say_all(
        "s1",
        [
            NewMessage(role="user", content="one", message_id="m1"),
            NewMessage(role="assistant", content="two"),
        ],
    )
    known = memories.say("s1", "user", "one", message_id="m1")
    closed = memories.close_session("s1", exit_code=0, usage={"input_tokens": 7})

    assert (opened.name, opened.tier, opened.space) == ("A run", 2, "default")
    assert [one.content for one in first] == ["one"]
    assert [one.content for one in again] == ["two"]
    assert known.content == "one"
    assert (closed.exit_code, closed.usage) == (0, {"input_tokens": 7})
    assert [one.content for one in memories.session("s1").messages] == ["one", "two"]
    assert [one.id for one in memories.sessions(limit=5)] == ["s1"]


def test_an_id_that_another_session_has_for_something_else_is_refused_and_not_swallowed(
    memories: Either,
) -> None:
    memories.say_all("s1", [NewMessage(role="user", content="one", message_id="m1")])
    copied = memories.say_all("s2", [NewMessage(role="user", content="one", message_id="m1")])

    with pytest.raises(Conflict, match=r"already exists in session 's1': .* such as 's2:m1'"):
        memories.say_all(
            "s2",
            [NewMessage(role="user", content="new"), NewMessage(role="user", content="two", message_id="m1")],
        )
    with pytest.raises(Conflict):
        memories.say("s2", "user", "two", message_id="m1")

    assert copied == []
    assert memories.session("s2").messages == ()


def test_the_inbox_links_and_undo(memories: Either) -> None:
    waiting = memories.remember("Bread is baked on Mondays", subject="bread", doubtful="it seems odd")
    assert isinstance(waiting, Waiting)
    assert [item.memory.id for item in memories.inbox()] == [waiting.memory.id]
    [approved] = memories.approve(waiting.memory.id)
    assert approved.state == "active"

    other = _kept(memories, "The cat sleeps in the hall", subject="cat")
    assert memories.link(approved.id, other)
    assert not memories.link(approved.id, other)
    assert memories.unlink(approved.id, other) == 1

    memories.speaking_as("assistant", session="bad").remember("The moon is near", subject="moon")
    assert [one.subject for one in memories.undo_session("bad").removed] == ["moon"]


def test_events_and_cooldowns(served: Served, how: str) -> None:
    ops = _open(served, how, "ops", "ops")
    ops.record_event("warning", "disk is nearly full", service="nas")
    ops.record_event("info", "all is well")
    ops.record_attempt("restart", "nas", True, content="by hand")

    assert [event.content for event in ops.events(level="warning")] == ["disk is nearly full"]
    assert len(ops.events(limit=1)) == 1
    [standing] = ops.cooldowns()
    assert (standing.service, standing.cooldown.name, len(standing.attempts)) == ("nas", "restart", 1)
    with pytest.raises(Invalid):
        ops.record_event("loud", "boom")


def test_a_space_goes_out_and_into_another_one(served: Served, how: str, memories: Either) -> None:
    _kept(memories, "Deploys run on Fridays", subject="deploys")
    other = _open(served, how, "copy")

    [report] = other.import_archive(memories.export())
    told = other.import_drafts(
        [(7, Draft(content="The cat sleeps in the hall", source=Source(origin="import")))]
    )

    assert (report.added, report.known) == (1, 0)
    assert [(one.line, type(one.outcome)) for one in told] == [(7, Added)]
    assert other.overview().active == 2
    assert memories.find().memories[0].content == "Deploys run on Fridays"


def test_an_erased_memory_is_gone(memories: Either) -> None:
    memory_id = _kept(memories, "Something to be erased", subject="gone")

    planned = memories.erasure(memory_id)
    done = memories.erase(memory_id)

    assert (planned.memories, planned.versions) == ((memory_id,), 1)
    assert done.memories == (memory_id,)
    with pytest.raises(NotFound):
        memories.show(memory_id)


def test_a_client_knows_its_space_from_its_token_and_what_it_may_not_do(served: Served) -> None:
    served.make("ours")
    reader = Client(URL, served.token("read", spaces=("ours",)), http=served.caller(None))
    stranger = Client(URL, "hf_" + "x" * 43, http=served.caller(None))

    assert reader.space == "ours"
    with pytest.raises(Forbidden, match="scope 'tools'"):
        reader.remember("Deploys run on Fridays")
    with pytest.raises(Forbidden, match="token"):
        stranger.find()


def test_a_service_that_is_not_there_is_unavailable() -> None:
    with Client("http://127.0.0.1:9", "a token") as nobody, pytest.raises(Unavailable, match="unreachable"):
        nobody.find()


@requirement("trust.split")
def test_a_repeated_wording_is_told_by_why_and_split_off(memories: Either) -> None:
    known = _kept(memories, "The brother of Ada lives in Porto")
    memories.remember("Porto is where the brother of Ada lives")

    [wording] = memories.why(known).repetitions
    done = memories.split(known, wording.number)

    assert wording.content == done.memory.content == "Porto is where the brother of Ada lives"
    assert (done.previous.confidence, done.original.confidence) == (0.8, 0.7)
    assert memories.why(known).repetitions == ()


def test_every_change_is_of_its_speaker_and_session(memories: Either) -> None:
    here = memories.remember("The shop sells lamps", subject="shop")
    there = memories.remember("The lamp is red", subject="lamp")
    first, second = (settled(each) for each in (here, there))
    assert first is not None
    assert second is not None
    agent = memories.speaking_as("assistant", session="run-9")

    agent.link(first.id, second.id)
    agent.unlink(first.id, second.id)
    agent.forget(first.id)
    agent.restore(first.id)

    told = [(each.action, each.origin, each.session) for each in memories.why(first.id).entries]
    by_agent = {action: (origin, session) for action, origin, session in told[1:]}
    assert set(by_agent.values()) == {("assistant", "run-9")}
    assert {"linked", "unlinked", "forgotten", "restored"} <= by_agent.keys()


def test_a_tool_cannot_promote_what_a_person_said(memories: Either) -> None:
    made = settled(memories.remember("Only staging is heron", project="shop"))
    assert made is not None

    result = memories.speaking_as("tool").promote(made.id)

    assert isinstance(result, Waiting)
    assert memories.show(made.id).memory.project == "shop"
