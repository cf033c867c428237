"""The bot's answers: the text of `/memory` as messages, with buttons to approve and reject.

Plain functions over `Memories`; knows no network. A text is split into pages of whole lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.agents.memory_command import COMMAND, CommandReply, is_command, reply, usage
from holdfast.engine.memories import Memories

MOST = 4_096  # UTF-16 units, as Telegram counts: an emoji is two


def units(text: str) -> int:
    """The length of `text` as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def pages(text: str, most: int = MOST) -> list[str]:
    """`text` in pages; lines stay whole unless one is longer than a page. Nothing but blanks gives none."""
    found: list[str] = []
    page: list[str] = []
    size = 0
    for line in _lines(text, most):
        length = units(line) + 1
        if page and size + length - 1 > most:
            found.append("\n".join(page))
            page, size = [], 0
        page.append(line)
        size += length
    found.append("\n".join(page))
    return [trimmed for each in found if (trimmed := each.strip("\n")).strip()]


def _lines(text: str, most: int) -> Iterator[str]:
    for line in text.split("\n"):
        while units(line) > most:
            end = _fitting(line, most)
            yield line[:end]
            line = line[end:]
        yield line


def _fitting(line: str, most: int) -> int:
    """How many characters of `line` fit, to the last space among them where there is one."""
    size = 0
    for end, character in enumerate(line):
        size += units(character)
        if size > most:
            return space + 1 if (space := line.rfind(" ", 0, end)) > 0 else end
    return len(line)


AT_ONCE = 5  # messages in a row; the rest comes when it is asked for
_MOST_DATA = 64  # bytes that a button can carry
_DECIDING = ("approve", "reject")
_MORE = "more"


@dataclass(frozen=True, slots=True)
class Button:
    """Its label, and the data that comes back when it is pressed."""

    label: str
    data: str


@dataclass(frozen=True, slots=True)
class ReplyMessage:
    """One message to send."""

    text: str
    buttons: tuple[Button, ...] = ()


def to_text(memories: Memories, text: str, *, name: str) -> list[ReplyMessage]:
    """The answer to a message; `name` is the bot's own, which may follow the command."""
    word, rest = [*text.split(maxsplit=1), "", ""][:2]
    command, _, meant = word.partition("@")
    if not is_command(command) or (meant and meant.casefold() != name.casefold()):
        return [ReplyMessage(f"Commands:\n\n{usage()}")]
    told = reply(memories, rest)
    if told.questions:
        return _questions(told)
    return _from_page(told.text, 0)


def to_button(memories: Memories, data: str) -> list[ReplyMessage]:
    """The answer to a button; none for one that is not ours."""
    word, _, rest = data.partition(" ")
    if word in _DECIDING:
        return [ReplyMessage(page) for page in pages(reply(memories, data).text)]
    if word == _MORE and rest.isascii() and rest.isdigit():
        return _from_page(reply(memories, "list").text, int(rest))
    return []


def _from_page(text: str, first: int) -> list[ReplyMessage]:
    found = pages(text)
    shown = [ReplyMessage(page) for page in found[first : first + AT_ONCE]]
    left = len(found) - first - len(shown)
    if shown and left:
        more = Button(f"More ({left} left)", f"{_MORE} {first + AT_ONCE}")
        shown[-1] = ReplyMessage(shown[-1].text, (more,))
    return shown


def _questions(told: CommandReply) -> list[ReplyMessage]:
    """One message per question, each with its own buttons."""
    shown = []
    for question in told.questions[:AT_ONCE]:
        buttons = tuple(Button(word.capitalize(), f"{word} {question.memory_id}") for word in _DECIDING)
        fit = all(len(button.data.encode()) <= _MOST_DATA for button in buttons)
        *before, last = pages(question.text)
        shown += [*map(ReplyMessage, before), ReplyMessage(last, buttons if fit else ())]
    left = len(told.questions) - AT_ONCE
    if left > 0:
        shown.append(ReplyMessage(f"{left:,} more waiting: {COMMAND} inbox"))
    return shown
