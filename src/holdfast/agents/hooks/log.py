"""The hooks' own log, next to the service's: short, the latest line last. Standard library only."""

import os
from time import strftime

from holdfast.app import paths

_MOST = 64 * 1024  # bytes
_MOST_LINE = 500


def write(about: str, says: str) -> None:
    """A line for `doctor` and the curious; only where there is something of ours already."""
    line = f"{strftime('%Y-%m-%dT%H:%M:%S%z')} {about} {says}"
    path = paths.hook_log()
    try:
        if not os.path.isdir(paths.home()):
            return
        if os.path.exists(path) and os.stat(path).st_size > _MOST:
            os.replace(path, f"{path}.old")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{line[:_MOST_LINE]}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except OSError:  # a full disk or one that can't be written: then there is no log
        return
