"""The names that programs may import, and that importing them costs nothing before they are used."""

import subprocess
import sys
from inspect import getattr_static

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
    "access_log",
    "approve",
    "around",
    "proxy_context",
    "attention",
    "audit",
    "bind_directory",
    "brief",
    "budget",
    "cache_report",
    "capture",
    "capture_due",
    "close",
    "close_session",
    "context",
    "cooldowns",
    "delete_file",
    "delta",
    "directory",
    "embed",
    "erase",
    "erasure",
    "events",
    "events_by_day",
    "export",
    "file",
    "file_index",
    "files",
    "feedback",
    "find",
    "find_memory",
    "find_session",
    "forget",
    "granted",
    "group_sizes",
    "import_archive",
    "import_batches",
    "import_drafts",
    "inbox",
    "jobs",
    "last_change",
    "link",
    "linked",
    "look",
    "message",
    "models",
    "of",
    "name_session",
    "open",
    "open_session",
    "origin",
    "person",
    "proxy_record",
    "overview",
    "profile",
    "put_file",
    "read_again",
    "read_due",
    "recall",
    "recapture",
    "record_attempt",
    "record_event",
    "reject",
    "remember",
    "rename_file",
    "restore",
    "review",
    "revise",
    "say",
    "say_all",
    "session",
    "session_story",
    "session_tallies",
    "session_titles",
    "session_totals",
    "session_values",
    "sessions",
    "show",
    "space",
    "speaking_as",
    "spend",
    "review_items",
    "stats",
    "store",
    "projects",
    "promote",
    "split",
    "subject_story",
    "subjects",
    "sync_directory",
    "take_session",
    "tend",
    "tend_preview",
    "try_models",
    "unread_sessions",
    "unbind_directory",
    "undo",
    "undo_session",
    "undo_session_preview",
    "unlink",
    "upkeep",
    "why",
    "write_file",
}


def test_the_public_names_are_these_and_each_is_there() -> None:
    assert set(holdfast.__all__) == PUBLIC
    assert set(dir(holdfast)) == PUBLIC
    assert all(getattr(holdfast, name) for name in PUBLIC)


def test_every_verb_is_a_method_with_a_sentence_about_it() -> None:
    assert {name for name in dir(Memories) if not name.startswith("_")} == VERBS
    assert all(getattr_static(Memories, name).__doc__ for name in VERBS - {"space", "profile", "store"})


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
