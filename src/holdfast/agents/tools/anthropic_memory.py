"""Anthropic's memory tool (`memory_20250818`) over the files of a space: six commands under /memories.

The answers are, letter for letter, those of the vendor's own implementation on a directory; fewer paths are
allowed (`domain.file_paths`). Knows neither the SDK nor HTTP: a command is what a model sent. A folder
exists as long as a file is in it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.agents.tools import tool_text
from holdfast.agents.tools.definition import Answer
from holdfast.domain.file_paths import checked_path
from holdfast.domain.text import clean
from holdfast.errors import Conflict, Forbidden, HoldfastError, Invalid, NotFound, Outdated, Unavailable

if TYPE_CHECKING:
    from holdfast.engine.memories import Memories
    from holdfast.files.verbs import FileChange, FileEntry, FileText

ROOT = "/memories"
_MAX_LINES = 999_999
_WIDTH = len(str(_MAX_LINES))
_FOLDER_SIZE = 4096  # what a folder has on most disks
_TRIES = 5  # retries of an edit after a concurrent one
_CONTEXT = 2  # lines shown before and after a change


class ToolRefusal(HoldfastError):
    """A refusal in the tool's own words, for the model."""


def answered(memories: "Memories", command: Mapping[str, Any]) -> Answer:
    """The tool's answer. A model's mistakes are reported to the model.

    Raises: Forbidden and Unavailable, which a model can't fix.
    """
    try:
        return Answer(executed(memories, command))
    except (Forbidden, Unavailable):
        raise
    except HoldfastError as error:
        return Answer(str(error), failed=True)


def executed(memories: "Memories", command: Mapping[str, Any]) -> str:
    """Executes a command. Raises: ToolRefusal, with the tool's own words; HoldfastError otherwise."""
    name = command.get("command")
    if not isinstance(name, str) or name not in _COMMANDS:
        raise ToolRefusal(f"Unknown command: {name!r:.40}. Use one of {', '.join(_COMMANDS)}")
    run, fields = _COMMANDS[name]
    for field, kind in fields.items():
        value = command.get(field)
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = "a number" if kind is int else "a string"
            raise ToolRefusal(f"The {name} command requires `{field}` as {wanted}")
    return run(memories, command)


# ------------------------------------------------------------------------------------------------- commands


def _view(memories: "Memories", command: Mapping[str, Any]) -> str:
    shown = command["path"]
    path = _relative(shown)
    entries = memories.files()
    if path == "" or _is_folder(path, entries):
        return _listing(shown, path, entries)
    text = _read(memories, path, shown).text
    lines = text.split("\n")
    if len(lines) > _MAX_LINES:
        raise ToolRefusal(f"File {shown} exceeds maximum line limit of 999,999 lines.")
    first, last = _range(command.get("view_range"), len(lines))
    numbered = _numbered(lines[first:last], first + 1)
    return f"Here's the content of {shown} with line numbers:\n{numbered}"


def _create(memories: "Memories", command: Mapping[str, Any]) -> str:
    shown = command["path"]
    path = _relative(shown)
    if path == "" or _is_folder(path, memories.files()):
        raise ToolRefusal(f"File {shown} already exists")
    try:
        change = memories.put_file(path, command["file_text"], new=True)
    except Conflict as refused:
        raise ToolRefusal(f"File {shown} already exists") if _exists(memories, path) else refused from None
    _refuse_waiting(change, shown)
    return f"File created successfully at: {shown}"


def _str_replace(memories: "Memories", command: Mapping[str, Any]) -> str:
    shown, given, new = command["path"], command["old_str"], command["new_str"]
    old = clean(given)  # as the file's own text was
    place = 0

    def changed(text: str) -> str:
        nonlocal place
        count = text.count(old)
        if count == 0:
            raise ToolRefusal(
                f"No replacement was performed, old_str `{given}` did not appear verbatim in {shown}."
            )
        if count > 1:
            lines = ", ".join(map(str, tool_text.lines_with(text, old)))
            raise ToolRefusal(
                f"No replacement was performed. Multiple occurrences of old_str `{given}` in lines: {lines}."
                " Please ensure it is unique"
            )
        place = text.count("\n", 0, text.find(old))
        return text.replace(old, new)

    lines = _edited(memories, shown, changed).split("\n")
    first = max(0, place - _CONTEXT)
    snippet = _numbered(lines[first : place + _CONTEXT + 1], first + 1)
    said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return f"{said}\n{snippet}"


def _insert(memories: "Memories", command: Mapping[str, Any]) -> str:
    shown, line = command["path"], command["insert_line"]

    def changed(text: str) -> str:
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= line <= len(lines):
            raise ToolRefusal(
                f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, command["insert_text"].rstrip("\n"))
        whole = "\n".join(lines)
        return whole if whole.endswith("\n") else f"{whole}\n"

    _edited(memories, shown, changed)
    return f"The file {shown} has been edited."


def _delete(memories: "Memories", command: Mapping[str, Any]) -> str:
    shown = command["path"]
    path = _relative(shown)
    if path == "":
        raise ToolRefusal(f"Cannot delete the {ROOT} directory itself")
    try:
        memories.delete_file(path)
    except NotFound:
        raise ToolRefusal(f"The path {shown} does not exist") from None
    return f"Successfully deleted {shown}"


def _rename(memories: "Memories", command: Mapping[str, Any]) -> str:
    old_shown, new_shown = command["old_path"], command["new_path"]
    old, new = _relative(old_shown), _relative(new_shown)
    if old == "":
        raise ToolRefusal(f"Cannot rename the {ROOT} directory itself")
    if new == "" or _exists(memories, new):
        raise ToolRefusal(f"The destination {new_shown} already exists")
    try:
        memories.rename_file(old, new)
    except NotFound:
        raise ToolRefusal(f"The path {old_shown} does not exist") from None
    return f"Successfully renamed {old_shown} to {new_shown}"


_PATH = {"path": str}
_COMMANDS: Mapping[str, tuple[Callable[["Memories", Mapping[str, Any]], str], Mapping[str, type]]] = {
    "view": (_view, _PATH),
    "create": (_create, {**_PATH, "file_text": str}),
    "str_replace": (_str_replace, {**_PATH, "old_str": str, "new_str": str}),
    "insert": (_insert, {**_PATH, "insert_line": int, "insert_text": str}),
    "delete": (_delete, _PATH),
    "rename": (_rename, {"old_path": str, "new_path": str}),
}


# --------------------------------------------------------------------------------------------------- paths


def _relative(path: str) -> str:
    """The path below the root, empty for the root itself; one slash at its end means nothing.

    Raises: ToolRefusal; Invalid, for a name that no file may have.
    """
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolRefusal(f"Path must start with {ROOT}, got: {path:.200}")
    inner = path[len(ROOT) + 1 :].removesuffix("/")
    if any(part in (".", "..") for part in inner.split("/")):
        raise ToolRefusal(f"Path {path:.200} would escape {ROOT} directory")
    return checked_path(inner) if inner else ""


def _is_folder(path: str, entries: Sequence["FileEntry"]) -> bool:
    return any(entry.path.startswith(f"{path}/") for entry in entries)


def _exists(memories: "Memories", path: str) -> bool:
    return any(entry.path == path or entry.path.startswith(f"{path}/") for entry in memories.files())


# --------------------------------------------------------------------------------------------- text and edits


def _read(memories: "Memories", path: str, shown: str) -> "FileText":
    try:
        return memories.file(path)
    except NotFound:
        raise ToolRefusal(f"The path {shown} does not exist. Please provide a valid path.") from None


def _edited(memories: "Memories", shown: str, changed: Callable[[str], str]) -> str:
    """Changes a file's current text, even if others change it at the same time."""
    path = _relative(shown)
    if path == "" or _is_folder(path, memories.files()):
        raise ToolRefusal(f"The path {shown} is not a file.")
    for tried in range(_TRIES):
        found = _read(memories, path, shown)
        text = changed(found.text)
        try:
            change = memories.put_file(path, text, expect=found.sha256)
        except (Outdated, NotFound):
            if tried == _TRIES - 1:
                raise
            continue
        _refuse_waiting(change, shown)
        return text
    raise AssertionError("the last try answers or raises")


def _refuse_waiting(change: "FileChange", shown: str) -> None:
    if change.waiting:
        raise ToolRefusal(f"The change to {shown} is waiting for the user's approval: {change.told}")


def _listing(shown: str, path: str, entries: Sequence["FileEntry"]) -> str:
    """The folder itself, then its content down to the second level, by name."""
    sizes: dict[tuple[str, ...], int | None] = {}  # None: a folder
    inside = f"{path}/" if path else ""
    for entry in entries:
        if entry.path.startswith(inside):
            parts = tuple(entry.path[len(inside) :].split("/"))
            for depth in range(1, len(parts)):
                sizes[parts[:depth]] = None
            sizes[parts] = entry.size
    lines = [f"{size_of(_FOLDER_SIZE)}\t{shown}"]
    for parts in sorted(parts for parts in sizes if len(parts) <= 2):
        size = sizes[parts]
        name = "/".join(parts) + ("/" if size is None else "")
        lines.append(f"{size_of(_FOLDER_SIZE if size is None else size)}\t{shown}/{name}")
    head = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
    return "\n".join([head, *lines])


def size_of(size: int) -> str:
    """`8B`, `4K`, `1.5K`."""
    unit = min(max(size.bit_length() - 1, 0) // 10, 3)
    amount = size / 1024**unit
    return f"{int(amount) if amount == int(amount) else f'{amount:.1f}'}{'BKMG'[unit]}"


def _range(wanted: Any, lines: int) -> tuple[int, int]:
    if not wanted:
        return 0, lines
    if (
        not isinstance(wanted, list | tuple)
        or len(wanted) != 2
        or any(type(number) is not int for number in wanted)
    ):
        raise Invalid(
            "view_range must be two line numbers such as [1, 20]; -1 means the end", field="view_range"
        )
    first, last = wanted
    return max(1, first) - 1, lines if last == -1 else last


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first))
