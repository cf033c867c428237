"""Prompts about a conversation for a language model, and the validation of its answers.

An invalid fact is dropped with the reason; the others are used. Knows the form of prompts and answers, not
who is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from holdfast.domain.memory import Memory
from holdfast.domain.profile import Profile
from holdfast.domain.terms import words
from holdfast.domain.text import normal_form
from holdfast.language.chunks import AGENT, Chunk
from holdfast.language.grounding import Grounds
from holdfast.language.model_call import ModelPrompt, Schema, as_data
from holdfast.language.sentences import own_voice
from holdfast.language.wording import MOST_CHARACTERS

Said = Literal["new", "same_as", "updates", "contradicts"]

MOST_FACTS = 12  # of one chunk; a model that finds more is not selecting
_MOST_TAGS = 5
_MOST_TAG = 40  # characters
GATE_TOKENS = 200
EXTRACT_TOKENS = 1_500
_SAID_FROM = 0.5  # the least probability that a message states a fact
_SAME_WORDS = 0.7  # the share of a fact's words that are in the message
_ANSWERED = 300  # characters of the message before the one with the fact
_MOST_KNOWN = 300  # characters of a known memory that are shown

GATE_SCHEMA: Schema = {
    "type": "object",
    "properties": {"keep": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["keep", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact that a model extracted from a conversation; `message` counts from 0."""

    text: str
    category: str
    subject: str | None
    importance: int
    tags: tuple[str, ...]
    message: int
    said: Said = "new"
    of: int = 0  # the number of a known memory, from 1


def extract_schema(categories: Sequence[str]) -> Schema:
    """The JSON schema of an answer; limits are checked afterwards, because not every server supports them."""
    fact = {
        "text": {"type": "string"},
        "category": {"type": "string", "enum": list(categories)},
        "subject": {"type": "string"},
        "importance": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "message": {"type": "integer"},
        "relation": {"type": "string", "enum": ["new", "same_as", "updates", "contradicts"]},
        "of": {"type": "integer"},
    }
    item = {
        "type": "object",
        "properties": fact,
        "required": list(fact),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": item}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def conversation(chunk: Chunk) -> str:
    """A chunk for a prompt: one line per message, with only the speaker's own text."""
    lines = [
        as_data(
            message=number,
            said_by="agent" if message.role == AGENT else "person",
            on=message.said_at.date().isoformat(),
            text=own_voice(message.content or ""),
        )
        for number, message in enumerate(chunk.messages, start=1)
    ]
    return "\n".join(["CONVERSATION", *lines])


def known_ones(memories: Sequence[Memory]) -> str:
    """Known memories for a prompt, numbered from 1."""
    lines = [
        as_data(
            memory=number,
            category=memory.category,
            subject=memory.subject or "",
            text=memory.content[:_MOST_KNOWN],
        )
        for number, memory in enumerate(memories, start=1)
    ]
    return "\n".join(["KNOWN MEMORIES", *(lines or ["(none)"])])


def grounds_of(chunk: Chunk) -> Grounds:
    """What the speakers of a chunk said themselves."""
    return Grounds([(own_voice(each.content or ""), each.said_at.date()) for each in chunk.messages])


def gate_prompt(chunk: Chunk, instructions: str) -> ModelPrompt:
    """Asks whether a chunk is worth reading."""
    return ModelPrompt(
        name="gate",
        system=instructions,
        user=conversation(chunk),
        schema=GATE_SCHEMA,
        max_tokens=GATE_TOKENS,
    )


def extract_prompt(chunk: Chunk, known: Sequence[Memory], instructions: str, profile: Profile) -> ModelPrompt:
    """Asks for the facts of a chunk, given known memories."""
    listed = [f"  - {each.name}: {each.says}".rstrip(": ") for each in profile.categories]
    return ModelPrompt(
        name="extraction",
        system=instructions.replace("{{categories}}", "\n".join(listed)),
        user=f"{known_ones(known)}\n\n{conversation(chunk)}",
        schema=extract_schema(profile.category_names),
        max_tokens=EXTRACT_TOKENS,
    )


class StatementChecker(Protocol):
    """Estimates how likely a passage states each fact."""

    def states(self, passage: str, facts: Sequence[str]) -> list[float]: ...


def states(fact: Fact, chunk: Chunk, checker: StatementChecker) -> bool:
    """Whether the fact's message states it: by meaning, or in nearly the same words, in any language.

    Raises: Unavailable, as the checker.
    """
    voices = [own_voice(message.content or "") for message in chunk.messages]
    before = voices[fact.message - 1][-_ANSWERED:] if fact.message else ""
    passage = f"{before}\n{voices[fact.message]}".strip()
    said, told = set(words(passage)), words(fact.text)
    repeated = sum(word in said for word in told) >= _SAME_WORDS * len(told)
    if repeated and not grounds_of(chunk).strange(fact.text):
        return True
    [sure] = checker.states(passage, [fact.text])
    return sure >= _SAID_FROM


def gate_answer(value: Mapping[str, Any]) -> bool:
    """Whether the model would keep the chunk.

    Raises: ValueError, if the answer is invalid.
    """
    keep = value.get("keep")
    if not isinstance(keep, bool):
        raise ValueError("its answer has no keep (true or false)")
    return keep


def facts_in(
    value: Mapping[str, Any], chunk: Chunk, categories: Sequence[str]
) -> tuple[list[Fact], list[str]]:
    """The valid facts of an answer, and why others are invalid.

    Raises: ValueError, if the whole answer is invalid.
    """
    found = value.get("facts")
    if not isinstance(found, list):
        raise ValueError("its answer has no facts (a list)")
    grounds = grounds_of(chunk)
    kept: dict[str, Fact] = {}
    dropped: list[str] = []
    formless = 0
    for entry in found[:MOST_FACTS]:
        try:
            fact = _fact(entry, categories)
        except ValueError as wrong:
            formless += 1
            dropped.append(str(wrong))
            continue
        if reason := _unfit(fact, chunk, grounds):
            dropped.append(reason)
        else:
            kept.setdefault(normal_form(fact.text), _trimmed(fact, grounds))
    if formless and formless == len(found[:MOST_FACTS]):
        raise ValueError(f"none of its facts has the requested form: {dropped[0]}")
    if len(found) > MOST_FACTS:
        dropped.append(f"{len(found) - MOST_FACTS} more than {MOST_FACTS} facts")
    return list(kept.values()), dropped


def _fact(entry: Any, categories: Sequence[str]) -> Fact:
    """Raises: ValueError, with what is wrong, without the model's words."""
    if not isinstance(entry, dict):
        raise ValueError(f"a fact is a {type(entry).__name__}, not an object")
    text, category, subject = (entry.get(name) for name in ("text", "category", "subject"))
    if not isinstance(text, str) or not text.strip():
        raise ValueError("a fact has no text")
    if category not in categories:
        raise ValueError("a fact has a category that this space does not have")
    importance, message, of = (entry.get(name) for name in ("importance", "message", "of"))
    said = entry.get("relation")
    tags = entry.get("tags")
    known: Said = "new"
    if said in ("same_as", "updates", "contradicts") and type(of) is int:
        known = said
    return Fact(
        text=" ".join(text.split()),
        category=str(category),
        subject=subject.strip() or None if isinstance(subject, str) else None,
        importance=min(max(importance, 1), 5) if type(importance) is int else 3,
        tags=tuple(tag.strip() for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        message=message - 1 if type(message) is int else -1,
        said=known,
        of=of if known != "new" and type(of) is int else 0,
    )


def _unfit(fact: Fact, chunk: Chunk, grounds: Grounds) -> str | None:
    """Why a fact is invalid; None if it is valid."""
    if len(fact.text) > MOST_CHARACTERS:
        return f"a fact of {len(fact.text):,} characters, more than {MOST_CHARACTERS}"
    if not 0 <= fact.message < len(chunk.messages):
        return "a fact that cites no message of the conversation"
    context = len(chunk.context)
    answered = fact.message == context - 1 and chunk.messages[fact.message].role == AGENT
    if fact.message < context and not answered:
        return "a fact from a message that was read before"
    strange = grounds.strange(fact.text, first_words=False)
    return (
        f"a fact with {len(strange)} names, numbers or dates that are not in the conversation"
        if strange
        else None
    )


def _trimmed(fact: Fact, grounds: Grounds) -> Fact:
    """The fact without a subject and tags that do not occur in the conversation."""
    tags = [tag for tag in fact.tags if 0 < len(tag) <= _MOST_TAG and not grounds.strange(tag)]
    subject = fact.subject if fact.subject and not grounds.strange(f"of {fact.subject}") else None
    return Fact(
        text=fact.text,
        category=fact.category,
        subject=subject,
        importance=fact.importance,
        tags=tuple(dict.fromkeys(tags))[:_MOST_TAGS],
        message=fact.message,
        said=fact.said,
        of=fact.of,
    )
