"""The documentation holds together: links lead somewhere, pages, settings and decisions are listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
PAGES = sorted(
    page
    for place in (".", "docs", "docker", "deploy", "plugin", "examples", "src")
    for page in (REPOSITORY / place).glob("*.md" if place == "." else "**/*.md")
)
_CODE = re.compile(r"^( *)(```|~~~).*?^\1\2 *$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#+\s+(.+?)\s*$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    dead = [link for link, target, anchor in _links(page) if not target.exists() or not _has(target, anchor)]

    assert dead == []


def test_every_page_is_listed_in_the_index() -> None:
    listed = {target.resolve() for _, target, _ in _links(DOCS / "README.md")}

    assert sorted(set(DOCS.glob("**/*.md")) - listed - {DOCS / "README.md"}) == []


def test_the_readme_leads_to_the_index() -> None:
    assert DOCS / "README.md" in {target.resolve() for _, target, _ in _links(REPOSITORY / "README.md")}


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(page.name[:4]) for page in sorted((DOCS / "decisions").glob("*.md"))]

    assert numbers == list(range(1, len(numbers) + 1))


def test_every_setting_is_listed() -> None:
    listed = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    source = "".join(file.read_text(encoding="utf-8") for file in (REPOSITORY / "src").rglob("*.py"))
    ours = re.compile(r"(?<![\w])HOLDFAST_[A-Z_]*[A-Z]\b")

    # The names of upstreams are made from those of the vendors.
    assert set(ours.findall(listed)) >= set(ours.findall(source)) - {"HOLDFAST_COMPLETE"}
    assert set(ours.findall(source)) | {"HOLDFAST_OPENAI_UPSTREAM"} >= set(ours.findall(listed))


def _links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """What a page links to in this repository: as it is written, the file, and the heading in it."""
    for link in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        yield link, (page.parent / path) if path else page, anchor


def _has(target: Path, anchor: str) -> bool:
    """Whether a page has a heading that is linked to by `anchor`, in the form that GitHub gives it."""
    if not anchor:
        return True
    text = _CODE.sub(lambda found: "" if "\n" in found[0] else found[0], target.read_text(encoding="utf-8"))
    headings = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return anchor in {heading.replace(" ", "-") for heading in headings}
