"""A file that a person sent: its memories or sessions go into a space, whatever format it has.

Knows nothing of how it was sent. The same file twice changes nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from holdfast.agents import import_notes, importers
from holdfast.agents.transcripts import Tally, take
from holdfast.domain.memory import Source
from holdfast.domain.outcomes import Refused, Reinforced
from holdfast.engine.archive import is_archive
from holdfast.engine.imports import ImportResult
from holdfast.engine.memories import Memories
from holdfast.errors import Invalid

_READ_AT_ONCE: Final = 1024 * 1024  # bytes of a transcript
_BROKEN: Final = 20  # lines that are named


@dataclass(slots=True)
class UploadProgress:
    """How far an import is, and what became of its parts so far."""

    format: str = ""
    session: str | None = None  # that can be undone
    done: int = 0
    total: int = 0  # 0: not known yet
    counts: Counter[str] = field(default_factory=Counter)  # by outcome, in words
    broken: list[tuple[int, str]] = field(default_factory=list)  # lines, with the reason
    unreadable: int = 0


def take_upload(
    path: Path,
    memories: Memories,
    progress: UploadProgress,
    *,
    project: str | None = None,
    review: bool = False,
) -> UploadProgress:
    """Imports a file, whose name may tell its format. With `review`, new memories wait in the inbox.

    Memories for which the file names no project are of `project`; archives and sessions stay as they are.

    Raises: Invalid, Conflict, Unavailable.
    """
    if (format_name := importers.transcript_format(path)) is not None:
        return _sessions(path, format_name, memories, progress)
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise Invalid(f"{path.name!r} is empty: nothing was imported")
    if is_archive(first):
        return _archive(text, memories, progress)
    return _records(text, path, memories, progress, project=project, review=review)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid(f"{path.name!r} is in no known format, and not UTF-8 text") from None


def _records(
    text: str,
    path: Path,
    memories: Memories,
    progress: UploadProgress,
    *,
    project: str | None,
    review: bool,
) -> UploadProgress:
    form = importers.recognised(text, path.name)
    # All versions of a file that grows are one session, so that repetitions count once.
    seed = path.name if form.grows else text
    session = f"import-{hashlib.sha256(seed.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"
    source = Source(origin=form.origin, session=session)
    if isinstance(form, importers.LineFormat):
        found = importers.drafts_by_line(lambda: text.splitlines(keepends=True), source, form)
    else:
        found = importers.drafts_in(text, source, form, name=path.name)
    progress.format, progress.session, progress.total = form.name, session, len(found.drafts)
    progress.broken, progress.unreadable = list(found.broken[:_BROKEN]), len(found.broken)
    memories.open_session(session, name=f"Import of {path.name}"[:120])
    importing = memories.speaking_as("import", session=session)
    for batch in import_notes.take(found, importing, project=project, review=review):
        for one in batch:
            _count(one, progress)
        progress.done += len(batch)
    memories.close_session(session)
    return progress


def _count(one: ImportResult, progress: UploadProgress) -> None:
    match one.outcome:
        case Refused(reason):
            progress.unreadable += 1
            if len(progress.broken) < _BROKEN:
                progress.broken.append((one.line, reason))
        case Reinforced(counted=False):
            progress.counts["already known"] += 1
        case outcome:
            progress.counts[_WORDS[type(outcome).__name__]] += 1


_WORDS: Final = {
    "Added": "added",
    "Reinforced": "confirmed a known memory",
    "Merged": "merged into a known memory",
    "Contradicting": "added, contradicting a known memory",
    "UpdateSuggested": "not added: a known memory is nearly the same",
    "Waiting": "waiting in the inbox",
}


def _archive(text: str, memories: Memories, progress: UploadProgress) -> UploadProgress:
    progress.format = "holdfast"
    parts = memories.import_archive(text.splitlines(keepends=True))
    told = {
        "added": sum(part.added for part in parts),
        "already known": sum(part.known for part in parts),
        "different here, not overwritten": sum(len(part.different) for part in parts),
        "deleted here, not restored": sum(len(part.buried) for part in parts),
    }
    progress.counts.update({name: amount for name, amount in told.items() if amount})
    return progress


def _sessions(path: Path, format_name: str, memories: Memories, progress: UploadProgress) -> UploadProgress:
    space = memories.store.space(memories.space)
    if space is not None and not space.keeps_messages:
        raise Invalid(f"space {memories.space!r} does not store messages: choose another space")
    progress.format, progress.total = format_name, path.stat().st_size
    tally, offset, unfinished = Tally(), 0, True
    while unfinished:
        reading = importers.TRANSCRIPTS[format_name].read_from(path, offset, _READ_AT_ONCE)
        take(reading, memories, tally, report=_share(progress, offset, reading.next_offset))
        offset, unfinished = reading.next_offset, reading.unfinished
        progress.done = offset
    progress.counts.update({"sessions": len(tally.sessions), "messages": tally.messages})
    progress.counts["new messages"] = tally.kept
    progress.unreadable = tally.broken + len(tally.refused)
    progress.broken = [(0, f"{name}: {reason}") for name, reason in tally.refused[:_BROKEN]]
    return progress


def _share(progress: UploadProgress, begin: int, end: int) -> Callable[[float], None]:
    def report(share: float) -> None:
        progress.done = begin + int((end - begin) * share)

    return report
