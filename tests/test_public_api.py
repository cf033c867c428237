"""The names that programs may import, and that importing them costs nothing before they are used."""

import subprocess
import sys

import holdfast
from holdfast import Memories
from holdfast.testing import FixedClock

PUBLIC = {
    "Added",
    "Client",
    "Conflict",
    "Contradicting",
    "Draft",
    "Filter",
    "Forbidden",
    "HoldfastError",
    "Invalid",
    "Memories",
    "Memory",
    "Merged",
    "NotFound",
    "Outcome",
    "Refused",
    "Reinforced",
    "Source",
    "Unavailable",
    "UpdateSuggested",
    "Waiting",
}
VERBS = {
    "approve",
    "brief",
    "budget",
    "capture",
    "capture_due",
    "close",
    "close_session",
    "context",
    "cooldowns",
    "delta",
    "embed",
    "erase",
    "erasure",
    "events",
    "export",
    "fail_job",
    "find",
    "finish_job",
    "forget",
    "granted",
    "import_archive",
    "import_drafts",
    "inbox",
    "jobs",
    "link",
    "message",
    "of",
    "open",
    "open_session",
    "origin",
    "overview",
    "profile",
    "queue",
    "recall",
    "record_attempt",
    "record_event",
    "reject",
    "remember",
    "restore",
    "revise",
    "say",
    "say_all",
    "session",
    "sessions",
    "show",
    "space",
    "speaking_as",
    "store",
    "take_job",
    "take_session",
    "tend",
    "undo_session",
    "unlink",
    "why",
}


def test_the_public_names_are_these_and_each_is_there() -> None:
    assert set(holdfast.__all__) == PUBLIC
    assert set(dir(holdfast)) == PUBLIC
    assert all(getattr(holdfast, name) for name in PUBLIC)


def test_every_verb_is_a_method_with_a_sentence_about_it() -> None:
    assert {name for name in vars(Memories) if not name.startswith("_")} == VERBS
    assert all(vars(Memories)[name].__doc__ for name in VERBS - {"space", "profile", "store"})


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, holdfast; "
        "heavy = {'sqlalchemy', 'alembic', 'rich', 'click', 'numpy'} & set(sys.modules); print(sorted(heavy))"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"


def test_the_readmes_example_runs(database_url: str, clock: FixedClock) -> None:
    with Memories.open(database_url, "default", clock=clock) as memories:
        memories.remember("Takes 60s to start after a restart", category="timing", subject="jellyfin")
        [hit] = memories.recall("how long does jellyfin take to start").memories

    assert hit.memory.content == "Takes 60s to start after a restart"
