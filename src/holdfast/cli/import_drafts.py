"""`import` of formats that become memories: JSON lines, plain text, graphs and notes of other programs."""

import hashlib
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli import say
from holdfast.cli.call import Call
from holdfast.wire.values import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.agents.import_notes import FileDrafts
    from holdfast.engine.imports import ImportResult


#: Formats of files that are rewritten with their earlier content.
_GROWING = frozenset({"mcp-memory", "auto-memory", "basic-memory", "mem0", "csv"})


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an import as text and JSON; `nothing` when every line was invalid."""

    lines: list[str]
    answer: dict[str, Any]
    nothing: bool = False


def of_file(
    call: Call,
    path: str,
    text: str,
    raw: bytes,
    format_name: str | None,
    *,
    review: bool,
    dry_run: bool = False,
) -> Report:
    """Imports one file."""
    from holdfast.agents import import_notes
    from holdfast.app import wiring
    from holdfast.domain.memory import Source

    name = Path(path).name
    if format_name == "basic-memory" and path != "-":
        import_notes.refuse_other(name)
    # The same bytes are the same session: a repetition within a session counts once.
    session = f"import-{hashlib.sha256(raw).hexdigest()[:12]}"
    found = wiring.drafts_in(text, Source(origin="import", session=session), format_name, name=name)
    if found.format in _GROWING and path != "-":
        # Such a file grows: all its versions are one session.
        by_folder = found.format in ("auto-memory", "basic-memory")
        session = import_notes.session_of(Path(path).parent if by_folder else Path(path))
        origin: Any = "file" if found.format == "auto-memory" else "import"
        found = wiring.drafts_in(text, Source(origin=origin, session=session), found.format, name=name)
    return _taken(call, found, session, review, dry_run)


def of_folder(
    call: Call, folder: Path, format_name: str | None, *, review: bool, dry_run: bool = False
) -> list[Report]:
    """Imports the notes of a folder."""
    from holdfast.agents import import_notes

    reports = []
    for place, session, found in import_notes.found_in(folder, format_name):
        report = _taken(call, found, session, review, dry_run)
        report.lines[0] += f" ({say.one_line(str(place))})"
        report.answer["path"] = str(place)
        reports.append(report)
    return reports


def _taken(call: Call, found: "FileDrafts", session: str, review: bool, dry_run: bool) -> Report:
    from holdfast.agents import import_notes

    with call.memories("import", session) as memories, _progress(found, quiet=call.json) as report:
        told = import_notes.take(found, memories, review=review, dry_run=dry_run, report=report)
    counts, refused = _tally(told)
    broken = sorted([*found.broken, *refused])
    unit = "file" if found.files else "line"
    names = {number: found.files[number - 1] if found.files else number for number, _ in broken}
    answer: dict[str, Any] = {"format": found.format, "session": session, "counts": counts}
    answer["broken"] = [{unit: names[number], "reason": reason} for number, reason in broken]
    became = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    done = "Would import" if dry_run else "Imported"
    lines = [f"{done} from {found.format}: {became or 'nothing'}"]
    if found.skipped:
        left_out = ", ".join(f"{number:,} {reason}" for reason, number in found.skipped.items())
        lines.append(f"  Skipped: {left_out}")
        answer["skipped"] = dict(found.skipped)
    lines += [
        f"  {unit.capitalize()} {say.one_line(str(names[number]))}: {say.one_line(reason)}"
        for number, reason in broken
    ]
    if dry_run:
        answer["dry_run"] = True
        lines.append("  Dry run: nothing was imported")
    elif counts:
        lines.append(f"  Undo with {say.command('undo-session', session)}")
    return Report(lines, answer, nothing=bool(broken) and not counts)


def _tally(told: "list[ImportResult]") -> tuple[dict[str, int], list[tuple[int, str]]]:
    """Counts by outcome, and the refused lines with their reasons."""
    from holdfast.domain.outcomes import Refused, Reinforced

    counts: dict[str, int] = {}
    refused = []
    for one in told:
        match one.outcome:
            case Refused(reason):
                refused.append((one.line, reason))
                continue
            case Reinforced(counted=False):
                name = "known"
            case _:
                name = str(to_json(one.outcome)["outcome"])
        counts[name] = counts.get(name, 0) + 1
    return counts, refused


@contextmanager
def _progress(found: "FileDrafts", *, quiet: bool) -> "Iterator[Callable[[int], None]]":
    """A progress bar on a terminal; silent elsewhere."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Importing", total=len(found.drafts) or None)
        yield lambda done: bar.update(task, completed=done)
