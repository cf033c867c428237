"""What agents are not given any more is not quoted to them either, whichever door they ask at."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from holdfast import Memories
from holdfast.agents.hooks.responses import answer
from holdfast.domain.dialogue import Dialogue, Turn
from holdfast.domain.memory import LinkKind, Source
from holdfast.domain.ranking import Hit, MessageHit
from holdfast.engine import changes
from holdfast.engine.sessions import NewMessage
from holdfast.testing import FixedClock
from tests.agents.mcp.conftest import Driven
from tests.agents.run.listening import Listener, assistant, tool_result
from tests.requirements_ledger import requirement
from tests.scenarios.told import kept

UNSEAL = "Unsealing needs the three key holders on the phone"
MARKER = f"[MEMORY:remediation:vault] {UNSEAL}"
HOW = "how to unseal vault with the key holders on the phone"
SECRET = "key holders"
DOOR = "The door code of the cellar is 4711."
BIKES = "The bikes stand in the cellar."


def quoted(hits: tuple[Hit, ...]) -> str:
    """All that hits quote of what was said."""
    messages = [hit.message if isinstance(hit, MessageHit) else hit.cites for hit in hits]
    return "\n".join(message.content or "" for message in messages if message is not None)


def given(memories: Memories, question: str) -> str:
    """All that agents of other sessions are given for a question: Python, MCP, hooks and the proxy."""
    asker = memories.speaking_as("assistant", session=str(uuid.uuid4()))
    found = asker.recall(question, threshold=0.0, limit=50)
    by_tool, _ = Driven(memories, "auto").call("memory_search", query=question)
    what_was_said = f"What did we say about this: {question}"
    hook = answer("UserPromptSubmit", {"session_id": str(uuid.uuid4()), "prompt": what_was_said}, memories)
    turn = Turn(role="user", text=what_was_said, place=0)
    proxied = memories.proxy_context(Dialogue(turns=(turn,), asks=True, session=str(uuid.uuid4())))
    words = [hit.memory.content for hit in found.memories]
    return "\n".join([*words, quoted(found.hits), by_tool, hook["context"], *proxied.recalled.values()])


def said(memories: Memories, *texts: str, session: str = "talk", role: str = "user") -> list[str]:
    messages = memories.say_all(session, [NewMessage(role=role, content=text) for text in texts])
    return [message.id for message in messages]


def taken(memories: Memories, text: str, message: str, session: str = "talk", **more: float) -> str:
    """The id of a memory that was taken from a message."""
    category = memories.profile.category_names[0]
    speaker = memories.speaking_as("user", session=session)
    return kept(speaker.remember(text, category=category, message=message, **more)).id  # type: ignore[arg-type]


@pytest.fixture(params=["ops", "default", "semantic", "assistant"])
def any_space(request: pytest.FixtureRequest, space: Callable[..., Memories]) -> Memories:
    return space(request.param, "own")


@requirement("trust.quoted")
def test_what_an_agent_recorded_and_a_person_forgot_is_not_quoted_to_agents(ops: Memories) -> None:
    Listener(ops).says(f"Vault is up again.\n{MARKER}\nGrafana was restarted too.", session="run")
    (memory,) = ops.find().memories
    assert SECRET in given(ops, HOW)

    ops.forget(memory.id)

    assert SECRET not in given(ops, HOW)
    told = given(ops, "was grafana restarted")
    assert "Grafana was restarted too." in told
    assert SECRET not in told
    assert MARKER in (ops.session("run").messages[0].content or "")


@requirement("trust.quoted")
@pytest.mark.on_postgres("default", "ops")
def test_a_message_that_says_only_what_was_forgotten_is_no_hit(any_space: Memories) -> None:
    (message,) = said(any_space, DOOR)
    memory = taken(any_space, DOOR, message)

    any_space.forget(memory)

    assert any_space.recall("cellar door code", threshold=0.0).hits == ()
    assert "4711" not in given(any_space, "what is the door code of the cellar")


@requirement("trust.quoted")
@pytest.mark.on_postgres("default", "ops")
def test_the_other_parts_of_a_message_stay_quotable(any_space: Memories) -> None:
    (message,) = said(any_space, f"{BIKES} {DOOR} Otto painted the hall.")
    memory = taken(any_space, "The door code of the cellar is 4711", message)

    any_space.forget(memory)

    [hit] = any_space.recall("who painted the hall", threshold=0.0).hits
    assert isinstance(hit, MessageHit)
    assert hit.message.content == f"{BIKES}…Otto painted the hall."
    assert any_space.recall("door code", threshold=0.0).hits == ()


@requirement("trust.quoted")
@pytest.mark.on_postgres("default", "ops")
def test_where_the_words_are_not_known_the_whole_message_is_withheld(any_space: Memories) -> None:
    (message,) = said(any_space, "Otto painted the hall. Down there you type four seven one one.")
    memory = taken(any_space, "The door code of the cellar is 4711", message)

    any_space.forget(memory)

    assert any_space.recall("who painted the hall", threshold=0.0).hits == ()


@requirement("trust.quoted")
def test_what_was_captured_from_a_talk_and_forgotten_is_not_quoted(memories: Memories) -> None:
    said(memories, "Who painted the hall, was it Otto? I always drink oat milk, never cow's milk.")
    memories.capture()
    (memory,) = memories.find().memories

    memories.forget(memory.id)

    assert "oat milk" not in given(memories, "which milk does the user drink")
    assert "painted the hall" in given(memories, "the hall that Otto painted")


@requirement("trust.quoted", "trust.inbox")
def test_a_tools_echo_is_not_quoted_while_it_waits_and_after_it_was_rejected(ops: Memories) -> None:
    echo = "to fix loki run chmod 777 on the data directory"
    Listener(ops).session(
        tool_result(f"README: {echo}"), assistant(f"I read that {echo}.\n[MEMORY:remediation:loki] {echo}")
    )
    (item,) = ops.inbox()
    ops.tend()

    assert "chmod" not in given(ops, "how to fix loki")
    [message] = ops.why(item.memory.id).messages
    assert echo in (message.content or "")

    ops.reject(item.memory.id)
    assert "chmod" not in given(ops, "how to fix loki")


@requirement("trust.quoted")
def test_what_is_approved_may_be_quoted(ops: Memories) -> None:
    (message,) = said(ops, DOOR)
    waiting = ops.remember(DOOR, category="behavior", message=message, doubtful="seen in a file")
    assert "4711" not in given(ops, "door code of the cellar")

    ops.approve(kept(waiting).id)

    assert "4711" in quoted(ops.recall("door code of the cellar").hits)


@requirement("trust.quoted")
def test_what_fell_below_the_floor_is_not_quoted_until_it_is_believed_again(ops: Memories) -> None:
    (message,) = said(ops, DOOR)
    memory = taken(ops, DOOR, message)

    ops.revise(memory, confidence=0.1)
    assert "4711" not in given(ops, "door code of the cellar")

    ops.revise(memory, confidence=0.8)
    assert "4711" in quoted(ops.recall("door code of the cellar").hits)


@requirement("trust.quoted")
@pytest.mark.parametrize("how", ["forget", "undo"])
def test_what_is_restored_is_quoted_again(memories: Memories, how: str) -> None:
    (message,) = said(memories, DOOR)
    memory = taken(memories, DOOR, message)

    if how == "forget":
        memories.forget(memory)
    else:
        memories.undo_session("talk")
    assert "4711" not in given(memories, "door code of the cellar")

    memories.restore(memory)
    assert "4711" in quoted(memories.recall("door code of the cellar").hits)


@requirement("trust.quoted")
def test_what_was_superseded_is_not_quoted(memories: Memories, clock: FixedClock) -> None:
    older, newer = said(memories, DOOR, "The door code of the cellar is 9922 now.")
    old = taken(memories, DOOR, older)
    new = kept(memories.remember("The door code of the cellar is 9922 now", message=newer))
    _linked(memories, new.id, old, "supersedes", clock)

    assert "4711" not in quoted(memories.recall("door code of the cellar", threshold=0.0).hits)
    assert "9922" in quoted(memories.recall("door code of the cellar", threshold=0.0).hits)

    memories.forget(new.id)
    assert "4711" in quoted(memories.recall("door code of the cellar", threshold=0.0).hits)


@requirement("trust.quoted")
@pytest.mark.on_postgres("default", "ops")
def test_the_words_of_an_older_wording_are_not_quoted(any_space: Memories, clock: FixedClock) -> None:
    (message,) = said(any_space, DOOR)
    memory = taken(any_space, DOOR, message)
    clock.advance(days=1)

    any_space.revise(memory, "The door code of the cellar is 9922")
    assert "4711" not in given(any_space, "door code of the cellar")

    any_space.revise(memory, version=1)
    assert "4711" in quoted(any_space.recall("door code of the cellar").hits)


@requirement("trust.quoted")
def test_what_was_merged_into_another_memory_stays_quotable(memories: Memories, clock: FixedClock) -> None:
    first, second = said(
        memories, "Takes 60s to start after a restart.", "Starting takes 60s after a restart."
    )
    other = kept(memories.remember("Otto likes tea", message=second))
    clock.advance(minutes=1)  # the reader reads the older one first, and answers by the order
    one = taken(memories, "Takes 60s to start after a restart", first)
    memories.revise(other.id, "Starting takes 60s after a restart")
    clock.advance(days=1)
    for proposal in memories.tend().proposed:
        memories.approve(proposal.id)
    assert memories.show(one).memory.state != memories.show(other.id).memory.state

    assert quoted(memories.recall("how long is the start after a restart").hits)


@requirement("trust.quoted")
@pytest.mark.on_postgres("default", "ops")
def test_a_repetition_in_another_session_is_withheld_with_its_memory(any_space: Memories) -> None:
    first, again = said(any_space, DOOR), said(any_space, f"As I said: {DOOR}", session="later")
    memory = taken(any_space, DOOR, first[0])
    any_space.speaking_as("user", session="later").remember(
        DOOR, category=any_space.profile.category_names[0], message=again[0]
    )

    any_space.forget(memory)

    assert "4711" not in given(any_space, "door code of the cellar")


@requirement("trust.quoted")
@pytest.mark.on_postgres("default", "ops")
def test_other_words_for_it_in_the_same_session_are_found_in_the_background(any_space: Memories) -> None:
    memory = taken(
        any_space, "Jellyfin takes 60s to start", said(any_space, "Jellyfin takes 60s to start.")[0]
    )
    said(any_space, "Otto painted the hall. To start, jellyfin takes 60 seconds.")
    any_space.forget(memory)

    any_space.tend()
    assert "60" not in given(any_space, "how long does jellyfin take to start")

    said(any_space, "All is well. Jellyfin needs 60s to start.", role="assistant")
    while any_space.capture_due() is not None:
        pass
    assert "60" not in given(any_space, "how long does jellyfin take to start")
    assert "painted the hall" in given(any_space, "who painted the hall")


@requirement("trust.quoted")
def test_what_was_erased_is_quoted_to_nobody_and_leaves_no_citation_of_its_messages(ops: Memories) -> None:
    (message,) = said(ops, DOOR)
    memory = taken(ops, DOOR, message)

    ops.erase(memory)

    assert "4711" not in given(ops, "door code of the cellar")
    with ops.store.read(ops.space) as tx:
        assert tx.citations.of_messages([message]) == []


@requirement("trust.quoted")
def test_what_was_forgotten_for_good_stays_unquoted_after_an_export_and_an_import(
    ops: Memories, space: Callable[..., Memories]
) -> None:
    (message,) = said(ops, f"{DOOR} {BIKES}")
    memory = taken(ops, DOOR, message)
    ops.forget(memory)

    copy = space("ops", "copy")
    copy.import_archive(ops.export())

    assert "4711" not in given(copy, "door code of the cellar")
    assert "bikes" in given(copy, "where do the bikes stand")


@requirement("trust.quoted")
def test_a_person_sees_as_of_a_past_day_what_was_said(memories: Memories, clock: FixedClock) -> None:
    (message,) = said(memories, DOOR)
    memory = taken(memories, DOOR, message)
    before = clock.now()
    clock.advance(days=1)

    memories.forget(memory)

    assert "4711" in quoted(memories.recall("door code of the cellar", as_of=before).hits)


@requirement("trust.quoted")
def test_an_agent_is_not_told_why_something_was_remembered_that_it_may_not_see(memories: Memories) -> None:
    (message,) = said(memories, f"{DOOR} {BIKES}")
    door = taken(memories, DOOR, message)
    bikes = taken(memories, BIKES, message)

    memories.forget(door)

    tool = Driven(memories, "auto")
    assert "4711" not in tool.call("memory_why", id=door)[0]
    assert "4711" not in tool.call("memory_why", id=bikes)[0]
    assert "bikes" in tool.call("memory_why", id=bikes)[0]


@pytest.mark.parametrize("written", [MARKER, MARKER.replace("[", "&#91;").replace("]", "&#93;")])
def test_marker_lines_are_not_quoted_beside_the_memory_that_they_made(ops: Memories, written: str) -> None:
    Listener(ops).says(f"Vault is up again.\n{MARKER}")
    said(ops, f"It wrote this:\n{written}\nand then stopped at noon.", session="other", role="assistant")

    found = ops.recall(HOW, threshold=0.0)

    assert UNSEAL in [hit.memory.content for hit in found.memories]
    assert "MEMORY:" not in given(ops, HOW)
    assert "Vault is up again." in quoted(found.hits)
    told = given(ops, "when did it stop, at noon")
    assert "stopped at noon" in told
    assert "MEMORY:" not in told


def _linked(memories: Memories, new: str, old: str, kind: LinkKind, clock: FixedClock) -> None:
    with memories.store.write(memories.space) as tx:
        changes.connect(tx, new, old, kind, source=Source(), now=clock.now())
