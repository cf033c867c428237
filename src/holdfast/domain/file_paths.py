"""The allowed paths of a space's files (at most two folders and a name), and the path of each memory."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from holdfast.domain.memory import Memory
from holdfast.domain.text import clean
from holdfast.errors import Invalid

#: The index's own name, and what Windows keeps for devices.
RESERVED = frozenset(
    {"memory", "con", "prn", "aux", "nul"}
    | {f"{device}{n}" for device in ("com", "lpt") for n in range(1, 10)}
)
_LONGEST = 200  # bytes; file systems end at 255, and a temporary file's name may add some
_MARK = 8  # digits of the hash that distinguishes truncated and empty names


def file_name(subject: str) -> str:
    """The file for `subject`: lower case, letters and digits of any script, `_`, `-`; never the index's."""
    text = clean(subject, one_line=True).strip()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    kept = "".join(character if _kept(character) else "_" for character in text.removesuffix(".md"))
    slug = re.sub("_{2,}", "_", kept).strip("_-")
    if not slug:
        slug = f"note-{_mark(subject)}"
    elif len(slug.encode()) > _LONGEST:
        short = slug.encode()[: _LONGEST - _MARK - 1].decode(errors="ignore")
        slug = f"{short}-{_mark(subject)}"
    return f"{slug}-note.md" if slug in RESERVED else f"{slug}.md"


def _kept(character: str) -> bool:
    # Marks as well as letters: without its vowel signs a word in Hindi or Thai is another word.
    return character in "_-" or unicodedata.category(character)[0] in "LMN"


def _mark(subject: str) -> str:
    return hashlib.sha256(clean(subject).encode()).hexdigest()[:_MARK]


INDEX: Final = "MEMORY.md"
MOST_FILES: Final = 10_000  # of a space
MOST_FOLDERS: Final = 2
_LONGEST_NAME: Final = 200  # bytes; a temporary file's name may add some
_LONGEST_PATH: Final = 500
_FORBIDDEN: Final = frozenset('\\:*?"<>|')  # separators, drives and streams, or no name on other systems
#: What looks like a slash, a backslash or a dot and is none.
_LOOKALIKES: Final = frozenset(
    "\u2024\u2025\u2044\u2215\u2216\u2571\u2572\u27cb\u27cd\u29f5\u29f8\u29f9\u3033\uff0e"
)
_PLAIN = re.compile(r"[A-Za-z0-9_. -]+")
_WORDS = 6  # of the text that replaces a missing name
_DEVICES = RESERVED - {"memory"}


def checked_path(path: str, *, folders: int = MOST_FOLDERS) -> str:
    """`path` normalized: relative, with `/` between its parts. Raises: Invalid."""
    if not path or not path.strip():
        raise _wrong(path, "it is empty: give a name like `notes.md`")
    if "\0" in path:
        raise _wrong(path, "it contains a NUL character")
    if path.startswith(("/", "~")):
        raise _wrong(path, "it is outside the directory: give a name inside it, like `notes.md`")
    parts = path.split("/")
    if len(parts) > folders + 1:
        allowed = f"at most {folders} folders" if folders else "a name without folders"
        raise _wrong(path, f"it is nested too deeply: give {allowed}")
    for part in parts:
        if reason := wrong_name(part):
            raise _wrong(path, reason)
    if len(path.encode()) > _LONGEST_PATH:
        raise _wrong(path, f"it is too long: at most {_LONGEST_PATH} bytes")
    if is_index(path):
        raise _wrong(path, f"{INDEX} is the index, generated from the files: change the files instead")
    return path


@lru_cache(maxsize=20_000)  # a directory is looked at again and again
def wrong_name(name: str) -> str | None:
    """Why a file or a folder may not have this name, if so."""
    if name in ("", ".", ".."):
        return f"{name or 'an empty part'!r} is not a valid name"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    if name.startswith("."):
        return "names that begin with a dot are hidden: leave the dot out"
    if name != name.strip() or name.endswith((".", "~")):
        return "a name may not begin with a space or end with a space, a dot or ~"
    if found := sorted(_FORBIDDEN & set(name)):
        return f"it contains {found[0]!r}"
    if not _PLAIN.fullmatch(name) and (
        name != clean(name, one_line=True) or any(_odd(character) for character in name)
    ):
        return "it contains invisible or confusable characters"
    if size > _LONGEST_NAME:
        return f"a name is at most {_LONGEST_NAME} bytes long"
    if name.split(".")[0].strip().casefold() in _DEVICES:
        return "some systems reserve this name for a device"
    return None


def is_index(path: str) -> bool:
    """Whether a path means the index; some file systems ignore case."""
    return path.casefold() == INDEX.casefold()


def assigned(
    memories: Iterable[Memory],
    known: Mapping[str, str],
    *,
    by_category: bool = False,
    keyed: bool = True,
    taken: Collection[str] = (),
) -> dict[str, str]:
    """A path for each memory: the known one, else a free one made from its name."""
    folded = {path.casefold() for path in (*known.values(), *taken)}
    paths: dict[str, str] = {}
    ordered = sorted(memories, key=lambda memory: (memory.created_at, memory.id))
    for memory in ordered:
        path = known.get(memory.id)
        if path is None:
            path = _free(_proposed(memory, by_category=by_category, keyed=keyed), folded)
            folded.add(path.casefold())
        paths[memory.id] = path
    return paths


def _proposed(memory: Memory, *, by_category: bool, keyed: bool) -> str:
    words = " ".join(clean(memory.content, one_line=True).split()[:_WORDS])
    if memory.subject and keyed:
        words = memory.subject
    elif memory.subject:
        words = f"{memory.subject} {words}"
    name = file_name(words or memory.id)
    return f"{memory.category}/{name}" if by_category else name


def _free(path: str, taken: Collection[str]) -> str:
    stem, suffix = path.removesuffix(".md"), PurePosixPath(path).suffix
    number = 1
    while path.casefold() in taken or is_index(path):
        number += 1
        path = f"{stem}-{number}{suffix}"
    return path


def _odd(character: str) -> bool:
    kind = unicodedata.category(character)
    if kind[0] in "CZ" and character not in " \u200c\u200d":  # scripts and emoji need the joiners
        return True
    return character in _LOOKALIKES or bool(re.search(r"[/\\.:]", _compatible(character)))


def _compatible(character: str) -> str:
    """The character that a file system may store instead, if it is another one."""
    folded = unicodedata.normalize("NFKC", character)
    return "" if folded == character else folded


def _wrong(path: str, reason: str) -> Invalid:
    shown = clean(path[:80], one_line=True)
    return Invalid(f"invalid file name {shown!r}: {reason}", field="path")
