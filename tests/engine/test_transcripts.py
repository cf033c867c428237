"""A session of the past: kept once, with its own times, whatever is known of it already."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.memory import Message, Session
from holdfast.engine.sessions import NewMessage
from holdfast.engine.transcripts import SessionNotes
from holdfast.errors import Invalid
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)
ENDED = BEGAN + timedelta(hours=1)
SAID = [
    NewMessage(role="user", content="Staging moved to Frankfurt", message_id="m1", said_at=BEGAN),
    NewMessage(role="assistant", content="Noted", message_id="m2", said_at=ENDED),
]


@pytest.fixture
def memories(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    with Memories.of(open_store(database_url), "default", clock=clock) as opened:
        yield opened


def kept(memories: Memories, session_id: str = "s1") -> tuple[Session | None, list[Message]]:
    with memories.store.read(memories.space) as tx:
        return tx.sessions.get(session_id), tx.sessions.messages(session_id)


@requirement("sem.session")
def test_a_session_of_the_past_is_kept_with_its_own_id_place_and_times(memories: Memories) -> None:
    new = memories.take_session(
        "s1",
        SAID,
        name="Moving",
        client="claude-code",
        directory="/srv/shop",
        project="shop",
        started_at=BEGAN,
        ended_at=ENDED,
    )

    session, messages = kept(memories)
    assert new == 2
    assert session == Session(
        id="s1",
        space="default",
        name="Moving",
        client="claude-code",
        directory="/srv/shop",
        project="shop",
        started_at=BEGAN,
        ended_at=ENDED,
    )
    assert [(one.number, one.role, one.content, one.said_at) for one in messages] == [
        (1, "user", "Staging moved to Frankfurt", BEGAN),
        (2, "assistant", "Noted", ENDED),
    ]


@requirement("sem.tap.logs")
def test_taking_it_again_changes_nothing(memories: Memories, clock: FixedClock) -> None:
    memories.take_session("s1", SAID, project="shop", started_at=BEGAN, ended_at=ENDED)
    before = (list(memories.export()), kept(memories))
    clock.advance(days=1)

    again = memories.take_session("s1", SAID, project="shop", started_at=BEGAN, ended_at=ENDED)

    assert again == 0
    assert (list(memories.export()), kept(memories)) == before


def test_what_is_new_follows_what_is_known(memories: Memories) -> None:
    memories.take_session("s1", SAID, started_at=BEGAN, ended_at=ENDED)
    later = NewMessage(role="user", content="And back", message_id="m3", said_at=ENDED + timedelta(hours=1))

    new = memories.take_session("s1", [*SAID, later], started_at=BEGAN, ended_at=later.said_at)

    session, messages = kept(memories)
    assert new == 1
    assert [one.content for one in messages] == ["Staging moved to Frankfurt", "Noted", "And back"]
    assert session is not None
    assert session.ended_at == later.said_at


@requirement("sem.tap.logs")
def test_another_text_under_a_known_id_is_kept_beside_it_and_said_once(memories: Memories) -> None:
    other = NewMessage(role="user", content="Staging moved to Dublin", message_id="m1", said_at=ENDED)
    memories.take_session("s1", SAID)
    notes = SessionNotes()

    assert memories.take_session("s1", [other, SAID[1]], notes=notes, dry_run=True) == 1
    assert memories.take_session("s1", [other, SAID[1]], notes=notes) == 1
    assert memories.take_session("s1", [other, SAID[1]], notes=notes) == 0

    texts = [one.content for one in kept(memories)[1]]
    assert texts == ["Staging moved to Frankfurt", "Noted", "Staging moved to Dublin"]
    assert notes.changed == ["m1", "m1"]


def test_two_texts_under_one_id_that_come_together_are_both_kept(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    other = NewMessage(role="user", content="Staging moved to Dublin", message_id="m1", said_at=ENDED)

    assert memories.take_session("s1", [SAID[0], other, SAID[0]]) == 2

    assert [one.content for one in kept(memories)[1]] == [SAID[0].content, other.content]
    assert "another text" in caplog.text
    assert "Dublin" not in caplog.text


@requirement("trust.export-erase")
def test_what_was_erased_does_not_come_back_with_its_id(memories: Memories) -> None:
    memories.take_session("s1", SAID)
    with memories.store.write(memories.space) as tx:
        tx.sessions.silence(["m1"])

    assert memories.take_session("s1", SAID) == 0

    assert [one.content for one in kept(memories)[1]] == [None, "Noted"]


def test_a_session_that_goes_on_here_is_not_ended_by_its_transcript(
    memories: Memories, clock: FixedClock
) -> None:
    memories.open_session("s1", client="codex", project="live")

    memories.take_session("s1", SAID, client="claude-code", name="Moving", project="shop", ended_at=ENDED)

    session, _ = kept(memories)
    assert session is not None
    assert (session.client, session.project, session.name) == ("codex", "live", "Moving")
    assert (session.started_at, session.ended_at) == (clock.now(), None)


@requirement("trust.secrets")
def test_secrets_are_taken_out_of_what_was_said_and_of_names(memories: Memories) -> None:
    secret = "ghp_" + "aB3dE5gH" * 5
    said = [NewMessage(role="user", content=f"the token is {secret}", message_id="m1")]

    memories.take_session("s1", said, name=f"with {secret}", directory=f"/srv/{secret}")

    assert secret not in "".join(memories.export())


def test_a_long_session_is_kept_in_parts(memories: Memories) -> None:
    said = [
        NewMessage(role="user", content=f"line {number}", message_id=f"m{number}") for number in range(1_203)
    ]

    assert memories.take_session("s1", said) == 1_203
    assert memories.take_session("s1", said) == 0
    assert [one.number for one in kept(memories)[1]] == list(range(1, 1_204))


@pytest.mark.parametrize("session_id", ["", " s", "a\nb", "x" * 300])
def test_an_id_that_can_be_none_is_refused(memories: Memories, session_id: str) -> None:
    with pytest.raises(Invalid, match="invalid id"):
        memories.take_session(session_id, SAID)


def test_a_long_message_is_read_over_several_calls_and_kept_as_in_one(memories: Memories) -> None:
    long = "".join(f"Line {number} of the log\n" for number in range(4_000)) + "password=hunter2x\n<private>x"
    said = [NewMessage(role="user", content=long, message_id="m1", said_at=BEGAN), SAID[1]]

    calls = 0
    while True:
        notes = SessionNotes()
        memories.take_session("steps", said, notes=notes, time_up=lambda: True)
        calls += 1
        if not notes.unfinished:
            break
    other = [NewMessage(role=one.role, content=one.content, message_id=f"{one.message_id}b") for one in said]
    memories.take_session("once", other)

    (_, in_steps), (_, at_once) = kept(memories, "steps"), kept(memories, "once")
    assert calls > len(long) // 16_384 * 10  # every pattern reads every piece
    assert [(one.content, one.off_record) for one in in_steps] == [
        (one.content, one.off_record) for one in at_once
    ]
    assert "hunter2x" not in (in_steps[0].content or "")
    assert memories.take_session("steps", said) == 0


def test_the_words_of_a_long_message_are_found_however_it_was_read(memories: Memories) -> None:
    long = "".join(f"pump{number} hums at noon\n" for number in range(2_000))
    said = [NewMessage(role="user", content=long, message_id="m1", said_at=BEGAN)]
    notes = SessionNotes(unfinished=True)
    while notes.unfinished:
        notes = SessionNotes()
        memories.take_session("s1", said, notes=notes, time_up=lambda: True)

    with memories.store.read(memories.space) as tx:
        found = [tx.message_words.matching([word], 1) for word in ("pump0", "pump1999", "noon")]

    assert found == [["m1"], ["m1"], ["m1"]]
