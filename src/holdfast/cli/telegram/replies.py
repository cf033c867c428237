"""The bot's answers: the text of `/memory` as messages, with buttons to approve and reject.

Plain functions over `Memories`; knows no network.
"""

from dataclasses import dataclass

from holdfast.agents.memory_command import COMMAND, CommandReply, is_command, reply, usage
from holdfast.cli.telegram.message_pages import pages
from holdfast.engine.memories import Memories

AT_ONCE = 5  # messages in a row; the rest comes when it is asked for
_MOST_DATA = 64  # bytes that a button can carry
_DECIDING = ("approve", "reject")
_MORE = "more"


@dataclass(frozen=True, slots=True)
class Button:
    """What stands on it, and what comes back when it is pressed."""

    label: str
    data: str


@dataclass(frozen=True, slots=True)
class ReplyMessage:
    """One message to send."""

    text: str
    buttons: tuple[Button, ...] = ()


def to_text(memories: Memories, text: str, *, name: str) -> list[ReplyMessage]:
    """The answer to what somebody typed; `name` is the bot's own, which may stand behind the command."""
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
    """Each with its own buttons, so that nobody decides about another one."""
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
