"""A memory as the text of a file, and a file's text as a memory. Knows no disk and no database."""

import hashlib
import json

from holdfast.domain.memory import Draft, Memory, Revision, Source
from holdfast.domain.profile import Profile
from holdfast.domain.space import FileRow
from holdfast.domain.text import clean
from holdfast.files import frontmatter
from holdfast.files.frontmatter import Sheet


def mark(memory: Memory) -> str:
    """A hash that changes whenever the file of this memory would change."""
    said = [memory.subject, memory.summary, memory.category, memory.project, memory.tags, memory.content]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def text_of(memory: Memory | None, row: FileRow | None, *, nested: bool = False) -> str:
    """The text of a memory's file: as given, as long as it agrees with the memory."""
    given = row.given if row is not None else None
    if memory is None:
        return given or ""
    if given is None:
        return frontmatter.written(_sheet(memory), nested=nested)
    if row is not None and row.mark == mark(memory):
        return given
    return frontmatter.rewritten(given, _sheet(memory))


def row_for(path: str, memory: Memory | None, text: str, *, nested: bool = False) -> FileRow:
    """The row of a file with this text, before it is on disk."""
    if memory is None:
        return FileRow(path=path, memory=None, given=text)
    # What we write names its memory; a file that does not was written by somebody else.
    ours = memory.id in text and text == frontmatter.written(_sheet(memory), nested=nested)
    return FileRow(path=path, memory=memory.id, given=None if ours else text, mark=mark(memory))


def draft_of(sheet: Sheet, path: str, profile: Profile, source: Source) -> Draft:
    """The draft of a new file. Without front matter its name is the subject, and it has no type."""
    return Draft(
        content=sheet.text if sheet.text.strip() else sheet.description or "",
        category=category_of(sheet, path, profile),
        subject=_cut(sheet.name, profile.limits.subject_max) or named(path, profile),
        summary=_cut(sheet.description, profile.limits.summary_max),
        project=sheet.project,
        tags=sheet.tags,
        source=source,
    )


def revision_of(sheet: Sheet, known: Memory, before: Sheet, path: str, profile: Profile) -> Revision:
    """The revision for a changed file; what it does not mention stays."""
    content = sheet.text if sheet.text.strip() else sheet.description or ""
    if not sheet.has_heading and not before.has_heading:
        return Revision(content=content)
    if not sheet.has_heading:  # it was taken out: now it is a file by its name alone
        draft = draft_of(sheet, path, profile, known.source)
        return Revision(content=content, category=draft.category, subject=draft.subject or "", summary="")
    return Revision(
        content=content,
        category=category_of(sheet, path, profile) if "type" in sheet.keys else None,
        subject=_cut(sheet.name, profile.limits.subject_max),
        summary=_cut(sheet.description, profile.limits.summary_max) or "",
        project=sheet.project or ("" if "project" in before.keys else None),
        tags=sheet.tags if "tags" in sheet.keys | before.keys else None,
    )


def category_of(sheet: Sheet, path: str, profile: Profile) -> str | None:
    """The type in a file, else its folder's, else the one for files without a type."""
    folder = path.partition("/")[0]
    for wanted in (sheet.type, folder if "/" in path else None):
        if wanted is not None and wanted in profile.category_names:
            return wanted
    return profile.unsorted or profile.default_category


def named(path: str, profile: Profile) -> str | None:
    """The name of a file without one; only if the profile requires unique names."""
    if not profile.policy.subject_is_key:
        return None
    return _cut(path.removesuffix(".md"), profile.limits.subject_max)


def _sheet(memory: Memory) -> Sheet:
    return Sheet(
        text=memory.content,
        has_heading=True,
        name=memory.subject,
        description=memory.summary,
        type=memory.category,
        id=memory.id,
        project=memory.project,
        tags=memory.tags,
        updated=memory.updated_at.date(),
    )


def _cut(text: str | None, most: int) -> str | None:
    """The part of a line that fits; the file has all of it."""
    return clean(text, one_line=True).strip()[:most].strip() or None if text else None
