"""The graph that the MCP reference server for memory keeps: entities, observations and relations.

An observation is a memory about its entity, a relation one about the entity that it goes out from. Neither
has an id or a time there: the words themselves are the key.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.domain.memory import Draft

_BREAKS = re.compile(r"[_\s]+")
_TAG = re.compile(r"[^\w.-]+")


@dataclass(slots=True)
class Graph:
    """Drafts with their lines, lines that can't be read, and which drafts belong together, by place."""

    drafts: list[tuple[int, Draft]] = field(default_factory=list)
    broken: list[tuple[int, str]] = field(default_factory=list)
    ties: list[tuple[int, int]] = field(default_factory=list)


def fits(first_line: str) -> bool:
    """Whether a file that begins so holds a graph."""
    found = _object(first_line)
    return isinstance(found, dict) and (
        (found.get("type") == "entity" and "name" in found)
        or (found.get("type") == "relation" and "relationType" in found)
    )


def read(text: str) -> Graph:
    """The graph in a file; a broken line is named and the rest goes on."""
    graph = Graph()
    first_of: dict[str, int] = {}  # entity: place of its first draft
    relations: list[tuple[int, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        found = _object(line)
        wrong = _wrong(found)
        if wrong is not None:
            graph.broken.append((number, wrong))
        elif found["type"] == "relation":
            relations.append((number, found))
        else:
            first_of.setdefault(found["name"], len(graph.drafts))
            graph.drafts += [(number, draft) for draft in _entity(found)]
    for number, found in relations:
        place = len(graph.drafts)
        says = f"{found['from']} {_BREAKS.sub(' ', found['relationType']).strip()} {found['to']}"
        graph.drafts.append((number, Draft(content=says, subject=found["from"], tags=("relation",))))
        ends = dict.fromkeys((found["from"], found["to"]))
        graph.ties += [(place, first_of[name]) for name in ends if name in first_of]
    return graph


def _entity(found: Any) -> Iterator[Draft]:
    """A draft for each observation; of an entity without any, that it is there."""
    kind = found["entityType"].strip()
    # Which categories there are is the profile's business: the kind is offered as one, and kept as a tag.
    tags = (_TAG.sub("-", kind).strip("-").casefold()[:64],) if _TAG.sub("", kind) else ()
    seen = dict.fromkeys(one for one in found["observations"] if one.strip())
    for says in seen or [f"{found['name']} is known as {kind}" if kind else found["name"]]:
        yield Draft(content=says, category=kind.casefold() or None, subject=found["name"], tags=tags)


def _object(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _wrong(found: Any) -> str | None:
    if not isinstance(found, dict):
        return "not a JSON object: one per line is expected"
    kind = found.get("type")
    if kind not in ("entity", "relation"):
        return f'unknown type {kind!r:.40}: use "entity" or "relation"'
    texts = ["name", "entityType"] if kind == "entity" else ["from", "to", "relationType"]
    for name in texts:
        if not isinstance(found.get(name), str):
            return f'"{name}" must be a string'
    if any(not found[name].strip() for name in texts if name != "entityType"):
        return "empty name"
    observations = found.get("observations", [])
    if found["type"] == "entity" and not (
        isinstance(observations, list) and all(isinstance(one, str) for one in observations)
    ):
        return '"observations" must be a list of strings'
    found.setdefault("observations", [])
    return None
