"""A streaming replica answers reads, and never shows less than what was acknowledged before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from holdfast import Memories
from holdfast.app.checkup import checkup
from holdfast.app.wiring import utc_now
from holdfast.domain.query import EVERY_SESSION, Filter
from holdfast.engine.administration import Administration
from holdfast.errors import Invalid
from holdfast.store import replica as replicas
from holdfast.store.schema import metadata
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.postgres import OwnServer, StreamingReplica
from tests.requirements_ledger import requirement
from tests.store.full_space import fill
from tests.store.replicated import Team, answered, team_on

NOW = utc_now()
READS: dict[str, Callable[[Memories, str, str], object]] = {
    "erasure": lambda memories, memory, session: memories.erasure(memory),
    "undo_session_preview": lambda memories, memory, session: memories.undo_session_preview(session),
    "inbox": lambda memories, memory, session: memories.inbox(),
    "review": lambda memories, memory, session: memories.review(),
    "review_items": lambda memories, memory, session: memories.review_items(),
    "find": lambda memories, memory, session: memories.find(),
    "subjects": lambda memories, memory, session: memories.subjects(),
    "projects": lambda memories, memory, session: memories.projects(),
    "group_sizes": lambda memories, memory, session: memories.group_sizes(Filter(), "subject", ["mail"]),
    "subject_story": lambda memories, memory, session: memories.subject_story("Ada"),
    "linked": lambda memories, memory, session: memories.linked(memory),
    "show": lambda memories, memory, session: memories.show(memory),
    "why": lambda memories, memory, session: memories.why(memory),
    "look": lambda memories, memory, session: memories.look("which tea does Ada like"),
    "sessions": lambda memories, memory, session: memories.sessions(),
    "session_totals": lambda memories, memory, session: memories.session_totals(EVERY_SESSION),
    "unread_sessions": lambda memories, memory, session: memories.unread_sessions(),
    "session_values": lambda memories, memory, session: memories.session_values("client"),
    "session_tallies": lambda memories, memory, session: memories.session_tallies(session),
    "session_titles": lambda memories, memory, session: memories.session_titles(session),
    "find_session": lambda memories, memory, session: memories.find_session("last"),
    "find_memory": lambda memories, memory, session: memories.find_memory(memory),
    "session_story": lambda memories, memory, session: memories.session_story(session),
    "session": lambda memories, memory, session: memories.session(session),
    "cache_report": lambda memories, memory, session: memories.cache_report(),
    "message": lambda memories, memory, session: memories.message(first_message(memories, session)),
    "around": lambda memories, memory, session: memories.around(first_message(memories, session)),
    "stats": lambda memories, memory, session: replace(memories.stats(), now=NOW),
    "attention": lambda memories, memory, session: memories.attention(),
    "audit": lambda memories, memory, session: memories.audit(),
    "jobs": lambda memories, memory, session: memories.jobs(),
    "spend": lambda memories, memory, session: memories.spend(),
    "events": lambda memories, memory, session: memories.events(),
    "events_by_day": lambda memories, memory, session: memories.events_by_day(NOW),
    "cooldowns": lambda memories, memory, session: memories.cooldowns(),
    "files": lambda memories, memory, session: memories.files(),
    "file": lambda memories, memory, session: memories.file("media/jellyfin.md"),
    "file_index": lambda memories, memory, session: memories.file_index(),
    "recall": lambda memories, memory, session: memories.recall("which tea does Ada like"),
    "context": lambda memories, memory, session: memories.context(["which tea does Ada like?"]),
}


#: These come last and once, because they count an access.
COUNTED = {"recall", "context"}


def first_message(memories: Memories, session: str) -> str:
    return memories.session(session).messages[0].id


@pytest.fixture
def team(replicated: tuple[OwnServer, StreamingReplica], monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    with team_on(replicated, monkeypatch) as made:
        yield made


@requirement("scale.replica")
def test_reads_are_answered_by_the_replica_and_say_the_same(team: Team) -> None:
    fill(team.url)
    memories = team.memories()
    memory, session = memories.find(Filter(subject="Ada")).memories[0].id, memories.sessions()[0].id
    team.catch_up()
    team.replica.pause()
    memories.say("other", "user", "The replica does not know this")
    answered(memories)
    on_primary = {
        name: read(memories, memory, session) for name, read in READS.items() if name not in COUNTED
    }
    by_primary = answered(memories)
    team.replica.resume()
    team.catch_up()

    on_replica: dict[str, object] = {}
    servers: dict[str, dict[str, int]] = {}
    for name, read in READS.items():
        on_replica[name] = read(memories, memory, session)
        servers[name] = answered(memories)
        team.catch_up()

    assert set(READS) == {name for name, verb in vars(Memories).items() if hasattr(verb, "__from_replica__")}
    assert set(by_primary) == {"primary"}
    assert {name for name, found in servers.items() if set(found) != {"replica"}} == set()
    assert {name for name, found in on_primary.items() if on_replica[name] != found} == set()


@requirement("scale.replica")
def test_what_was_written_is_read_at_once_by_whoever_asks(team: Team) -> None:
    one, other = team.memories(), team.memories()
    Administration(one.store).create_space("quiet")
    quiet = Memories.of(other.store, "quiet")
    quiet.remember("The quiet space has one note", subject="quiet")
    team.catch_up()
    team.replica.pause()
    said = one.remember("The disk is in the attic", subject="disk", key="k")
    one.say("talk", "user", "Where is the disk?")
    answered(one), answered(other)

    seen = [memories.find().total for memories in (one, other)]
    told = [len(memories.session("talk").messages) for memories in (one, other)]
    late = answered(one)
    undisturbed = quiet.find().total
    answered(other)
    team.replica.resume()
    team.catch_up()
    again = other.find().memories[0]

    assert (seen, told, undisturbed) == ([1, 1], [1, 1], 1)
    assert late == {"primary": 2}
    assert again.content == "The disk is in the attic"
    assert answered(other) == {"replica": 1}
    assert said.memory is not None  # type: ignore[union-attr]


@requirement("scale.replica")
def test_a_space_that_is_not_written_to_is_read_from_a_late_replica(team: Team) -> None:
    busy = team.memories()
    Administration(busy.store).create_space("quiet")
    quiet = Memories.of(busy.store, "quiet")
    quiet.remember("The quiet space has one note", subject="quiet")
    team.catch_up()
    team.replica.pause()
    busy.remember("The disk is in the attic", subject="disk")
    answered(busy)

    found = quiet.find().total

    assert found == 1
    assert answered(busy) == {"replica": 1}
    team.replica.resume()


@requirement("scale.replica", "asst.brief.frozen")
def test_a_brief_is_frozen_though_the_replica_does_not_know_it(team: Team) -> None:
    one, other = team.memories(), team.memories()
    one.remember("The disk is in the attic", subject="disk")
    team.catch_up()
    team.replica.pause()
    first = one.speaking_as("assistant", session="s").brief()
    one.remember("The router is in the cellar", subject="router")

    again = other.speaking_as("assistant", session="s").brief()

    assert (again.text, again.sha256, again.frozen) == (first.text, first.sha256, True)
    team.replica.resume()


@requirement("scale.replica", "trust.spaces")
def test_a_space_of_an_old_name_shows_nothing_of_the_deleted_one(team: Team) -> None:
    memories = team.memories()
    administration = Administration(memories.store)
    administration.create_space("temporary")
    Memories.of(memories.store, "temporary").remember("A note of the first one", subject="note")
    team.catch_up()
    team.replica.pause()
    administration.delete_space("temporary")
    administration.create_space("temporary")

    found = Memories.of(memories.store, "temporary").find()

    assert found.memories == ()
    team.replica.resume()


@requirement("scale.replica", "trust.spaces")
def test_the_replica_shows_a_transaction_the_rows_of_its_space_alone(team: Team) -> None:
    fill(team.url)
    Administration(team.store()).create_space("other")
    team.catch_up()
    engine = create_engine(team.replica_url)
    inside = [name for name, table in metadata.tables.items() if "space" in table.columns]

    with engine.connect() as connection:
        connection.execute(text("SELECT set_config('holdfast.space', 'other', true)"))
        found = {
            name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one()
            for name in (*inside, "memory_words", "message_words")
        }

    engine.dispose()
    assert {name for name, rows in found.items() if rows} == {"heads"}


# ----------------------------------------------------------------------------------------------- away or late


@requirement("scale.replica")
def test_without_its_replica_everything_is_read_from_the_primary_and_logged_once(
    team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(replicas, "PAUSE", 0.0)
    memories = team.memories()
    memories.remember("The disk is in the attic", subject="disk")
    team.catch_up()
    before = memories.find().total
    team.replica.kill()

    during = [memories.find().total for _ in range(3)]
    found = [finding.says for finding in checkup(team.url, None).findings]
    team.replica.restart()
    team.catch_up()
    answered(memories)
    after = memories.find().total

    logged = [record.message for record in caplog.records if record.name == replicas.__name__]
    assert (before, during, after) == (1, [1, 1, 1], 1)
    assert ["read replica can't be used" in says for says in found if "replica" in says] == [True]
    assert [line.partition(":")[0] for line in logged] == [
        "the read replica is not used, reads go to the primary",
        "the read replica is used again",
    ]


@requirement("scale.replica")
def test_a_replica_that_dies_in_the_middle_of_a_read_costs_nobody_the_answer(team: Team) -> None:
    memories = team.memories()
    memories.remember("The disk is in the attic", subject="disk")
    team.catch_up()

    kills = [team.replica.kill]

    class Deadly(list[str]):
        def __iter__(self) -> Iterator[str]:
            while kills:
                kills.pop()()
            return super().__iter__()

    found = memories.group_sizes(Filter(), "subject", Deadly(["disk"]))
    team.replica.restart()
    team.catch_up()

    assert found == {"disk": 1}
    assert kills == []
    assert answered(memories) == {"replica": 1}


@requirement("scale.replica")
def test_a_replica_that_stays_behind_is_logged_once_and_told_by_doctor(
    team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(replicas, "TOO_LATE", 0.0)
    monkeypatch.setattr("holdfast.domain.health.LONG_LAG", 0.0)
    memories = team.memories()
    team.catch_up()
    team.replica.pause()
    memories.remember("The disk is in the attic", subject="disk")

    for _ in range(3):
        memories.find()
    late = checkup(team.url, None)
    team.replica.resume()
    team.catch_up()
    memories.find()
    in_time = checkup(team.url, None)

    logged = [record.message for record in caplog.records if record.name == replicas.__name__]
    assert [line.partition(":")[0] for line in logged] == [
        "the read replica is not used, reads go to the primary",
        "the read replica is used again",
    ]
    assert late.replica is not None
    assert in_time.replica is not None
    assert late.replica.bytes_behind > 0
    assert any("the read replica is" in finding.says for finding in late.findings)
    assert (in_time.replica.bytes_behind, in_time.replica.seconds_behind) == (0, 0.0)


@requirement("scale.replica")
def test_doctor_shows_the_replica_and_how_far_it_is_behind(team: Team, clock: FixedClock) -> None:
    team.memories().remember("The disk is in the attic", subject="disk")
    team.catch_up()
    shell = Shell(team.url, clock)

    said = shell.says("doctor")
    replica = shell.json("doctor")["replica"]

    assert re.search(r"^  replica  postgresql.*@/.* \(0 bytes behind\)$", said, re.M)
    assert (replica["trouble"], replica["bytes_behind"], replica["seconds_behind"]) == (None, 0, 0.0)


@requirement("scale.replica")
def test_a_replica_that_was_promoted_is_read_no_more(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.memories().remember("The disk is in the attic", subject="disk")
    promoted = StreamingReplica(team.primary)
    promoted.promote()
    monkeypatch.setenv("HOLDFAST_DB_READ", promoted.of(team.url))
    memories = team.memories()

    found = memories.find().total
    findings = [finding.says for finding in checkup(team.url, None).findings]

    promoted.close()
    assert found == 1
    assert answered(memories) == {"primary": 1}
    assert "the read replica can't be used: it is not a replica: it accepts writes" in findings


# ------------------------------------------------------------------------------------------------ the setting


@pytest.mark.parametrize("place", ["mysql://host/name", "/var/lib/holdfast.db"])
def test_a_replica_that_is_no_server_is_refused_with_the_name_of_the_setting(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("HOLDFAST_DB_READ", place)

    with pytest.raises(Invalid, match=r"HOLDFAST_DB_READ: .*postgresql://"):
        Memories.open(postgres_url)


def test_a_file_has_no_replica(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOLDFAST_DB_READ", "postgresql://nobody@127.0.0.1:1/holdfast")

    with Memories.open(sqlite_url) as memories:
        assert memories.store.replica is None
        assert memories.find().total == 0
