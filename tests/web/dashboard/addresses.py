"""Every page of the dashboard, by what it is called: a new page goes into this list, and is checked like all.

Checks: no serious finding of axe-core, no wider than a phone, dark and light, no hostile text gets through.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Example:
    """Ids of things that the checked spaces hold."""

    memory: str
    session: str
    space: str = "ops"
    file: str = ""
    subject: str = "caddy"


PAGES: dict[str, Callable[[Example], str]] = {
    "overview": lambda known: f"/?space={known.space}",
    "sessions": lambda known: f"/sessions?space={known.space}",
    "one session": lambda known: f"/sessions/{quote(known.session, safe='')}?space={known.space}",
    "undo a session?": lambda known: f"/undo-session?session={quote(known.session)}&space={known.space}",
    "events": lambda known: f"/events?space={known.space}",
    "cooldowns": lambda known: f"/cooldowns?space={known.space}",
    "inbox": lambda known: f"/inbox?space={known.space}",
    "memories": lambda known: f"/memories?space={known.space}",
    "memories by subject": lambda known: f"/memories?space={known.space}&group=subject&sort=confidence",
    "waiting memories": lambda known: f"/memories?space={known.space}&state=waiting",
    "deleted memories": lambda known: f"/memories?space={known.space}&state=deleted",
    "add a memory": lambda known: f"/memories/new?space={known.space}",
    "one memory": lambda known: f"/memories/{known.memory}?space={known.space}",
    "timeline": lambda known: f"/timeline?space={known.space}&subject={quote(known.subject)}",
    "import": lambda known: f"/import?space={known.space}",
    "create a space": lambda known: f"/spaces/new?space={known.space}",
    "two versions": lambda known: f"/memories/{known.memory}/compare?first=1&second=2&space={known.space}",
    "delete?": lambda known: f"/memories/delete?id={known.memory}&space={known.space}",
    "erase?": lambda known: f"/memories/{known.memory}/erase?space={known.space}",
    "search": lambda known: f"/search?space={known.space}",
    "search results": lambda known: f"/search?space={known.space}&q=zq0x0y+started+after+WireGuard",
    "search as of": lambda known: f"/search?space={known.space}&q=WireGuard&as_of=2020-01-01",
    "stats": lambda known: f"/stats?space={known.space}",
    "junk": lambda known: f"/stats/audit?space={known.space}",
    "files": lambda known: f"/files?space={known.space}",
    "one file": lambda known: f"/files/file?path={quote(known.file, safe='')}&space={known.space}",
    "settings": lambda known: f"/settings?space={known.space}",
    "checkup": lambda known: f"/settings/checkup?space={known.space}",
}

#: Pages on which the texts decide how much is found: of each kind of element there may be more or less.
VARYING = frozenset({"one session", "inbox", "search results", "search as of", "stats", "junk"})
