"""The plugin that opencode loads, run by Node.js in its place: which events run the hook, and with what."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.app import client_setup
from tests.requirements_ledger import requirement

DRIVER = """
const [plugin, options] = JSON.parse(process.argv[1])
const made = await (await import(plugin)).Holdfast({ directory: process.argv[2] }, options)
for (const event of JSON.parse(process.argv[3])) await made.event({ event })
"""


@requirement("sem.tap.hooks")
def test_the_end_of_a_turn_runs_the_hook_with_the_database_and_a_subagents_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no node: install Node.js 20 or newer", pytrace=False)
        pytest.skip("there is no node")
    noted = tmp_path / "noted"
    hook = tmp_path / "holdfast-hook"
    hook.write_text(f'#!/bin/sh\n{{ echo "$@"; cat; echo; }} >> {noted}\n')
    hook.chmod(0o755)
    monkeypatch.setattr(client_setup, "command_path", lambda name: str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    [change] = client_setup.connection("opencode", space="work", db="team.db").connecting()
    assert change.after is not None
    [entry] = json.loads(change.after)["plugin"]
    events: list[dict[str, Any]] = [
        {"type": "session.created", "properties": {"sessionID": "ses_1", "info": {"id": "ses_1"}}},
        {"type": "session.created", "properties": {"sessionID": "ses_2", "info": {"parentID": "ses_1"}}},
        {"type": "session.status", "properties": {"sessionID": "ses_1"}},
        {"type": "session.idle", "properties": {"sessionID": "ses_2"}},
        {"type": "session.idle", "properties": {"sessionID": "ses_1"}},
        {"type": "catalog.updated", "properties": {}},
        {"type": "session.deleted", "properties": {"info": {"id": "ses_1"}}},
    ]

    subprocess.run(
        [node, "--input-type=module", "-e", DRIVER, json.dumps(entry), "/srv/website", json.dumps(events)],
        check=True,
        env={"PATH": os.environ["PATH"], "HOME": "/home/user", "NODE_NO_WARNINGS": "1"},
    )

    arguments = f"--client opencode --space work --db {tmp_path / 'team.db'}"
    store = "/home/user/.local/share/opencode/opencode.db"
    given = json.dumps(
        {"session_id": "ses_1", "cwd": "/srv/website", "transcript_path": store}, separators=(",", ":")
    )
    assert noted.read_text().splitlines() == [f"Stop {arguments}", given, f"SessionEnd {arguments}", given]
