"""A command as a container would run it: an unprivileged user, and a tree where two folders are written."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.mounts import ENTER, why_not
from tests.postgres import memory_disk

REPOSITORY = Path(__file__).parents[2]
USER = "10001"
_DROPPED = ["--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]


@contextmanager
def volumes() -> Iterator[tuple[Path, Path]]:
    """The folders for /var/lib/holdfast and /tmp, which belong to the user."""
    if ENTER != ["unshare", "--mount"] or (reason := why_not()) or shutil.which("setpriv") is None:
        pytest.skip(f"NOT RUN AS A CONTAINER: root, private mounts and setpriv are needed ({reason or 'no'})")
    place = Path(tempfile.mkdtemp(prefix="holdfast-container-", dir=memory_disk()))
    place.chmod(0o755)
    for name in ("home", "tmp"):
        (place / name).mkdir()
        shutil.chown(place / name, int(USER), int(USER))
    yield place / "home", place / "tmp"
    shutil.rmtree(place)


def start(home: Path, tmp: Path, command: list[str], **environment: str) -> subprocess.Popen[str]:
    """Starts it with no variable but those of the image and of `environment`."""
    script = [
        *_reachable([Path(sys.base_prefix), Path(sys.prefix), REPOSITORY], home.parent),
        *(f"mount --bind {folder} {folder}" for folder in (home, tmp)),
        *(f"mount -o remount,bind,ro {mount}" for mount in _mounts(home, REPOSITORY)),
        'exec "$@"',
    ]
    variables = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOLDFAST_HOME": str(home),
        "HOME": str(home),
        "TMPDIR": str(tmp),
        "PYTHONUNBUFFERED": "1",
        **environment,
    }
    user = ["setpriv", "--reuid", USER, "--regid", USER, *_DROPPED]
    given = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
    return subprocess.Popen(
        [*ENTER, "sh", "-ec", "\n".join(script), "sh", *user, *given, *command],
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _mounts(*paths: Path) -> list[str]:
    """The file systems that the paths are on, and the root."""
    told = [
        subprocess.run(["stat", "-c", "%m", path], capture_output=True, text=True, check=True).stdout.strip()
        for path in paths
    ]
    return sorted({*told, "/"}, reverse=True)


def _reachable(places: list[Path], scratch: Path) -> Iterator[str]:
    """Mounts that let the user through to the places, where a folder above them is closed to others."""
    closed: dict[Path, list[Path]] = {}
    for place in dict.fromkeys(places):
        above = [each for each in reversed(place.parents) if not each.stat().st_mode & 0o001]
        if above:
            closed.setdefault(above[0], []).append(place)
    for folder, inside in closed.items():
        for number, place in enumerate(inside):
            yield f"mkdir -p {scratch}/{number} && mount --bind {place} {scratch}/{number}"
        yield f"mount -t tmpfs -o mode=755 tmpfs {folder}"
        for number, place in enumerate(inside):
            yield f"mkdir -p {place} && mount --bind {scratch}/{number} {place}"
