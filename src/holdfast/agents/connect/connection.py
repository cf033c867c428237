"""Connects and disconnects a client: changes all files or none, and keeps copies of the originals.

A file that has not changed since is restored byte for byte; from a changed one, exactly our entries are
removed. A record of the changes is in the data directory, but disconnecting works without it.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.agents.connect.clients import ClientProgram, Scope, Setup
from holdfast.agents.connect.settings_files import ClientSettings
from holdfast.app import paths
from holdfast.errors import HoldfastError, Invalid, Unavailable


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A file before and after; None if it does not exist."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def needed(self) -> bool:
        return self.before != self.after


@dataclass(slots=True, kw_only=True)
class Done:
    """The record of one changed file."""

    path: str
    existed: bool
    before: str  # hashes of its bytes
    after: str
    backup: str | None
    made: list[list[str]] = field(default_factory=list)  # objects and lists around our entries
    folders: list[str] = field(default_factory=list)  # made for the file, innermost first

    @property
    def around(self) -> list[tuple[str, ...]]:
        return [tuple(place) for place in self.made]


class ClientConnection:
    """One client in one place: the user's settings, or a project's."""

    def __init__(
        self, client: ClientProgram, setup: Setup, *, now: Callable[[], datetime] | None = None
    ) -> None:
        if setup.scope not in client.scopes:
            allowed = " or ".join(client.scopes)
            raise Invalid(f"{client.title} has no {setup.scope} settings: use --scope {allowed}")
        self.client = client
        self.setup = setup
        self._now = now or (lambda: datetime.now(UTC))
        self._key = client.name if setup.scope == "user" else f"{client.name}:{setup.scope}:{setup.root}"

    def connecting(self) -> list[SettingsChange]:
        """The changes that `connect` would make; changes nothing.

        Raises: Invalid, Conflict, naming the file.
        """
        return [self._edit(path, settings.put_in) for path, settings in self._files()]

    def connect(self) -> list[SettingsChange]:
        """Adds our entries to the client's settings; a second time changes nothing.

        Raises: Invalid, Conflict, Unavailable; then nothing was changed, or all of it was restored.
        """
        changes = self.connecting()
        files = dict(self._files())
        known = self._record()
        with _all_or_none() as write:
            for change in changes:
                if change.needed:
                    done = self._noted(change, files[change.path], known.get(str(change.path)))
                    known[str(change.path)] = done
                    # On record before it is done: a crash in between leaves a record of nothing, no harm.
                    self._keep_record(known)
                    write(change, 0o644 if self.setup.scope == "project" else 0o600)
        return changes

    def disconnecting(self) -> list[SettingsChange]:
        """The changes that `disconnect` would make; changes nothing. Raises: Invalid, naming the file."""
        known = self._record()
        return [self._undone(path, settings, known.get(str(path))) for path, settings in self._files()]

    def disconnect(self) -> list[SettingsChange]:
        """Removes our entries; a file that has not changed since is restored.

        Raises: Invalid, Unavailable.
        """
        changes = self.disconnecting()
        known = self._record()
        with _all_or_none() as write:
            for change in changes:
                if change.needed:
                    write(change, 0o600)
        for done in known.values():
            _let_go(done)
        self._keep_record({})
        return changes

    # ------------------------------------------------------------------------------------------ one file

    def _files(self) -> list[tuple[Path, ClientSettings]]:
        return self.client.files(self.setup)

    def _edit(self, path: Path, edit: Callable[[str], str]) -> SettingsChange:
        before = _read(path)
        try:
            text = (before or b"").decode("utf-8")
            made = edit(text)
        except UnicodeDecodeError:
            raise Invalid(f"{path} is not UTF-8 text: nothing was changed") from None
        except HoldfastError as wrong:
            raise type(wrong)(f"{path}: {wrong}. Nothing was changed") from None
        return SettingsChange(path, before, before if made == text else made.encode())

    def _undone(self, path: Path, settings: ClientSettings, done: Done | None) -> SettingsChange:
        before = _read(path)
        if before is None or b"holdfast" not in before:  # nothing of ours, which all names us
            return SettingsChange(path, before, before)
        if done is not None and _hash(before) == done.after:
            if not done.existed:
                return SettingsChange(path, before, None)
            old = _read(Path(done.backup)) if done.backup else None
            if old is not None and _hash(old) == done.before:
                return SettingsChange(path, before, old)
        made = done.around if done is not None else None
        change = self._edit(path, lambda text: settings.take_out(text, made))
        nothing_left = (change.after or b"").strip() in (b"", b"{}")
        if done is not None and not done.existed and nothing_left and change.needed:
            return SettingsChange(path, before, None)
        return change

    def _noted(self, change: SettingsChange, settings: ClientSettings, known: Done | None) -> Done:
        """The record of a change, with a copy of the file as it is before it."""
        assert change.after is not None
        after = _hash(change.after)
        if known is not None and change.before is not None and _hash(change.before) == known.after:
            return replace(known, after=after)  # ours alone since the first time: the first copy counts
        before = change.before or b""
        text = before.decode()
        base = settings.take_out(text, known.around if known else None) if change.before is not None else text
        return Done(
            path=str(change.path),
            existed=known.existed if known else change.before is not None,
            before=_hash(before),
            # A copy with our entries in it is not an original.
            after=after if base == text else "",
            backup=self._copied(change.path, before) if change.before is not None else None,
            made=[list(place) for place in settings.made_by(base)],
            folders=[*_missing_folders(change.path), *(known.folders if known else ())],
        )

    def _copied(self, path: Path, content: bytes) -> str:
        stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
        name = f"{self.client.name}-{stamp}-{_hash(str(path).encode())[:8]}-{path.name}"
        backup = os.path.join(paths.backups(), name)
        _guarded(paths.write_private, backup, content)
        return backup

    # ------------------------------------------------------------------------------------------- the record

    def backups(self) -> list[str]:
        """The copies of the original files."""
        return [done.backup for done in self._record().values() if done.backup]

    def _record(self) -> dict[str, Done]:
        try:
            return {one["path"]: Done(**one) for one in _all_records().get(self._key, ())}
        except (TypeError, KeyError):  # damaged, or of another release: it is not needed
            return {}

    def _keep_record(self, known: dict[str, Done]) -> None:
        records = _all_records()
        records.pop(self._key, None)
        if known:
            records[self._key] = [asdict(done) for done in known.values()]
        if not records:
            Path(paths.connections()).unlink(missing_ok=True)
            return
        text = json.dumps(records, indent=2, ensure_ascii=False)
        _guarded(paths.write_private, paths.connections(), f"{text}\n".encode())


@contextmanager
def _all_or_none() -> Iterator[Callable[[SettingsChange, int], None]]:
    """Yields a function that writes files; restores all of them if one can't be written."""
    written: list[SettingsChange] = []

    def write(change: SettingsChange, mode: int) -> None:
        if _read(change.path) != change.before:
            raise Unavailable(f"{change.path} was changed by another program: try again")
        written.append(change)
        _guarded(_put, change.path, change.after, mode)

    try:
        yield write
    except HoldfastError:
        for change in written:
            with suppress(OSError):
                _put(change.path, change.before, 0o600)
        raise


def _put(path: Path, content: bytes | None, mode: int) -> None:
    if content is None:
        Path(os.path.realpath(path)).unlink(missing_ok=True)
    else:
        paths.rewrite(str(path), content, mode=mode)


def _guarded(write: Callable[..., None], path: object, *rest: object) -> None:
    try:
        write(path, *rest)
    except OSError as error:
        raise Unavailable(f"{path} can't be written: {error.strerror}. Nothing was changed") from None


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"{path} can't be read: {error.strerror}. Nothing was changed") from None


def _let_go(done: Done) -> None:
    """Removes the copy if the file is as before, and empty folders that were created for it."""
    back = _read(Path(done.path))
    if done.backup and back is not None and _hash(back) == done.before:
        Path(done.backup).unlink(missing_ok=True)
    for folder in done.folders:
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)


def _missing_folders(path: Path) -> list[str]:
    return [str(folder) for folder in Path(os.path.realpath(path)).parents if not folder.exists()]


@dataclass(frozen=True, slots=True)
class RecordedConnection:
    """A connection as it is on record."""

    client: str
    scope: Scope
    root: Path | None  # of the project
    files: list[Path]


def recorded() -> list[RecordedConnection]:
    """The connections on record; damaged entries are left out."""
    found = []
    for key, files in _all_records().items():
        client, _, place = key.partition(":")
        scope, _, root = place.partition(":")
        with suppress(TypeError, KeyError):
            named: Scope = scope or "user"  # type: ignore[assignment]
            changed = [Path(one["path"]) for one in files]
            found.append(RecordedConnection(client, named, Path(root) if root else None, changed))
    return found


def _all_records() -> dict[str, list[dict[str, Any]]]:
    try:
        found = json.loads(Path(paths.connections()).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
