"""What is said where nothing of a project shows."""

from typing import TYPE_CHECKING

from holdfast.cli import say
from holdfast.errors import nearest

if TYPE_CHECKING:
    from holdfast.engine.memories import Memories


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
    named = f"known projects: {say.one_line(nearest(project, known))}" if known else "no project has any"
    return f"no memories in project {say.one_line(repr(project))}: {named}"
