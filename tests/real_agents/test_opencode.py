"""The real opencode, connected by our own command: what its model reads, and what is kept of a session."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.agents.hooks.captures import take_in
from holdfast.app import client_setup
from tests.real_agents import installed
from tests.real_agents.scripted_model import ScriptedModel
from tests.requirements_ledger import requirement

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@requirement("sem.tap.hooks")
def test_a_session_is_captured_and_the_model_reads_the_brief(
    tmp_path: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        program = installed.opencode()
    except installed.NotInstallable as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
    home, project = tmp_path / "agent-home", tmp_path / "website"
    (project / ".git").mkdir(parents=True)
    settings = home / ".config" / "opencode" / "opencode.json"
    settings.parent.mkdir(parents=True)
    provider = {"anthropic": {"options": {"baseURL": f"{scripted_model.url}/v1", "apiKey": "test"}}}
    settings.write_text(json.dumps({"model": "anthropic/claude-sonnet-4-5", "provider": provider}))
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "HOLDFAST_HOME": str(tmp_path / "holdfast"),
        "HOLDFAST_EMBEDDER": "none",
    }
    monkeypatch.setenv("HOLDFAST_HOME", environment["HOLDFAST_HOME"])
    with Memories.open() as memories:
        memories.remember("The website is built with Hugo", project="website")
    connect = [client_setup.command_path("holdfast"), "connect", "opencode", "--project"]
    subprocess.run(connect, check=True, capture_output=True, cwd=project, env=environment)
    scripted_model.say("A title", "Noted: on Fridays.")

    done = subprocess.run(
        [str(program), "run", "From now on we always deploy on Fridays"],
        capture_output=True,
        text=True,
        timeout=240,
        stdin=subprocess.DEVNULL,
        cwd=project,
        env=environment,
    )

    assert done.returncode == 0, done.stderr
    assert any("built with Hugo" in request.text for request in scripted_model.requests)
    with Memories.open() as memories:
        assert take_in(lambda _: memories) == 1
        [session] = memories.sessions()
        said = memories.session(session.id).messages
    assert (session.client, session.project) == ("opencode", "website")
    assert [each.content for each in said if each.role == "user"] == [
        "From now on we always deploy on Fridays"
    ]
