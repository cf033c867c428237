"""The places of the sidebar, in their order. A page says which is its own; a place without one is hidden."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Section:
    """One place of the sidebar."""

    name: str  # also of its icon
    title: str
    path: str


SECTIONS: Final = (
    Section("overview", "Overview", "/"),
    Section("sessions", "Sessions", "/sessions"),
    Section("events", "Events", "/events"),
    Section("memories", "Memories", "/memories"),
    Section("cooldowns", "Cooldowns", "/cooldowns"),
    Section("inbox", "Inbox", "/inbox"),
    Section("search", "Search", "/search"),
    Section("stats", "Stats", "/stats"),
    Section("files", "Files", "/files"),
    Section("settings", "Settings", "/settings"),
)


def present(names: frozenset[str]) -> tuple[Section, ...]:
    """The sections that have a page."""
    return tuple(section for section in SECTIONS if section.name in names)
