"""The project that a transcript's directory belongs to."""

import os
from functools import lru_cache
from pathlib import PureWindowsPath

from holdfast.app import paths


@lru_cache(maxsize=1_000)
def project_of(directory: str | None) -> str | None:
    """The name of the git root above `directory`; none where there is no git.

    Of a directory that is gone nobody can say, so its own name stands for it.
    """
    if not directory or "\0" in directory:
        return None
    foreign = PureWindowsPath(directory)
    if not os.path.isabs(directory) and not foreign.is_absolute():
        return None
    if os.path.isdir(directory):
        return paths.project_of(directory)
    return (foreign.name if "\\" in directory else os.path.basename(directory.rstrip("/"))) or None
