"""Switches capture off for a project, for a session, or everywhere. Recall still works there.

Stored in one small file that hooks read, so few modules are imported. `HOLDFAST_QUIET=1` turns capture off
for one process. If the file is unreadable, capture is off.
"""

import os
from json import dumps, loads

from holdfast.app import paths

_MAX_NAMES = 10_000
_OFF = ("", "0", "no", "off", "false")


class SwitchedOff:
    """Where capture is off."""

    __slots__ = ("everywhere", "projects", "sessions")

    def __init__(self, everywhere: bool, projects: list[str], sessions: list[str]) -> None:
        self.everywhere = everywhere
        self.projects = projects
        self.sessions = sessions


def reason(project: str | None = None, session: str | None = None) -> str | None:
    """The reason why capture is off there; None if it is on."""
    if os.environ.get("HOLDFAST_QUIET", "").lower() not in _OFF:
        return "HOLDFAST_QUIET is set"
    try:
        kept = switched_off()
    except (OSError, ValueError, RecursionError):
        return f"{paths.quiet_file()} can't be read"
    if kept.everywhere:
        return "capture is off everywhere"
    if project is not None and project in kept.projects:
        return f"capture is off in project {project}"
    if session is not None and session in kept.sessions:
        return "capture is off in this session"
    return None


def switched_off() -> SwitchedOff:
    """Reads the file. Raises: OSError, ValueError."""
    try:
        with open(paths.quiet_file(), encoding="utf-8") as file:
            found = loads(file.read())
    except FileNotFoundError:
        return SwitchedOff(False, [], [])
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    everywhere = found.get("everywhere", False)
    if type(everywhere) is not bool:
        raise ValueError('"everywhere" must be true or false')
    return SwitchedOff(everywhere, _names(found, "projects"), _names(found, "sessions"))


def switch(
    *, off: bool, project: str | None = None, session: str | None = None, everywhere: bool = False
) -> None:
    """Switches capture off, or on again, for what is named.

    Raises: OSError, ValueError when the file holds something else.
    """
    kept = switched_off()
    answer = {
        "everywhere": off if everywhere else kept.everywhere,
        "projects": _switched(kept.projects, project, off),
        "sessions": _switched(kept.sessions, session, off),
    }
    paths.write_private(paths.quiet_file(), (dumps(answer, indent=2, ensure_ascii=False) + "\n").encode())


def _names(found: dict[str, object], field: str) -> list[str]:
    names = found.get(field, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f'"{field}" must be a list of names')
    return names


def _switched(names: list[str], name: str | None, off: bool) -> list[str]:
    if name is None:
        return names
    others = [other for other in names if other != name]
    return [*others, name][-_MAX_NAMES:] if off else others
