"""The example that documentation quotes runs as it stands, in two sessions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.chat.scripts import Step, messages_model
from tests.cli.chat.test_seven_prompts import INDEX, TYPESCRIPT
from tests.real_agents.scripted_model import Tool
from tests.requirements_ledger import requirement

EXAMPLE = Path(__file__).parents[3] / "examples" / "chat_agent.py"


@pytest.mark.slow
@requirement("files.agent")
def test_the_example_remembers_in_one_session_and_knows_in_the_next(sqlite_url: str, tmp_path: Path) -> None:
    model = messages_model(
        Step(["I note that. ", Tool("memory_write", TYPESCRIPT)], ("TypeScript",), ("(empty)",)),
        Step("Remembered.", ("Memory saved: user_prefs.md",)),
        Step(Tool("memory_read", {"filename": "user_prefs.md"}), ("prefer",), (INDEX[0],), ("strict mode",)),
        Step("TypeScript.", ("- Always uses strict mode",)),
    )
    environment = {
        **os.environ,
        "HOLDFAST_DB": sqlite_url,
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "test",
    }

    told = [
        subprocess.run(
            [sys.executable, str(EXAMPLE), str(tmp_path / ".memory")],
            input=line,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        for line in ("I prefer TypeScript, remember that\n/memory\n", "What do I prefer?\n")
    ]
    model.close()

    model.script.followed()
    assert [one.returncode for one in told] == [0, 0], told
    assert "Remembered." in told[0].stdout
    assert "Always uses strict mode" in told[0].stdout  # what /memory lists
    assert told[1].stdout.endswith("TypeScript.\n> ")
    assert (tmp_path / ".memory" / "MEMORY.md").read_text() == "# Memory\n\n" + INDEX[0] + "\n"
