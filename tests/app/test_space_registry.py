"""The spaces that a process with threads has open."""

from __future__ import annotations

import subprocess
import sys


def test_numpy_is_there_before_any_thread_can_import_it() -> None:
    """Two threads that import it at once can get half a module, and no embedder until the process ends."""
    program = (
        "import sys; from holdfast.app.space_registry import SpaceRegistry; "
        "before = 'numpy' in sys.modules; SpaceRegistry().close(); print(before, 'numpy' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True"]
