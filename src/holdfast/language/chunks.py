"""Cuts a session into chunks: new messages, with a little of what came before.

Only text that people and agents wrote themselves is used: no system prompts, tool output, text that programs
added to a person's message, or quotations of our own memories. Knows messages, not how they are stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.domain.budget import Estimate, estimate_tokens
from holdfast.domain.memory import Message
from holdfast.language.injected_text import typed
from holdfast.language.sentences import MOST_CHARACTERS

PERSON = "user"
AGENT = "assistant"
TOKENS = 500  # of a chunk
_READ = 8 * MOST_CHARACTERS  # characters of a message that are searched for a person's own text
OVERLAP = 100  # tokens of context from the chunk before
_TAIL = 400  # characters of a long message that is only context


@dataclass(frozen=True, slots=True)
class Chunk:
    """New messages, and earlier ones for context."""

    context: tuple[Message, ...]
    new: tuple[Message, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.context + self.new


def sources(messages: Sequence[Message]) -> list[Message]:
    """The messages with only the speaker's own text; others, and the end of a long text, are left out."""
    found = []
    for message in messages:
        text = (message.content or "") if not message.off_record else ""
        if message.role == PERSON:
            text = typed(text[:_READ])
        elif message.role != AGENT:
            continue
        if text.strip():
            found.append(replace(message, content=text[:MOST_CHARACTERS]))
    return found


def chunks(
    before: Sequence[Message], new: Sequence[Message], estimate: Estimate = estimate_tokens
) -> Iterator[Chunk]:
    """`new` in chunks of about 500 tokens, each with about 100 tokens of context.

    No chunk is longer than `MOST_CHARACTERS`, however long a token is.
    """
    spoken = sources(new)
    earlier = sources(before)
    start = 0
    while start < len(spoken):
        size = len(spoken[start].content or "")
        context = _tail([*earlier, *spoken[:start]], estimate, MOST_CHARACTERS - size)
        size += sum(len(message.content or "") for message in context)
        room = TOKENS - sum(estimate(message.content or "") for message in context)
        end = start + 1  # a message is never split, so that positions in it stay valid
        used = estimate(spoken[start].content or "")
        while end < len(spoken):
            used += estimate(spoken[end].content or "")
            size += len(spoken[end].content or "")
            if used > room or size > MOST_CHARACTERS:
                break
            end += 1
        yield Chunk(tuple(context), tuple(spoken[start:end]))
        start = end


def _tail(messages: Sequence[Message], estimate: Estimate, most: int) -> list[Message]:
    """The last messages, of about `OVERLAP` tokens; at least the last one, if it fits."""
    found: list[Message] = []
    used = 0
    for message in reversed(messages):
        text = (message.content or "")[-_TAIL:]
        used += estimate(text)
        most -= len(text)
        if most < 0 or (found and used > OVERLAP):
            break
        found.insert(0, replace(message, content=text))
    return found
