"""A story as it stands in its file: scenes in the order of time, each a list of steps.

Knows the file form and nothing of memories; what a step does is the player's business.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib import resources
from typing import Any

#: The stories that come with the package; the space of the first one is shown first.
STORIES = ("homelab", "mara")

_AGO = re.compile(r"(?:(\d+)d)? ?(?:(\d+)h)? ?(?:(\d+)m)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What happened in one session, or between sessions where it has none."""

    ago: timedelta
    session: Mapping[str, Any] | None  # what is known of it from the start, its id too
    end: Mapping[str, Any] | None  # how it ended; none: it still runs
    captured: bool  # whether it is read afterwards for what is worth keeping
    steps: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleStory:
    """What happened in one space."""

    space: str
    profile: str
    markers: bool  # whether the agent records by markers in its answers
    scenes: tuple[Scene, ...]


def read(name: str) -> ExampleStory:
    """A story that comes with the package."""
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)
    return ExampleStory(
        space=told["space"],
        profile=told["profile"],
        markers=told.get("markers", False),
        scenes=tuple(_scene(scene) for scene in told["scene"]),
    )


def _scene(told: Mapping[str, Any]) -> Scene:
    session = told.get("session")
    ends = session is not None and not told.get("running", False)
    return Scene(
        ago=_ago(told["ago"]),
        session=session,
        end=told.get("end", {}) if ends else None,
        captured=told.get("captured", False),
        steps=tuple(told["steps"]),
    )


def _ago(text: str) -> timedelta:
    """`45d 3h 20m`, or a part of it."""
    found = _AGO.fullmatch(text)
    assert found is not None, text
    days, hours, minutes = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes)
