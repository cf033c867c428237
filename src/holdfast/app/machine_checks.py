"""Checks of the machine: the package, the service, connected clients, hooks, and the disk."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote

from holdfast import __version__
from holdfast.agents.connect.clients import CLIENTS
from holdfast.agents.connect.connection import recorded
from holdfast.app import paths, service_lock
from holdfast.app.installation import DISTRIBUTION
from holdfast.domain.health import HealthFinding
from holdfast.engine.ports import Store
from holdfast.errors import HoldfastError, Unavailable

_PACKAGE = Path(__file__).parents[1]
LITTLE_SPACE = 100 * 1024 * 1024  # bytes
_PATIENCE = 3.0  # seconds
_LATELY = timedelta(days=1)
_MAX_LOG = 128 * 1024  # bytes of the hooks' log that are read, from its end
_TRIED = 64 * 1024  # bytes that are written to see whether the disk takes them
_FAILED_HOOK = re.compile(r"^(\S+) (?:\S+ )?([A-Z]\w+: .*)$")  # the name of an exception
_COMMAND = re.compile(r"""["']((?:/|[A-Za-z]:)[^"'\n]*?[/\\]holdfast(?:-hook)?(?:\.exe)?)(?=["' ])""")
_PLUGIN = re.compile(r"""["']file://(/[^"'\n]*/holdfast/[^"'\n]*\.js)["']""")


# ---------------------------------------------------------------------------------------------- the package


def package_findings() -> list[HealthFinding]:
    """Whether another distribution has files in the folder of this package: uninstalling one breaks both."""
    beside = metadata.distributions(path=[entry for entry in sys.path if _holds_us(Path(entry))])
    # The text of the list: to read it as paths takes half a second for all that is installed.
    owners = {each.metadata["Name"] for each in beside if f"\n{_PACKAGE.name}/" in f"\n{_files(each)}"}
    others = sorted({*filter(None, owners)} - {DISTRIBUTION})
    if not others:
        return []
    says = f"the package folder also holds files of {', '.join(others)}"
    return [HealthFinding("problem", says, f"uninstall both and install {DISTRIBUTION}")]


def _holds_us(site: Path) -> bool:
    folder = site / _PACKAGE.name
    return folder.is_dir() and folder.samefile(_PACKAGE)


def _files(distribution: metadata.Distribution) -> str:
    return distribution.read_text("RECORD") or distribution.read_text("SOURCES.txt") or ""


# ---------------------------------------------------------------------------------------------- the service


def service_findings() -> list[HealthFinding]:
    """Whether the service runs, answers, is of this release, and still has its database."""
    try:
        announced = json.loads(Path(paths.service_file()).read_text(encoding="utf-8"))
        url, pid = str(announced["url"]), int(announced["pid"])
    except FileNotFoundError:
        command = "start it with `holdfast up`: hooks need it"
        return [HealthFinding("note", "the service is not running", "start it: hooks need it", command)]
    except (OSError, ValueError, KeyError, TypeError):
        says = f"{paths.service_file()} can't be read"
        command = "stop the service if it is running, then run `holdfast up`"
        return [HealthFinding("problem", says, "stop the service if it is running, then start it", command)]
    if pid == os.getpid():
        return []  # asked from within
    if not _is_alive(pid):
        says = f"the service crashed: process {pid} is gone"
        return [HealthFinding("problem", says, "start it again", command="start it again with `holdfast up`")]
    return _answering(url, pid)


def _is_alive(pid: int) -> bool:
    if os.name != "posix":  # where signal 0 would be Ctrl-C
        return service_lock.is_held()
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # not ours
        return True
    return True


def _answering(url: str, pid: int) -> list[HealthFinding]:
    import httpx2

    try:
        health = httpx2.get(f"{url}/health", timeout=_PATIENCE)
        if health.status_code == 503:
            advice = "put the file back or restore a backup, then restart the service"
            detail = str(health.json().get("detail", "the service can't use its database"))
            return [HealthFinding("problem", detail.partition(":")[0], advice)]
        health.raise_for_status()
        version = _version(url)
    except (httpx2.HTTPError, ValueError) as error:
        says = f"the service at {url} (process {pid}) does not answer: {error or type(error).__name__}"
        advice = "it may be busy: try again, then restart it"
        return [HealthFinding("problem", says, advice)]
    if version not in (None, __version__):
        says = f"the service runs version {version}, but {__version__} is installed"
        return [HealthFinding("problem", says, "restart the service")]
    return []


def _version(url: str) -> str | None:
    import httpx2

    try:
        token = Path(paths.token_file()).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    known = {"Authorization": f"Bearer {token}"}
    found = httpx2.get(f"{url}/api/openapi.json", headers=known, timeout=_PATIENCE)
    found.raise_for_status()
    version = found.json().get("info", {}).get("version")
    return version if isinstance(version, str) else None


# --------------------------------------------------------------------------------------------------- clients


def client_findings() -> list[HealthFinding]:
    """Whether what `connect` wrote is still there, and calls commands that are there."""
    found = []
    for one in recorded():
        title = CLIENTS[one.client].title if one.client in CLIENTS else one.client
        command = f"run `holdfast connect {one.client}` again"
        if one.root:
            command = f"run `holdfast connect {one.client} --scope {one.scope}` again"
        for path in one.files:
            found += [
                HealthFinding("problem", f"{title}: {wrong}", "connect it again", command)
                for wrong in _wrong_with(path)
            ]
    return found


def _wrong_with(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        yield f"{path} can't be read ({error.__class__.__name__}), so Holdfast is not connected"
        return
    commands = set(_COMMAND.findall(text))
    plugins = {unquote(plugin) for plugin in _PLUGIN.findall(text)}
    if not commands:
        yield f"the entries of `connect` are missing in {path}"
    for command in sorted(commands):
        if not (os.path.isfile(command) and os.access(command, os.X_OK)):
            yield f"{path} calls {command}, which does not exist"
    for plugin in sorted(plugins):
        if not os.path.isfile(plugin):
            yield f"{path} loads {plugin}, which does not exist"


# ----------------------------------------------------------------------------------------------------- hooks


def hook_findings(now: datetime) -> list[HealthFinding]:
    """Findings from the log of the hooks: recent failures."""
    failed = [said for at, said in _failures() if now - _LATELY <= at <= now + _LATELY]
    if not failed:
        return []
    times = "once" if len(failed) == 1 else f"{len(failed):,} times"
    says = f"hooks failed {times} in the last 24 hours; last error: {failed[-1]:.200}"
    advice = f"see {paths.hook_log()}; sessions ran without memory meanwhile"
    return [HealthFinding("note", says, advice)]


def _failures() -> Iterator[tuple[datetime, str]]:
    try:
        with open(paths.hook_log(), "rb") as log:
            log.seek(max(os.fstat(log.fileno()).st_size - _MAX_LOG, 0))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        if match := _FAILED_HOOK.match(line):
            with suppress(ValueError):
                at = datetime.fromisoformat(match[1])
                if at.tzinfo is not None:
                    yield at, match[2]


# -------------------------------------------------------------------------------------------------- the disk


def disk_findings(database: str) -> list[HealthFinding]:
    """Whether there is room where the database and the product's own files are, and they can be written."""
    folders = {paths.home()}
    if "://" not in (path := database.removeprefix("sqlite:///")):
        folders.add(str(Path(path).expanduser().absolute().parent))
    return [each for folder in sorted(folders) if os.path.isdir(folder) for each in _disk(folder)]


def _disk(folder: str) -> list[HealthFinding]:
    free = shutil.disk_usage(folder).free
    trial = os.path.join(folder, f".holdfast-{os.urandom(6).hex()}.trial")
    try:
        paths.write_private(trial, bytes(_TRIED))
        os.unlink(trial)
    except OSError as error:
        says = f"{folder} is not writable: {error.strerror}"
        advice = "free disk space, or make the folder writable; until then the store is read-only"
        return [HealthFinding("problem", says, advice)]
    if free < LITTLE_SPACE:
        says = f"only {free // 2**20} MiB free in {folder}"
        return [HealthFinding("problem", says, "free disk space: on a full disk nothing can be stored")]
    return []


class _TakenBack(Exception):
    """Ends a write that was only a trial."""


def write_findings(store: Store) -> list[HealthFinding]:
    """Whether the database takes a write; it is taken back."""
    for space in store.spaces()[:1]:
        try:
            with suppress(_TakenBack), store.write(space.name):
                raise _TakenBack
        except Unavailable as error:
            advice = "until it is fixed, recall works but nothing new is stored"
            return [HealthFinding("problem", f"a test write failed: {error}", advice)]
        except HoldfastError:
            continue  # the space was deleted just now
    return []


def copy_findings(store: Store) -> list[HealthFinding]:
    """A continuous copy that nobody keeps up to date."""
    if store.followed() is not False:
        return []
    return [
        HealthFinding(
            "problem",
            "nothing keeps the continuous copy of the database up to date",
            "start its follower again; it copies what it missed",
            command="run `holdfast backup FOLDER --follow`",
        )
    ]
