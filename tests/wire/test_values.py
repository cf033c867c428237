"""The JSON of our values: as it was promised, read back as it was, and described as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

import holdfast
from holdfast.domain.history import Entry, Story, Use
from holdfast.domain.jobs import Job
from holdfast.domain.memory import Link, Memory, Message, Repetition, Session, Source, Version
from holdfast.domain.operations import Attempt, CooldownStatus, Event
from holdfast.domain.outcomes import (
    Added,
    Contradicting,
    Deletion,
    Merged,
    Outcome,
    Refused,
    Reinforced,
    UpdateSuggested,
    Waiting,
)
from holdfast.domain.profile import Cooldown
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.domain.retention import Due
from holdfast.domain.space import Space, Token
from holdfast.domain.spend import Caps, SpendReport, Spent, Usage
from holdfast.engine.audit import Audit, Finding
from holdfast.engine.brief import Brief
from holdfast.engine.context import Context
from holdfast.engine.erase import Erasure
from holdfast.engine.forget import Forgotten
from holdfast.engine.imports import ImportResult
from holdfast.engine.inbox import Item
from holdfast.engine.recall import Recall
from holdfast.engine.restore import Imported
from holdfast.engine.spaces import Overview
from holdfast.engine.split import Split
from holdfast.engine.tend import Preview, Tended
from holdfast.engine.undo import Undone
from holdfast.language.consolidation import Proposal
from holdfast.wire.schemas import schema_of
from holdfast.wire.values import SHAPES, from_json, is_value, to_json

NOON = datetime(2026, 3, 1, 12, 0, 0, 123, tzinfo=UTC)
MEMORY = Memory(
    id="a1b2c3d4",
    space="ops",
    category="timing",
    subject="jellyfin",
    content="The password is [redacted:password]",
    created_at=NOON,
    updated_at=NOON,
    tags=("slow", "disk"),
    source=Source(origin="tool", session="run", message="m-1", tier=2),
    confirmed_at=NOON,
    superseded_by="e5f6a7b8",
)
OLDER = replace(MEMORY, confidence=0.2, state="inactive", accessed_at=NOON)
MESSAGE = Message(id="m", session="run", number=1, role="user", speaker=None, content="Hi", said_at=NOON)
SESSION = Session(id="run", space="ops", started_at=NOON, usage={"tokens": {"input": 3}})
VERSION = Version(
    memory=MEMORY.id, number=2, content="It", summary=None, source=Source(origin="user"), created_at=NOON
)
LINK = Link(from_id="a", to_id="b", kind="related", created_at=NOON)
STORY = Story(
    memory=MEMORY,
    versions=(VERSION,),
    entries=(
        Entry(
            seq=1, action="added", memory=MEMORY.id, origin="user", session=None, before=None,
            after={"tags": ["slow"]}, note=None, created_at=NOON,
        ),
    ),
    links=(LINK,),
    session=SESSION,
    messages=(MESSAGE,),
    uses=(
        Use(
            receipt="r", kind="brief", session=None, query=None, version=1, score=0.5,
            parts={"relevance": 0.5}, created_at=NOON,
        ),
    ),
    repetitions=(
        Repetition(
            memory=MEMORY.id, number=1, content="It", category="timing", source=Source(), created_at=NOON
        ),
    ),
)  # fmt: skip
HITS = (
    MemoryHit(MEMORY, 0.5, {"relevance": 0.5}, {"words": 0.2}, "meaning", cites=MESSAGE),
    MemoryHit(MEMORY, 0.4, {}, {}),
    MessageHit(MESSAGE, SESSION, 0.3, {}, {}),
    MessageHit(MESSAGE, None, 0.2, {}, {}, "meaning"),
)
DELETION = Deletion("forgotten", NOON, True)
OUTCOMES: tuple[Outcome, ...] = (
    Added(MEMORY, (OLDER,)),
    Reinforced(MEMORY, OLDER, False),
    Merged(MEMORY, OLDER),
    Contradicting(MEMORY, (OLDER,)),
    UpdateSuggested(MEMORY, "same"),
    Waiting(MEMORY, "look", (OLDER,)),
    Refused("deleted before", MEMORY.id, DELETION),
    Refused("too long"),
)
ATTEMPT = Attempt(
    id="t", action="restart", service="mail", succeeded=True, content=None, session=None, created_at=NOON
)
STANDING = CooldownStatus(
    service="mail",
    cooldown=Cooldown(name="restart", most=3, hours=1.5),
    free_at=NOON,
    attempts=(ATTEMPT,),
)
SPACE = Space(name="ops", profile="ops", profile_text=None, key="", created_at=NOON)
SPENT = Spent(calls=2, usage=Usage(10, 20, 5), micro_dollars=1_500, unpriced_calls=1)

#: What the client reads.
READ: tuple[Any, ...] = (
    MEMORY,
    OLDER,
    MESSAGE,
    SESSION,
    VERSION,
    LINK,
    STORY,
    DELETION,
    Recall(HITS, 3, "meaning", 2),
    Context("text", 3, HITS, 4),
    Brief("text", "hash", 1, ("a",), 2, True),
    Item(MEMORY, (OLDER,)),
    Split(MEMORY, OLDER, OLDER),
    Forgotten(MEMORY, True),
    Undone((MEMORY,), (), (OLDER,), 2),
    Erasure(("a",), 1, 2, 3, 4, ("backups",)),
    Imported(1, 2, ("a",), ("b",)),
    *(ImportResult(3, outcome) for outcome in OUTCOMES),
    Event(id="e", level="info", service=None, content="It", session=None, created_at=NOON),
    ATTEMPT,
    STANDING,
    Overview(SPACE, 1, 2, 3, 4, 5),
    Job(id="j", kind="capture", payload={}, error="none", due_at=NOON, created_at=NOON),
)
#: What is only shown.
SHOWN: tuple[Any, ...] = (
    SpendReport(
        by="day", groups=((None, SPENT), ("today", Spent())), total=SPENT, today=SPENT, caps=Caps(daily=5)
    ),
    Tended(((MEMORY, OLDER),), archived=((MEMORY, "unused"),), proposed=(MEMORY,), session="run"),
    Preview(((MEMORY, OLDER),), (Due(MEMORY, "unused"),), (Proposal(MEMORY, OLDER, OLDER, "the same"),)),
    Audit(4, (Finding(kind="duplicates", ids=("a", "b"), pairs=(("a", "b"),), says="two", advice="one"),)),
    Token(id="t", name=None, hash="secret", scopes=("read",), spaces=None, created_at=NOON),
)
#: What the answers leave out.
GIVEN = {"space": "ops", "memory": MEMORY.id, "payload": {}, "action": "restart", "service": "mail"}


@pytest.mark.parametrize("value", READ, ids=lambda value: type(value).__name__)
def test_what_is_written_is_read_back(value: Any) -> None:
    data = json.loads(json.dumps(to_json(value)))

    read = from_json(type(value), data, **GIVEN, profile_text=None, key="")

    assert read == value


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda value: type(value).__name__)
def test_an_outcome_names_itself_and_is_found_by_its_name(outcome: Outcome) -> None:
    data = to_json(outcome)

    assert list(data)[:2] == ["outcome", "memory"]
    assert from_json(Outcome, data, **GIVEN) == outcome


@pytest.mark.parametrize("value", [*READ, *SHOWN], ids=lambda value: type(value).__name__)
def test_an_answer_has_the_fields_that_its_schema_names(value: Any) -> None:
    kind: Any = type(value)
    text = json.dumps(to_json(value))

    schema_of(kind).model_validate_json(text, strict=True)


def test_the_fields_of_a_memory_and_their_order_stay() -> None:
    assert list(to_json(MEMORY)) == [
        "id", "category", "subject", "content", "version", "created_at", "updated_at", "confidence",
        "importance", "tags", "state", "origin", "session", "message", "tier", "person", "project", "summary",
        "pinned", "waiting_for", "confirmed_at", "accessed_at", "accesses", "redacted", "private",
        "superseded_by",
    ]  # fmt: skip
    assert to_json(MEMORY)["redacted"] == ["password"]


def test_other_fields_and_their_order_stay() -> None:
    expected = {
        VERSION: "version content summary origin session message tier person created_at",
        LINK: "from to kind session created_at",
        STANDING: "service action most hours allowed free_at attempts",
        Overview(SPACE, 1, 2, 3, 4, 5): (
            "name profile keeps_messages max_memories max_messages max_bytes access_log access_log_days "
            "active inactive waiting forgotten sessions stored created_at"
        ),
        SPENT: "calls input_tokens cached_tokens output_tokens dollars calls_without_price",
        SHOWN[0]: "by groups total today daily_cap session_cap stopped",
        SHOWN[1]: "decayed deactivated archived proposed embedded trouble clock_doubt session",
        SHOWN[2]: "decayed deactivated archived proposed clock_doubt",
        SHOWN[4]: (
            "id name scopes spaces created_at revoked_at used_at expires_at rotated_at old_until "
            "max_requests max_memories max_messages max_bytes person"
        ),
    }
    for value, names in expected.items():
        assert list(to_json(value)) == names.split()
    assert [list(to_json(hit))[:3] for hit in HITS[1:3]] == [
        ["kind", "memory", "cites"],
        ["kind", "message", "session"],
    ]


def test_times_are_utc_with_microseconds() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=2)))

    assert to_json([elsewhere, None]) == ["2026-03-01T12:00:00.000123Z", None]


def test_a_field_that_an_older_service_does_not_tell_has_its_default() -> None:
    data = to_json(Recall((), 3, "meaning", 2))
    del data["other_projects"]

    assert from_json(Recall, data) == Recall((), 3, "meaning")


def test_an_unknown_outcome_is_refused() -> None:
    with pytest.raises(ValueError, match="none of Added, Reinforced"):
        from_json(Outcome, {"outcome": "guessed", "memory": None})


def test_every_shape_names_a_class_and_what_it_has() -> None:
    classes: dict[str, type] = {}
    for found in walk_packages(holdfast.__path__, "holdfast."):
        if found.name.split(".")[1] in ("domain", "engine", "language"):
            module = import_module(found.name)
            classes |= {
                name: kind
                for name, kind in vars(module).items()
                if is_value(kind) and kind.__module__ == found.name
            }
    rest = {"holdfast.web.rest.responses", "holdfast.web.rest.memory_tool"}
    for name in rest:
        classes |= {name: kind for name, kind in vars(import_module(name)).items() if is_value(kind)}

    for name, shape in SHAPES.items():
        kind = classes[name]
        declared = {each.name for each in fields(kind)}
        assert {*shape.left_out, *shape.inlined} <= declared
        assert {*shape.renamed, *shape.computed.values()} <= {*declared, *shape.computed}
        assert all(isinstance(getattr(kind, each), property) for each in shape.computed)


def test_writing_json_loads_no_framework() -> None:
    code = (
        "import sys, holdfast.wire.values; print([n for n in sys.modules if n.startswith(('pyd', 'hold'))])"
    )

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "pydantic" not in loaded
    assert "holdfast.engine" not in loaded
