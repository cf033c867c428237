"""The tour: a first minute that really runs, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_tour_shows_real_commands_with_real_output(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast.cli.tour"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Holdfast in six commands")
    shown_commands, _, rest = done.stdout.partition("Continue in your own store")
    assert shown_commands.count("\n$ holdfast ") == 6
    for shown in ("Added ", "Reinforced ", "(0.7 -> 0.8)", "Contradicts ", "## Holdfast: what", "0.8 -> 0.6"):
        assert shown in done.stdout
    assert rest.endswith("holdfast up\n$ holdfast --help\n")
    assert not (tmp_path / "home" / "data").exists()
