"""Files that hosts read at the start of a session, with a section that holds the current brief.

The section is between two marks; the rest of the file is not changed. This module has the list of files and
the format of a section; `brief_files` decides when they are written.
"""

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

from holdfast.app import paths
from holdfast.errors import Invalid

BEGIN = "<!-- holdfast: kept up to date, changes in here are lost -->"
END = "<!-- holdfast: end -->"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFile:
    """A file with the brief of a project in it."""

    path: str
    db: str
    space: str
    project: str | None
    existed: bool  # before us; else it goes with us
    gap: int = 0  # characters added between the file's own content and our section


def context_file(path: Path, *, db: str, space: str, project: str | None) -> ContextFile:
    """The entry for a brief in this file; the existing one, if the file is registered already.

    Raises: Invalid, for a file that can't hold a part.
    """
    for known in registered():
        if known.path == str(path):
            return ContextFile(**{**asdict(known), "db": db, "space": space, "project": project})
    text = _read(path)
    if BEGIN in text:
        raise Invalid(
            f"{path} has a brief of another Holdfast installation: remove it first, from {BEGIN} to {END}"
        )
    gap = 0 if not text or text.endswith("\n\n") else 1 if text.endswith("\n") else 2
    return ContextFile(path=str(path), db=db, space=space, project=project, existed=path.exists(), gap=gap)


def register(context: ContextFile) -> None:
    """Keeps a file up to date from now on. Raises: OSError."""
    _save([*(known for known in registered() if known.path != context.path), context])


def unregister(path: Path) -> ContextFile | None:
    """Stops updating a file; returns its entry. Raises: OSError."""
    known = registered()
    found = next((context for context in known if context.path == str(path)), None)
    if found is not None:
        _save([context for context in known if context.path != str(path)])
    return found


def registered() -> list[ContextFile]:
    """The files that are kept up to date; None if the list is damaged."""
    try:
        text = Path(paths.context_files()).read_text(encoding="utf-8")
        return [ContextFile(**entry) for entry in json.loads(text)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        _log.warning("%s can't be read: %s", paths.context_files(), error)
        return []


def write(context: ContextFile, brief: str) -> None:
    """Writes a brief into its section of the file, unless it is there already.

    Raises: OSError, Invalid for a section without an end.
    """
    path = Path(context.path)
    text = _read(path)
    begin, end = _part(text)
    if begin < 0:
        made = f"{text}{chr(10) * context.gap}{BEGIN}\n{brief}{END}\n"
    else:
        made = f"{text[:begin]}{BEGIN}\n{brief}{END}{text[end:]}"
    if made != text:
        paths.rewrite(str(path), made.encode("utf-8", "surrogateescape"))


def clear(context: ContextFile) -> bool:
    """Removes the section, and the file if we created it; false if there was no section.

    Raises: OSError, Invalid for a section without an end.
    """
    path = Path(context.path)
    text = _read(path)
    begin, end = _part(text)
    if begin < 0:
        return False
    before, after = text[:begin], text[end:].removeprefix("\n")
    if before.endswith("\n" * context.gap):
        before = before[: len(before) - context.gap]
    if before + after or context.existed:
        paths.rewrite(str(path), (before + after).encode("utf-8", "surrogateescape"))
    else:
        path.unlink()
    return True


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def _part(text: str) -> tuple[int, int]:
    """The start and end of our section; -1 if there is none."""
    begin = text.find(BEGIN)
    end = text.find(END, begin)
    if begin >= 0 and end < 0:
        raise Invalid(f"{BEGIN} has no matching {END}: add it again, or remove both")
    return (begin, end + len(END)) if begin >= 0 else (-1, -1)


def _save(contexts: list[ContextFile]) -> None:
    listed = json.dumps([asdict(context) for context in contexts], indent=2, ensure_ascii=False)
    paths.write_private(paths.context_files(), f"{listed}\n".encode())
