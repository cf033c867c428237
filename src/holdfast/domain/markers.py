"""Markers: agents record memories by writing `[MEMORY:timing:jellyfin] Takes 60s to start` into an answer.

The categories, event levels and cooldowns come from the profile. This only parses; the caller decides whether
to trust a marker. `Echoes` detects markers that repeat what the session read.
"""

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from holdfast.domain.profile import Profile
from holdfast.domain.prose import in_quotation_marks, own_words
from holdfast.domain.render import plain
from holdfast.domain.subjects import MARKER_NAME
from holdfast.domain.text import clean, normal_form

_RESULTS = {"success": True, "failure": False}

_WORDS = ("MEMORY", "EVENT", "COOLDOWN")
_HEAD = re.compile(rf"\[({'|'.join(_WORDS)})(?![\w-])([^\[\]\n\0]{{0,240}})\]")
_NAMES = re.compile(rf":({MARKER_NAME})(?::({MARKER_NAME}))?")
_RESULT = re.compile(rf"({'|'.join(_RESULTS)})\b[ \t]*(?:[-–—:,.][ \t]*)*(.*)")
_EMPHASIS = re.compile(r"[*_]+\Z")
# A marker anywhere, also as our own prompts escape it, with the rest of its line.
_LINE = re.compile(rf"(?:\[|&#91;)(?:{'|'.join(_WORDS)})(?![\w-])[^\[\]\n]{{0,240}}?(?:\]|&#93;)[^\n]*")
_NEAR = 2_000  # characters of its line on either side that are checked for quotation marks
_BEFORE_THE_NEXT = " \t*_;|,·•–—-"  # what separates two markers in one line belongs to neither


@dataclass(frozen=True, slots=True)
class MemoryMarker:
    """A memory to store."""

    category: str
    subject: str | None
    text: str
    written: str  # the marker as written in the text


@dataclass(frozen=True, slots=True)
class EventMarker:
    """An event."""

    level: str
    service: str | None
    text: str
    written: str


@dataclass(frozen=True, slots=True)
class CooldownMarker:
    """An action that was taken on a service, and how it went."""

    action: str
    service: str
    succeeded: bool
    text: str | None
    written: str


@dataclass(frozen=True, slots=True)
class InvalidMarker:
    """An invalid marker; `reason` contains the correct form."""

    written: str
    reason: str


Marker = MemoryMarker | EventMarker | CooldownMarker


@dataclass(frozen=True, slots=True)
class _Place:
    """A marker's head and its text."""

    word: str
    names: str
    text: str
    written: str


def read(text: str, profile: Profile) -> list[Marker | InvalidMarker]:
    """The markers of one complete text, in order. Markers in code or quotations are ignored."""
    if not any(f"[{word}" in text for word in _WORDS):
        return []
    return [found for place in _places(clean(text)) if (found := _parse(place, profile)) is not None]


def marked(text: str) -> bool:
    """Whether anything is recorded in a text."""
    return any(f"[{word}" in text for word in _WORDS) and any(_places(clean(text)))


def lines(text: str) -> list[tuple[int, int]]:
    """The markers in a text, including quoted ones."""
    return [found.span() for found in _LINE.finditer(text)] if any(word in text for word in _WORDS) else []


def written(word: str, name: str, subject: str | None, text: str) -> str:
    """A marker as an agent writes it."""
    return f"[{word}:{name}{f':{subject}' if subject else ''}] {text}"


def _places(text: str) -> Iterator[_Place]:
    bare = own_words(text)
    heads = [head for head in _HEAD.finditer(bare) if not _quoted(bare, head)]
    for number, head in enumerate(heads):
        following = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        line_end = bare.find("\n", head.end(), following)
        own = text[head.end() : following if line_end < 0 else line_end].strip()
        if line_end < 0 and number + 1 < len(heads):
            own = own.rstrip(_BEFORE_THE_NEXT)
        own = _plain(own, before=bare[max(head.start() - 8, 0) : head.start()])
        yield _Place(head[1], head[2], own, f"{head[0]} {own}".strip())


def _quoted(text: str, head: re.Match[str]) -> bool:
    """Whether a marker is only shown: the words of a link, escaped, or between quotation marks."""
    before = text[max(head.start() - _NEAR, 0) : head.start()].rpartition("\n")[2]
    after = text[head.end() : head.end() + _NEAR].partition("\n")[0]
    backslashes = len(before) - len(before.rstrip("\\"))
    return after.startswith("(") or backslashes % 2 == 1 or in_quotation_marks(before, after)


def _plain(own: str, *, before: str) -> str:
    """The text without the other half of the emphasis that begins right before the marker."""
    opened = _EMPHASIS.search(before)
    if opened is None:
        return own
    sign = opened[0]
    if own.startswith(sign):
        return own[len(sign) :].strip()
    return own.removesuffix(sign).strip()


def _parse(place: _Place, profile: Profile) -> Marker | InvalidMarker | None:
    """Parses a marker; None if this profile has no markers of this kind."""
    match place.word:
        case "MEMORY":
            allowed = profile.category_names
        case "EVENT":
            allowed = tuple(level.name for level in profile.levels)
        case _:
            allowed = tuple(cooldown.name for cooldown in profile.cooldowns)
    if not allowed:
        return None
    names = _NAMES.fullmatch(place.names)
    if names is None:
        return InvalidMarker(place.written, f"write it as {_form(place.word, allowed)}")
    name, subject = names.groups()
    if name not in allowed:
        kind = {"MEMORY": "category", "EVENT": "level"}.get(place.word, "action")
        return InvalidMarker(place.written, f"unknown {kind} {name!r}: use one of {', '.join(allowed)}")
    if not any(character.isalnum() for character in place.text):
        return InvalidMarker(place.written, "it has no text: write the text on the same line")
    return _filled(place, name, subject)


def _filled(place: _Place, name: str, subject: str | None) -> Marker | InvalidMarker:
    if place.word == "MEMORY":
        return MemoryMarker(name, subject, place.text, place.written)
    if place.word == "EVENT":
        return EventMarker(name, subject, place.text, place.written)
    result = _RESULT.fullmatch(place.text)
    if subject is None or result is None:
        form = f"[COOLDOWN:{name}:service] {' or '.join(_RESULTS)} - what was done"
        return InvalidMarker(place.written, f"write it as {form}")
    return CooldownMarker(name, subject, _RESULTS[result[1]], result[2].strip() or None, place.written)


def _form(word: str, allowed: tuple[str, ...]) -> str:
    if word == "COOLDOWN":
        return f"[COOLDOWN:{allowed[0]}:service] success - what was done"
    return f"[{word}:{allowed[0]}] or [{word}:{allowed[0]}:service], then the text"


_MOST = 128_000_000  # characters that are kept of one session, as read and folded
_QUOTED = 200  # characters of a line that was repeated
_SHORT = 3  # words; a shorter text only counts alone, not inside of others

# Separators between words in other formats: escapes of JSON, tags of HTML.
_WRAPPING = re.compile(r"(?<!\\)\\++[nrtu\"'/]|<[^<>]{0,200}>")
# The suffix of a memory in our own blocks.
_WEIGHT = re.compile(r"(?<!\s)\s*+\((?:confidence: [\d.]+|from \w+)\)")


class Echoes:
    """The texts that a session read, in order, to detect repetitions of them."""

    def __init__(self) -> None:
        self._read: list[tuple[str, str]] = []  # folded, and as it was
        self._seen: set[Hashable] = set()
        self._size = 0
        self._given: set[tuple[str, str, str]] = set()

    @property
    def overflowed(self) -> bool:
        """Whether the session read more than can be stored, so that a repetition may go unnoticed."""
        return self._size > _MOST

    def read(self, text: str) -> None:
        """Records text from outside: tool output, pages, other agents, hooks."""
        if self.overflowed or not text or hash(text) in self._seen:
            return
        self._seen.add(hash(text))
        folded = _folded(text)
        self._size += len(folded) + len(text)
        self._read.append((folded, text))

    def give(self, name: str, subject: str | None, text: str) -> None:
        """Records a memory, or an example of one, that the session was shown."""
        self._given.add(_key(name, subject, text))

    def was_read(self, text: str) -> bool:
        """Whether the session read this text, or may have."""
        if self.overflowed:
            return True
        wanted = _wanted(text)
        return bool(wanted) and any(wanted in folded for folded, _ in self._read)

    def line_of(self, text: str) -> str:
        """The line that the session read this text in; empty if it read none, or several lines together."""
        wanted = _wanted(text)
        lines = (
            line for folded, read in self._read if wanted and wanted in folded for line in read.splitlines()
        )
        found = next((line.strip() for line in lines if wanted in _folded(line)), "")
        return found if len(found) <= _QUOTED else f"{found[:_QUOTED].rstrip()} …"

    def was_given(self, name: str, subject: str | None, text: str) -> bool:
        """Whether the session was shown exactly this."""
        return _key(name, subject, text) in self._given


def _folded(text: str) -> str:
    return f" {normal_form(_WRAPPING.sub(' ', text))} "


def _wanted(text: str) -> str:
    """What to look for in a folded text; a short text counts only as whole words."""
    folded = _folded(text)
    words = folded.strip()
    return folded if words and words.count(" ") < _SHORT - 1 else words


def _key(name: str, subject: str | None, text: str) -> tuple[str, str, str]:
    return name, normal_form(subject or ""), normal_form(_WEIGHT.sub("", plain(text)))
