"""Files that hosts read at the start of a session, with a part that holds the brief and is kept up to date.

The part stands between two marks; everything else in the file is its owner's and stays byte for byte. Here it
is known which files there are and what a part looks like; when they are written is `brief_files`' business.
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
    gap: int = 0  # characters that were put between what stood in it and our part


def context_file(path: Path, *, db: str, space: str, project: str | None) -> ContextFile:
    """What keeping a brief in this file would mean; what is known of it counts, if it is kept already.

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
    """Lets a file be kept up to date from now on.

    Raises: OSError.
    """
    _save([*(known for known in registered() if known.path != context.path), context])


def unregister(path: Path) -> ContextFile | None:
    """Leaves a file as it is from now on; answers what was known of it.

    Raises: OSError.
    """
    known = registered()
    found = next((context for context in known if context.path == str(path)), None)
    if found is not None:
        _save([context for context in known if context.path != str(path)])
    return found


def registered() -> list[ContextFile]:
    """The files that are kept up to date; a damaged list is an empty one."""
    try:
        text = Path(paths.context_files()).read_text(encoding="utf-8")
        return [ContextFile(**entry) for entry in json.loads(text)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as trouble:
        _log.warning("%s can't be read: %s", paths.context_files(), trouble)
        return []


def write(context: ContextFile, brief: str) -> None:
    """Puts a brief into its part of the file; a file that says so already is not touched.

    Raises: OSError, Invalid for a part without an end.
    """
    path = Path(context.path)
    text = _read(path)
    begin, end = _part(text)
    if begin < 0:
        made = f"{text}{chr(10) * context.gap}{BEGIN}\n{brief}{END}\n"
    else:
        made = f"{text[:begin]}{BEGIN}\n{brief}{END}{text[end:]}"
    if made != text:
        paths.rewrite(str(path), made.encode("utf-8", "surrogateescape"), mode=0o644)


def clear(context: ContextFile) -> bool:
    """Takes the part out, and the file away if it was not there before us; false if there was no part.

    Raises: OSError, Invalid for a part without an end.
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
        paths.rewrite(str(path), (before + after).encode("utf-8", "surrogateescape"), mode=0o644)
    else:
        path.unlink()
    return True


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""


def _part(text: str) -> tuple[int, int]:
    """Where our part begins and ends; -1 where there is none."""
    begin = text.find(BEGIN)
    end = text.find(END, begin)
    if begin >= 0 and end < 0:
        raise Invalid(f"{BEGIN} has no matching {END}: add it again, or remove both")
    return (begin, end + len(END)) if begin >= 0 else (-1, -1)


def _save(contexts: list[ContextFile]) -> None:
    listed = json.dumps([asdict(context) for context in contexts], indent=2, ensure_ascii=False)
    paths.write_private(paths.context_files(), f"{listed}\n".encode())
