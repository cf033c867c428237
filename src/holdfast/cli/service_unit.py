"""The service as a systemd or launchd unit: its text, its path, install and uninstall.

Only a unit with Holdfast's own marker line is replaced or removed.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal
from xml.sax.saxutils import escape as xml

from holdfast.app import paths
from holdfast.errors import Conflict, Unavailable

Kind = Literal["systemd", "launchd"]

_OURS: Final = "Written by `holdfast service install`"
_PATIENCE: Final = 60  # seconds for a service manager to answer


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit file, and the commands for the service manager."""

    kind: Kind
    path: Path
    text: str
    probe: tuple[str, ...]  # succeeds where the service manager can be used
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...], ...]  # once the file is gone


def own_kind() -> Kind:
    """The service manager of this machine's system."""
    return "launchd" if sys.platform == "darwin" else "systemd"


def unit(kind: Kind, environment: Mapping[str, str]) -> Unit:
    """The unit that runs the service with `environment`."""
    return _systemd(environment) if kind == "systemd" else _launchd(environment)


def serve_command() -> list[str]:
    """The command that starts this installation's service, from any directory."""
    script = Path(sys.executable).with_name("holdfast")
    # Without the script: -P, so that a folder called holdfast where it starts is not taken for the program.
    started = [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "holdfast"]
    return [*started, "serve"]


def log_file() -> str:
    """The log of a service without a service manager."""
    return os.path.join(paths.home(), "service.log")


# ---------------------------------------------------------------------------------------- putting it in place


def trouble(wanted: Unit) -> str | None:
    """Why the service manager can't be used here; none when it can."""
    try:
        _run(wanted.probe)
    except Unavailable as why:
        return str(why)
    return None


def install(wanted: Unit) -> Literal["installed", "updated", "unchanged"]:
    """Writes the unit and starts it; a different unit of ours is replaced.

    Raises: Conflict, when another file is there; Unavailable, with nothing changed.
    """
    before = _ours(wanted)
    if before == wanted.text:
        # launchd refuses to start what runs already.
        _run_all(wanted.start, forgiving=wanted.kind == "launchd")
        return "unchanged"
    if why := trouble(wanted):
        raise Unavailable(f"{why}; `holdfast up` starts the service in the background instead")
    try:
        _write(wanted.path, wanted.text)
        if before is not None:
            _run_all(wanted.stop, forgiving=True)
        _run_all(wanted.start)
    except Unavailable:
        if before is None:
            wanted.path.unlink(missing_ok=True)
        else:
            _write(wanted.path, before)
        _run_all(wanted.after, forgiving=True)
        raise
    return "installed" if before is None else "updated"


def uninstall(wanted: Unit) -> bool:
    """Stops the unit and removes it; false when there is none.

    Raises: Conflict, Unavailable.
    """
    if _ours(wanted) is None:
        return False
    _run_all(wanted.stop, forgiving=True)
    try:
        wanted.path.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"{wanted.path} can't be removed: {error.strerror}") from None
    _run_all(wanted.after, forgiving=True)
    return True


def installed(wanted: Unit) -> bool:
    """Whether our unit is installed."""
    try:
        return _ours(wanted) is not None
    except (Conflict, Unavailable):
        return False


def _ours(wanted: Unit) -> str | None:
    """The text of our installed unit; none when there is none."""
    try:
        text = wanted.path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Unavailable(f"{wanted.path} can't be read: {error}") from None
    if _OURS not in text:
        raise Conflict(f"{wanted.path} was not written by Holdfast: move or remove it first")
    return text


def _write(path: Path, text: str) -> None:
    try:
        paths.write_private(str(path), text.encode())
    except OSError as error:
        raise Unavailable(f"{path} can't be written: {error.strerror}") from None


def _run_all(commands: Sequence[tuple[str, ...]], *, forgiving: bool = False) -> None:
    for command in commands:
        try:
            _run(command)
        except Unavailable:
            if not forgiving:
                raise


def _run(command: Sequence[str]) -> None:
    said = " ".join(command[:3])
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE)
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} not found") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"`{said}` could not be run: {error}") from None
    if done.returncode:
        why = done.stderr.strip().split("\n")[-1] or f"exit code {done.returncode}"
        raise Unavailable(f"`{said}` failed: {why}")


# ------------------------------------------------------------------------------------------ what stands in it


def _systemd(environment: Mapping[str, str]) -> Unit:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    program, *arguments = serve_command()
    # Only what follows the program's own path is searched for variables.
    command = [_quoted(program), *(_quoted(argument).replace("$", "$$") for argument in arguments)]
    settings = (f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environment.items())
    control = ("systemctl", "--user")
    return Unit(
        "systemd",
        Path(config, "systemd", "user", "holdfast.service"),
        _filled("holdfast.service", {"command": " ".join(command), "environment": "".join(settings)}),
        probe=(*control, "show-environment"),
        start=((*control, "daemon-reload"), (*control, "enable", "--now", "holdfast.service")),
        stop=((*control, "disable", "--now", "holdfast.service"),),
        after=((*control, "daemon-reload"),),
    )


def _quoted(text: str) -> str:
    """A word for systemd: quotes and backslashes escaped, percent signs doubled."""
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%"))


def _launchd(environment: Mapping[str, str]) -> Unit:
    path = Path.home() / "Library" / "LaunchAgents" / "holdfast.plist"
    words = "".join(f"\t\t<string>{xml(word)}</string>\n" for word in serve_command())
    settings = "".join(
        f"\t\t<key>{xml(name)}</key>\n\t\t<string>{xml(value)}</string>\n"
        for name, value in environment.items()
    )
    domain = f"gui/{os.getuid()}"
    values = {"command": words, "environment": settings, "log": xml(log_file())}
    return Unit(
        "launchd",
        path,
        _filled("holdfast.plist", values),
        probe=("launchctl", "print", domain),
        start=(("launchctl", "bootstrap", domain, str(path)),),
        stop=(("launchctl", "bootout", f"{domain}/holdfast"),),
        after=(),
    )


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = (files("holdfast.cli") / "units" / template).read_text(encoding="utf-8")
    # In one pass, so that a value may hold what looks like a place to fill.
    return re.sub("@([a-z]+)@", lambda place: values[place[1]], text)
