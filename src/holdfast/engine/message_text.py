"""A message's text as it is kept: cleaned, without secrets, and with the words that it is found by.

A long one takes seconds, so it is read in steps: who has other things to do goes on with it later.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from holdfast.domain.secrets import redacting
from holdfast.domain.terms import stems
from holdfast.domain.text import clean, parts
from holdfast.engine.ports import TimeUp
from holdfast.language.off_record import is_private

_LONG = 16_000  # characters that are read in one go


@dataclass(frozen=True, slots=True)
class MessageText:
    """What is kept of a text."""

    text: str
    private: bool  # whether a part of it was marked as private
    words: Sequence[str]  # for the full-text index


class TimeIsUp(Exception):
    """The time was up in the middle of a long text."""


#: Reads a text; all of it, or as much of it as there is time for.
ReadText = Callable[[str], MessageText]
_Steps = Generator[None, None, MessageText]
#: By space and session the long texts that are under way, or were read and are not kept yet, by their hash.
_UNDER_WAY: dict[tuple[str, str], dict[bytes, _Steps | MessageText]] = {}


def read_text(text: str) -> MessageText:
    """All of it, in one go."""
    return _finished(_reading(text), lambda: False)


def in_steps(space: str, session_id: str, time_up: TimeUp) -> ReadText:
    """Reads until the time is up, at least one step, and goes on there the next time.

    What it returns raises: TimeIsUp.
    """

    def read(text: str) -> MessageText:
        if len(text) <= _LONG:
            return read_text(text)
        under_way = _UNDER_WAY.setdefault((space, session_id), {})
        digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
        found = under_way.setdefault(digest, _reading(text))
        if not isinstance(found, MessageText):
            found = under_way[digest] = _finished(found, time_up)
            if time_up():  # to keep a long text is a step, too
                raise TimeIsUp
        return found

    return read


def forget_steps(space: str, session_id: str) -> None:
    """What was read is kept now."""
    _UNDER_WAY.pop((space, session_id), None)


def _reading(text: str) -> _Steps:
    cleaned: list[str] = []
    for part in parts(text):
        cleaned.append(clean(part))  # first: hidden characters inside a key must not save it
        yield
    plain = "".join(cleaned)
    safe = (yield from redacting(plain)).text
    words: list[str] = []
    for part in parts(safe):
        words += stems(part)
        yield
    return MessageText(safe, is_private(plain), words)


def _finished(steps: _Steps, time_up: TimeUp) -> MessageText:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: MessageText = done.value
            return found
        if time_up():
            raise TimeIsUp
