"""The guide for assistants: its program runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration

GUIDES = Path(__file__).parents[1] / "docs" / "guides"


def test_the_program_of_the_assistants_guide_does_what_it_says(sqlite_url: str) -> None:
    text = (GUIDES / "assistants.md").read_text(encoding="utf-8")
    [program] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    store = open_store(sqlite_url)
    Administration(store).create_space("me", profile="assistant")
    store.close()

    said = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            f"import os; os.environ['HOLDFAST_DB'] = {sqlite_url!r}\n{program}",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert said.returncode == 0, said.stderr
    assert re.match(
        r"False Remembered as (\w{8})\.\nYour memories \(1\):\n\nPerson\n• \[\1\] Alec", said.stdout
    )
