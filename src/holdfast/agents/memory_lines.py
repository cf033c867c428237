"""Memories as text for a chat: one line of plain text each."""

from typing import TYPE_CHECKING

from holdfast.domain.text import clean

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.inbox import Item

_MAX_SHOWN = 500  # characters of one memory in a list


def bullet(memory: "Memory") -> str:
    origin = "" if memory.source.trusted else f" (from {memory.source.origin})"
    newer = memory.superseded_by
    led = f" ({memory.created_at:%Y-%m-%d}, superseded by {newer})" if newer else ""
    return f"• [{memory.id}] {sentence(memory)}{origin}{led}"


def question(item: "Item") -> str:
    lines = [f"[{item.memory.id}] {sentence(item.memory)}"]
    reason = clean(item.memory.waiting_for or "", one_line=True)
    lines.append(f"  from {item.memory.source.origin}{': ' if reason else ''}{shortened(reason)}")
    lines += [f"  known: [{known.id}] {sentence(known)}" for known in item.known]
    return "\n".join(lines)


def sentence(memory: "Memory") -> str:
    """Its text, with the subject unless the text contains it."""
    text = clean(memory.content, one_line=True).strip()
    subject = clean(memory.subject or "", one_line=True).strip()
    about = f"{subject}: " if subject and subject.casefold() not in text.casefold() else ""
    return shortened(f"{about}{text}")


def quoted(memory: "Memory") -> str:
    return quote(memory.content)


def quote(text: str) -> str:
    return f"'{shortened(clean(text, one_line=True).strip())}'"


def shortened(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def capital(name: str) -> str:
    name = clean(name, one_line=True)
    return name[:1].upper() + name[1:]
