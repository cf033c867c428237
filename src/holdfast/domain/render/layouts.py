"""The layouts of a block: the line of a memory, the order, and headings. All text is escaped."""

# budget: the four layouts side by side; what they share is small.

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import Any

from holdfast.domain import profile as profiles
from holdfast.domain.budget import Estimate
from holdfast.domain.file_paths import file_name
from holdfast.domain.memory import PEOPLE, Memory
from holdfast.domain.profile import Policy, Profile
from holdfast.domain.render import escape
from holdfast.domain.subjects import subject_key
from holdfast.domain.text import clean

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES = "{types}"  # the line of an introduction that is replaced by the profile's categories
_DESCRIPTION = 120  # characters of the text shown if there is no summary

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """The parameters of a block."""

    profile: Profile
    subject: str  # the folded subject whose memories come first; empty = none
    eligible: int  # how many memories could be shown
    estimate: Estimate
    paths: Mapping[str, str] = field(default_factory=dict)  # the files of memories, by id
    tools: bool = True  # whether the reader has the profile's tools
    superseded: Mapping[str, str] = field(default_factory=dict)  # the successors of memories, by id
    reworded: Collection[str] = ()  # the memories whose present wording no person gave, by id
    person: str | None = None  # whose prompt it is for, if that is known

    @property
    def policy(self) -> Policy:
        return self.profile.policy

    def path(self, memory: Memory) -> str:
        """The file of a memory, existing or not."""
        return self.paths.get(memory.id) or file_name(memory.subject or memory.id)

    def origin(self, memory: Memory) -> str:
        """What is said of where a memory comes from; nothing, if it is as one would take it to be."""
        if is_anothers(memory, self.profile, self.person):
            return f" ({escape.label(memory.source.person or '')}'s){_origin(memory)}"
        return _origin(memory)

    def is_about(self, name: str | None) -> bool:
        """Whether `name` is the subject that was asked for."""
        return bool(self.subject and name) and folded(name) == self.subject


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A memory as a line of the block."""

    memory: Memory
    place: int  # in the order given
    section: str  # its heading; empty = the general one
    line: str


@dataclass(frozen=True, slots=True)
class Layout:
    """One kind of block."""

    entry: Callable[[Memory, int, Request], BlockEntry]
    urgency: Callable[[BlockEntry, Request], Key]  # the lowest is taken first
    weight: Callable[[Memory, Profile], Key]  # the same among all of a space, but for pins and the subject
    order: Callable[[BlockEntry, Request], Key]  # within the block
    page: Callable[[Sequence[BlockEntry], Request], str]  # of entries in order; whole lines, or nothing
    newer_first: bool = (
        False  # within a section, a successor comes above what it supersedes, whatever the order
    )
    once: bool = False  # of two memories with the same text the less urgent is left out


@lru_cache(maxsize=10_000)
def folded(name: str | None) -> str:
    """The form shared by all spellings of a subject."""
    return subject_key(escape.heading(name or ""))


# by-subject: what is known of each service


def _subject_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    # A subject stored under another profile may bear the name of this one's general heading.
    general = folded(memory.subject) == subject_key(request.profile.block.general)
    section = "" if general else escape.heading(memory.subject or "")
    weighs = request.profile.policy.weighs_confidence
    weight = f" (confidence: {_decimal(memory.confidence)})" if weighs else ""
    line = (
        f"- [{escape.label(memory.category)}] {escape.inline(memory.content)}{weight}{request.origin(memory)}"
    )
    return BlockEntry(memory, place, section, line)


def _subject_urgency(entry: BlockEntry, request: Request) -> Key:
    return (
        not entry.memory.pinned,
        _nearness(entry, request),
        *_by_confidence(entry.memory, request.profile),
    )


def _subject_order(entry: BlockEntry, request: Request) -> Key:
    name = entry.section
    near = _nearness(entry, request) if request.subject else int(not name)
    return (near, name.casefold(), name, *_by_confidence(entry.memory, request.profile))


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

    return _settle_lines(counted, request.estimate)


def _nearness(entry: BlockEntry, request: Request) -> int:
    """The subject asked for, then what holds for all, then the others; all alike when none is asked for."""
    if not request.subject or request.is_about(entry.memory.subject):
        return 0
    return 2 if entry.section else 1


def _by_confidence(memory: Memory, profile: Profile) -> Key:
    weighs = profile.policy.weighs_confidence
    return (-memory.confidence if weighs else 0, memory.created_at, memory.id)


# by-category: all there is to know, with ids, in an order that keeps prompt caches warm


def _category_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    line = f"- {_id(memory)} {_about(memory)}{escape.inline(memory.content)}{request.origin(memory)}"
    return BlockEntry(memory, place, _capital(escape.heading(memory.category)), line)


def _about(memory: Memory) -> str:
    subject = escape.label(memory.subject or "")
    return f"[{subject}] " if subject else ""


def _category_urgency(entry: BlockEntry, request: Request) -> Key:
    return (*_first_of_all(entry, request), *_category_weight(entry.memory, request.profile))


def _category_weight(memory: Memory, profile: Profile) -> Key:
    policy = profile.policy
    confidence = -memory.confidence if policy.weighs_confidence else 0
    return (confidence, -memory.importance if policy.weighs_importance else 0, *_newest(memory))


def _category_order(entry: BlockEntry, request: Request) -> Key:
    return (entry.section, entry.memory.created_at, entry.memory.id)


def _titled_page(entries: Sequence[BlockEntry], request: Request) -> str:
    if not entries:
        return ""
    block = request.profile.block
    sections = _sections(entries, "###", block.general)
    return _joined(f"## {block.title}", *_intro(request), *sections, *_rest(entries, request))


# rules-first: what the user wants followed, then what is known, the newest first

_RULES = "Follow these"
_NOTES = "Use as background"
_MAX_USE = 4  # doublings of the number of times that a memory was recalled; more is not more useful


def _rules_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    rule = _is_rule(memory, request.profile) and memory.id not in request.reworded
    rule = rule and not is_anothers(memory, request.profile, request.person)
    ages = not rule and not request.profile.holds_everywhere(memory.category)
    day = f" ({memory.updated_at:%Y-%m-%d})" if ages else ""
    line = f"- {_id(memory)} {_about(memory)}{escape.inline(memory.content)}{day}{request.origin(memory)}"
    return BlockEntry(memory, place, _RULES if rule else _NOTES, line)


def _is_rule(memory: Memory, profile: Profile) -> bool:
    """Whether it is a person's instruction: by category and origin, whatever the text says."""
    return memory.source.origin in PEOPLE and profile.is_rule(memory.category)


def _rules_urgency(entry: BlockEntry, request: Request) -> Key:
    return (*_first_of_all(entry, request), *_usefulness(entry.memory, request.profile))


def _usefulness(memory: Memory, profile: Profile) -> Key:
    policy = profile.policy
    return (
        not _is_rule(memory, profile),
        -memory.importance if policy.weighs_importance else 0,
        -min(memory.accesses.bit_length(), _MAX_USE),
        -memory.confidence if policy.weighs_confidence else 0,
        memory.project is None,
        *_newest(memory),
    )


def _rules_order(entry: BlockEntry, request: Request) -> Key:
    return (entry.section != _RULES, *_newest(entry.memory))


# index: the names of notes, which are read on demand


def _index_entry(memory: Memory, place: int, request: Request) -> BlockEntry:
    name = memory.subject or request.path(memory).removesuffix(".md")
    says = memory.summary or _first_line(memory.content)[:_DESCRIPTION]
    shown = escape.inline(clean(says, one_line=True).strip())
    target = "/".join(map(escape.link_target, request.path(memory).split("/")))
    origin = "" if memory.source.origin == "file" else request.origin(memory)  # here all of them are files
    line = f"- [{escape.link_text(name)}]({target}){' - ' if shown else ''}{shown}{origin}"
    known = memory.category in request.profile.category_names
    return BlockEntry(memory, place, _capital(memory.category) if known else "", line)


def _index_urgency(entry: BlockEntry, request: Request) -> Key:
    return (*_first_of_all(entry, request), *_newest(entry.memory))


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


def _newest(memory: Memory) -> Key:
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
    """The text before the memories; it names only tools that the reader has."""
    profile, intro = request.profile, request.profile.block.intro
    if not request.tools:
        nameless = (line for line in intro if not any(name in line for name in profile.tools))
        intro = profile.block.plain_intro or tuple(nameless)
    types = "\n".join(f"- {each.name}: {each.says}".rstrip(": ") for each in profile.categories)
    lines = [types if line == _TYPES else line for line in intro]
    return ("\n".join(lines),) if lines else ()


def _joined(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _settle_lines(counted: Callable[[int], str], estimate: Estimate) -> str:
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


def is_anothers(memory: Memory, profile: Profile, person: str | None) -> bool:
    """Whether it is about a person, and another than `person` wrote it: "prefers tabs" is then that one's."""
    by = memory.source.person
    return by is not None and by != person and profile.holds_everywhere(memory.category)


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
        _category_entry, _category_urgency, _category_weight, _category_order, _titled_page
    ),
    "rules-first": Layout(_rules_entry, _rules_urgency, _usefulness, _rules_order, _titled_page, once=True),
    "index": Layout(
        _index_entry, _index_urgency, lambda memory, _: _newest(memory), _index_order, _index_page
    ),
}
