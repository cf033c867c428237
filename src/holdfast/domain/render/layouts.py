"""The layouts of a block: what a memory's line looks like, which come first, and what stands around them.

A layout says how; how many fit is the business of `blocks`. Titles, introductions and the names of groups
come from the profile, everything else that is shown of a memory goes through `escape`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import Any

from holdfast.domain import profile as profiles
from holdfast.domain.budget import Estimate
from holdfast.domain.memory import Memory
from holdfast.domain.profile import Policy, Profile
from holdfast.domain.render import escape
from holdfast.domain.render.file_names import file_name
from holdfast.domain.subjects import subject_key
from holdfast.domain.text import clean

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES = "{types}"  # a line of an introduction that stands for the profile's categories
_DESCRIPTION = 120  # characters of a text that stand for its missing summary

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What a block is made for."""

    profile: Profile
    subject: str  # whose memories come first, folded; empty = nobody's
    eligible: int  # how many memories could be shown
    estimate: Estimate
    paths: Mapping[str, str] = field(default_factory=dict)  # where memories stand as files, by id
    tools: bool = True  # whether the reader has the profile's tools
    superseded: Mapping[str, str] = field(default_factory=dict)  # the successors of memories, by id

    @property
    def policy(self) -> Policy:
        return self.profile.policy

    def path(self, memory: Memory) -> str:
        """The file that a memory stands in, or would."""
        return self.paths.get(memory.id) or file_name(memory.subject or memory.id)

    def is_about(self, name: str | None) -> bool:
        """Whether `name` is the subject that was asked for."""
        return bool(self.subject and name) and folded(name) == self.subject


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """One memory as it would stand in the block."""

    memory: Memory
    place: int  # in the order given
    section: str  # the heading it stands under; empty = the general one
    line: str


@dataclass(frozen=True, slots=True)
class Layout:
    """How one kind of block is made."""

    entry: Callable[[Memory, int, Request], BlockEntry]
    urgency: Callable[[BlockEntry, Request], Key]  # the lowest is taken first
    weight: Callable[[Memory, Policy], Key]  # the same among all of a space, but for pins and the subject
    order: Callable[[BlockEntry, Request], Key]  # within the block
    page: Callable[[Sequence[BlockEntry], Request], str]  # of entries in order; whole lines, or nothing
    newer_first: bool = False  # within a section, what supersedes another stands above it, whatever the order


@lru_cache(maxsize=10_000)
def folded(name: str | None) -> str:
    """What two spellings of a subject share."""
    return subject_key(escape.heading(name or ""))


# by-subject: what is known of each service


def _subject_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    # A subject stored under another profile may bear the name of this one's general heading.
    general = folded(memory.subject) == subject_key(request.profile.block.general)
    section = "" if general else escape.heading(memory.subject or "")
    weighs = request.profile.policy.weighs_confidence
    weight = f" (confidence: {_decimal(memory.confidence)})" if weighs else ""
    line = f"- [{escape.label(memory.category)}] {escape.inline(memory.content)}{weight}{_origin(memory)}"
    return BlockEntry(memory, place, section, line)


def _subject_urgency(entry: BlockEntry, request: Request) -> Key:
    return (not entry.memory.pinned, _nearness(entry, request), *_by_confidence(entry.memory, request.policy))


def _subject_order(entry: BlockEntry, request: Request) -> Key:
    name = entry.section
    near = _nearness(entry, request) if request.subject else int(not name)
    return (near, name.casefold(), name, *_by_confidence(entry.memory, request.policy))


def _subject_page(entries: Sequence[BlockEntry], request: Request) -> str:
    if not entries:
        return ""
    block = request.profile.block
    body = (*_intro(request), *_sections(entries, "###", block.general))
    shown, all_of_them = len(entries), request.eligible
    count = f"{shown:,} of {all_of_them:,}" if shown < all_of_them else f"{shown:,}"
    noun = "memory" if all_of_them == 1 else "memories"

    def counted(tokens: int) -> str:
        return _joined(f"## {block.title} ({count} {noun}, ~{tokens:,} tokens)", *body)

    return _settled(counted, request.estimate)


def _nearness(entry: BlockEntry, request: Request) -> int:
    """The subject asked for, then what holds for all, then the others; all alike when none is asked for."""
    if not request.subject or request.is_about(entry.memory.subject):
        return 0
    return 2 if entry.section else 1


def _by_confidence(memory: Memory, policy: Policy) -> Key:
    return (-memory.confidence if policy.weighs_confidence else 0, memory.created_at, memory.id)


# by-category: all there is to know, with ids, in an order that keeps prompt caches warm


def _category_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    subject = escape.label(memory.subject or "")
    about = f"[{subject}] " if subject else ""
    line = f"- {_id(memory)} {about}{escape.inline(memory.content)}{_origin(memory)}"
    return BlockEntry(memory, place, _capital(escape.heading(memory.category)), line)


def _category_urgency(entry: BlockEntry, request: Request) -> Key:
    return (*_first_of_all(entry, request), *_category_weight(entry.memory, request.policy))


def _category_weight(memory: Memory, policy: Policy) -> Key:
    confidence = -memory.confidence if policy.weighs_confidence else 0
    return (confidence, -memory.importance if policy.weighs_importance else 0, *_newest(memory, policy))


def _category_order(entry: BlockEntry, request: Request) -> Key:
    return (entry.section, entry.memory.created_at, entry.memory.id)


def _category_page(entries: Sequence[BlockEntry], request: Request) -> str:
    if not entries:
        return ""
    block = request.profile.block
    sections = _sections(entries, "###", block.general)
    return _joined(f"## {block.title}", *_intro(request), *sections, *_rest(entries, request))


# hits: what recall found, in the order of the ranking


def _hit_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    category, text = escape.label(memory.category), escape.inline(memory.content)
    return BlockEntry(memory, place, "", f"- {_id(memory)} [{category}] {text}{_origin(memory)}")


def _hit_urgency(entry: BlockEntry, request: Request) -> Key:
    return (*_first_of_all(entry, request), entry.place)


def _hit_weight(memory: Memory, policy: Policy) -> Key:
    # Nothing was asked yet, so what matters most and changed last stands for what is relevant.
    return (-memory.importance, _EPOCH - memory.updated_at, memory.category, memory.created_at, memory.id)


def _hit_order(entry: BlockEntry, request: Request) -> Key:
    return (entry.place,)


def _hit_page(entries: Sequence[BlockEntry], request: Request) -> str:
    if not entries:
        return ""
    block = request.profile.block
    return _joined(f"## {block.title}", *_intro(request), "\n".join(entry.line for entry in entries))


# index: the names of notes, which are read on demand


def _index_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    name = memory.subject or request.path(memory).removesuffix(".md")
    says = memory.summary or _first_line(memory.content)[:_DESCRIPTION]
    shown = escape.inline(clean(says, one_line=True).strip())
    target = "/".join(map(escape.link_target, request.path(memory).split("/")))
    origin = "" if memory.source.origin == "file" else _origin(memory)  # here all of them are files
    line = f"- [{escape.link_text(name)}]({target}){' - ' if shown else ''}{shown}{origin}"
    known = memory.category in request.profile.category_names
    return BlockEntry(memory, place, _capital(memory.category) if known else "", line)


def _index_urgency(entry: BlockEntry, request: Request) -> Key:
    return (*_first_of_all(entry, request), *_newest(entry.memory, request.policy))


def _index_order(entry: BlockEntry, request: Request) -> Key:
    memory, names = entry.memory, request.profile.category_names
    kind = names.index(memory.category) if entry.section else len(names)
    return (kind, request.path(memory), memory.id)


def _index_page(entries: Sequence[BlockEntry], request: Request) -> str:
    block = request.profile.block
    sections = _sections(entries, "##", block.general) if request.eligible else ["(empty)"]
    return _joined(f"# {block.title}", *_intro(request), *sections, *_rest(entries, request))


# What the layouts share


def _first_of_all(entry: BlockEntry, request: Request) -> Key:
    return (not entry.memory.pinned, not request.is_about(entry.memory.subject))


def _newest(memory: Memory, policy: Policy) -> Key:
    return (_EPOCH - memory.updated_at, memory.id)


def _sections(entries: Iterable[BlockEntry], sign: str, general: str) -> list[str]:
    return [
        "\n".join((f"{sign} {name or general}", *(entry.line for entry in group)))
        for name, group in groupby(entries, key=lambda entry: entry.section)
    ]


def _rest(entries: Sequence[BlockEntry], request: Request) -> tuple[str, ...]:
    left_out = request.eligible - len(entries)
    return (f"({left_out:,} more not shown)",) if left_out else ()


def _intro(request: Request) -> tuple[str, ...]:
    """What stands before the memories; nothing in it names a tool that the reader does not have."""
    profile, intro = request.profile, request.profile.block.intro
    if not request.tools:
        nameless = (line for line in intro if not any(name in line for name in profile.tools))
        intro = profile.block.plain_intro or tuple(nameless)
    types = "\n".join(f"- {each.name}: {each.says}".rstrip(": ") for each in profile.categories)
    lines = [types if line == _TYPES else line for line in intro]
    return ("\n".join(lines),) if lines else ()


def _joined(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _settled(counted: Callable[[int], str], estimate: Estimate) -> str:
    """The text that names its own size: the number is part of what it counts, so it is sought upwards."""
    tokens, text = 0, counted(0)
    for _ in range(8):  # two or three for any estimate that grows with the text
        actual = estimate(text)
        if actual == tokens:
            break
        tokens, text = actual, counted(actual)
    return text


def _id(memory: Memory) -> str:
    return f"[id:{escape.label(memory.id)}]"


def _origin(memory: Memory) -> str:
    return "" if memory.source.trusted else f" (from {memory.source.origin})"


def _decimal(share: float) -> str:
    text = f"{share:.2f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _first_line(text: str) -> str:
    return next((line.strip() for line in clean(text).split("\n") if line.strip()), "")


LAYOUTS: dict[profiles.Layout, Layout] = {
    "by-subject": Layout(
        _subject_entry, _subject_urgency, _by_confidence, _subject_order, _subject_page, newer_first=True
    ),
    "by-category": Layout(
        _category_entry, _category_urgency, _category_weight, _category_order, _category_page
    ),
    "hits": Layout(_hit_entry, _hit_urgency, _hit_weight, _hit_order, _hit_page),
    "index": Layout(_index_entry, _index_urgency, _newest, _index_order, _index_page),
}
