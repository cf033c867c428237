"""What is said where nothing of a project shows."""

from typing import TYPE_CHECKING

from holdfast.cli import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.engine.memories import Memories

_NAMED = 10  # in a hint


def hint(memories: "Memories", project: str | None) -> str:
    """What is said where `project` is not known, or where there is none and projects have memories."""
    from holdfast.domain.query import Filter

    if project is not None:
        return unknown(memories, project)
    every, own = (memories.find(Filter(other_projects=wide), limit=0).total for wide in (True, False))
    return f"{every - own:,} more belong to projects: --project NAME" if every > own else ""


def unknown(memories: "Memories", project: str) -> str:
    """The known projects, where `project` is none of them."""
    known = memories.projects()
    if project in known:
        return ""
    named = f"known projects: {nearest(project, known)}" if known else "no project has any"
    return f"no memories in project {say.one_line(repr(project))}: {named}"


def nearest(name: str, known: "Iterable[str]") -> str:
    """Some of the known names, the most similar first."""
    from difflib import SequenceMatcher

    by_likeness = sorted(known, key=lambda each: (-SequenceMatcher(None, name, each).ratio(), each))
    more = f" and {len(by_likeness) - _NAMED:,} more" if len(by_likeness) > _NAMED else ""
    return f"{say.one_line(', '.join(by_likeness[:_NAMED]))}{more}"
