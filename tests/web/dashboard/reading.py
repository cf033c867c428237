"""A page as a browser's parser sees it, with the standard library: its elements, attributes and texts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"input", "meta", "link", "br", "img", "hr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    @property
    def whole_text(self) -> str:
        return " ".join(" ".join([self.text, *(child.whole_text for child in self.children)]).split())


class Page(HTMLParser):
    """All elements of a page, in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"never closed: {[one.tag for one in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        assert len(element.attributes) == len(attrs), f"an attribute twice in <{tag}>"
        self.elements.append(element)
        if self._open:
            self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> ends nothing"
        assert self._open[-1].tag == tag, f"</{tag}> ends <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        return [
            one
            for one in self.elements
            if one.tag == tag
            and all(one.attributes.get(name.strip("_")) == value for name, value in attributes.items())
        ]

    def by_id(self, name: str) -> Element:
        [found] = [one for one in self.elements if one.attributes.get("id") == name]
        return found

    @property
    def shape(self) -> Counter[tuple[str, frozenset[str]]]:
        """How many elements of each kind there are, told by tag and names of attributes."""
        return Counter((one.tag, frozenset(one.attributes)) for one in self.elements)

    @property
    def rows(self) -> list[Element]:
        return [one for one in self.all("tr") if "memory" in one.attributes.get("class", "").split()]
