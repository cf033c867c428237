"""An index that somebody else writes as well: lines are added and taken away, all others stay as they are."""

import re
from urllib.parse import unquote

from holdfast.domain.profile import Profile
from holdfast.domain.render import inline, link_target, link_text
from holdfast.domain.text import clean
from holdfast.files.memory_paths import MemoryFile

_POINTER = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(([^)\s]+)\)")
_DESCRIPTION = 120  # characters of a text that stand for a missing description


def followed(current: str | None, shown: list[MemoryFile]) -> str:
    """The index with a line for each file that has none, and without those of files that are gone."""
    paths = {place.path for place in shown}
    named: set[str] = set()
    lines = []
    for line in (current or "").splitlines():
        target = _target(line)
        if target is not None and target.endswith(".md") and "://" not in target and target not in paths:
            continue
        if target is not None:
            named.add(target)
        lines.append(line)
    lines += [_line(place) for place in shown if place.path not in named]
    return "\n".join(lines) + "\n" if lines else ""


def foreign_lines(text: str, profile: Profile) -> list[str]:
    """The lines that nobody would get back by making the index anew."""
    headings = {f"# {profile.block.title}", "(empty)", f"## {profile.block.general}"}
    headings |= {f"## {name[:1].upper()}{name[1:]}" for name in profile.category_names}
    more = re.compile(r"\([\d,]+ more not shown\)")
    return [
        line.rstrip()
        for line in text.splitlines()
        if line.strip()
        and line.strip() not in headings
        and _target(line) is None
        and not more.fullmatch(line.strip())
    ]


def _target(line: str) -> str | None:
    found = _POINTER.match(line)
    return unquote(found[1]) if found else None


def _line(place: MemoryFile) -> str:
    memory = place.memory
    assert memory is not None
    name = memory.subject or place.path.removesuffix(".md")
    says = memory.summary or next(iter(clean(memory.content).strip().split("\n")), "")[:_DESCRIPTION]
    target = "/".join(map(link_target, place.path.split("/")))
    return f"- [{link_text(name)}]({target}) — {inline(says)}"
