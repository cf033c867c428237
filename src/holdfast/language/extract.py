"""Makes drafts from the facts that a finder marks in a message: self-contained, with category and project.

Every name, number and date of a draft occurs in the conversation. Knows nothing of how memories are stored.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from holdfast.domain.memory import Draft, Memory, Message, Session, Source
from holdfast.domain.profile import Profile
from holdfast.language.chunks import AGENT, PERSON
from holdfast.language.news import News
from holdfast.language.passages import FactFinder, statements
from holdfast.language.phrases import begins, phrases
from holdfast.language.sentences import spans
from holdfast.language.wording import Utterance, worded

_CONTEXT = 2  # messages of context
# How facts about the user begin.
_THE_PERSON = re.compile(r"The user\b(?! interface)")
# Words that refer to the place where it was said.
_OF_THIS_PLACE = re.compile(r"\b(?:we|our|here|this project)\b", re.IGNORECASE)

#: Categories for a kind that the profile has no category for: the first that exists is used.
_NEAREST: Mapping[str, tuple[str, ...]] = {
    "decision": ("decision", "project", "context"),
    "insight": ("insight", "fact", "context", "project"),
    "fact": ("fact", "context", "project"),
    "preference": ("preference", "feedback"),
    "feedback": ("feedback", "preference"),
    "project": ("project", "decision", "context"),
    "person": ("person", "user", "fact", "context"),
    "context": ("context", "fact", "user"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A fact, worded to stand alone, with the part of the message that it was made of."""

    content: str
    kind: str
    taken_from: tuple[tuple[int, str], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDraft:
    """A draft, and the part of a message that it was made of."""

    draft: Draft
    news: News


def extract(before: Sequence[Utterance], turn: Utterance, finder: FactFinder) -> list[Extracted]:
    """The facts of a message that follows others, in its order.

    Raises: Unavailable, as the finder.
    """
    said = [(each.role, each.text) for each in before]
    kept_from = _taken_back_to(turn)
    found: dict[str, Extracted] = {}
    for each in statements(said, turn.role, turn.text, finder):
        made = worded(before, turn, each.start, each.end) if each.start >= kept_from else None
        if made is not None:
            new = Extracted(
                content=made.content,
                kind=each.kind,
                taken_from=made.taken_from,
                start=each.start,
                end=each.end,
            )
            found.setdefault(made.content, new)
    return [each for each in found.values() if not any(_tells(other, each) for other in found.values())]


def _tells(longer: Extracted, shorter: Extracted) -> bool:
    """Whether one fact begins with all that another one of the same message says."""
    return longer is not shorter and longer.content.startswith(f"{shorter.content} ")


def takes_back(text: str) -> bool:
    """Whether a person's message begins by retracting the one before."""
    return begins("retracted", text)


def _taken_back_to(turn: Utterance) -> int:
    """The position in a person's message up to which the message itself retracts what it said."""
    if turn.role != "user" or phrases("retracted").search(turn.text) is None:
        return 0
    later = [start for start, end in spans(turn.text) if takes_back(turn.text[start:end])]
    return max(later, default=0)


def findings(
    place: int, spoken: Sequence[Message], session: Session, profile: Profile, finder: FactFinder
) -> list[FoundDraft]:
    """The drafts of a message; none if the person's next message retracts it.

    Raises: Unavailable, as the finder.
    """
    message = spoken[place]
    later = next((one for one in spoken[place + 1 :] if one.role == PERSON), None)
    if message.role == PERSON and later is not None and takes_back(later.content or ""):
        return []
    before = spoken[max(place - _CONTEXT, 0) : place]
    found = []
    for each in extract([_turn(one) for one in before], _turn(message), finder):
        draft = _draft(each, [*before, message], session, profile)
        if draft is not None:
            found.append(FoundDraft(draft=draft, news=news_of(spoken, place, each.start, each.end)))
    return found


def news_of(spoken: Sequence[Message], place: int, start: int = 0, end: int | None = None) -> News:
    """A part of a message, or all of it, in the form that the finder compares with memories."""
    text = spoken[place].content or ""
    before = spoken[place - 1].content or "" if place else ""
    role = spoken[place].role
    return News(role=role, text=text, start=start, end=len(text) if end is None else end, before=before)


def _turn(message: Message) -> Utterance:
    return Utterance(message.role, message.content or "", message.said_at.date())


def _draft(made: Extracted, messages: Sequence[Message], session: Session, profile: Profile) -> Draft | None:
    """The draft for a fact of the last message; None if the profile has no category for it."""
    category = category_for(made.kind, profile)
    if category is None:
        return None
    found_out = messages[-1].role == AGENT
    return Draft(
        content=made.content,
        category=category,
        project=captured_project(made.content, category, session.project, profile),
        confidence=profile.policy.finding_confidence if found_out else None,
        source=Source(
            origin="assistant" if found_out else "user",
            session=session.id,
            message=messages[-1].id,
            person=session.person,
            taken_from=tuple((messages[-1 - back].id, words) for back, words in made.taken_from),
        ),
    )


def key(draft: Draft | Memory, by: str = "capture") -> str:
    """The idempotency key of a captured draft: the same when its message is read again."""
    named = f"{draft.source.session}\n{draft.source.message}\n{draft.content}"
    return f"{by}-{sha256(named.encode()).hexdigest()}"


def captured_project(content: str, category: str, project: str | None, profile: Profile) -> str | None:
    """The project of a captured draft: the session's, or None if it is about the person or how to answer.

    If in doubt it is the session's: a person can promote the memory.
    """
    if profile.policy.space_wide:
        return None
    personal = bool(_THE_PERSON.match(content)) and not _OF_THIS_PLACE.search(content)
    return None if personal and profile.holds_everywhere(category) else project


def category_for(kind: str, profile: Profile) -> str | None:
    """The profile's category for the finder's kind; None if the profile stores nothing of the kind."""
    if profile.policy.subject_is_key:  # one memory per name: a guessed name must not overwrite anything
        return None
    known = profile.category_names
    return next((name for name in _NEAREST.get(kind, ()) if name in known), profile.default_category)
