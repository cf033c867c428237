"""What a message comes to: the drafts of what our reader finds, in the order in which it was said."""

from collections.abc import Sequence
from hashlib import sha256

from holdfast.domain.memory import Draft, Memory, Message, Session, Source
from holdfast.domain.profile import Profile
from holdfast.engine.capture_queue import captured_project, category_for
from holdfast.engine.space_context import SpaceContext
from holdfast.language.chunks import AGENT, PERSON
from holdfast.language.extract import Extracted, extract, takes_back
from holdfast.language.wording import Turn

_CONTEXT = 2  # messages that one is read with


def drafts(place: int, spoken: Sequence[Message], session: Session, ctx: SpaceContext) -> list[Draft]:
    """What is worth keeping of a message; nothing of one that the person's next message takes back."""
    message = spoken[place]
    later = next((one for one in spoken[place + 1 :] if one.role == PERSON), None)
    if message.role == PERSON and later is not None and takes_back(later.content or ""):
        return []
    before = spoken[max(place - _CONTEXT, 0) : place]
    found = extract([_turn(one) for one in before], _turn(message), ctx.reader)
    made = (_draft(each, [*before, message], session, ctx.profile) for each in found)
    return [draft for draft in made if draft is not None]


def _turn(message: Message) -> Turn:
    return Turn(message.role, message.content or "", message.said_at.date())


def _draft(made: Extracted, messages: Sequence[Message], session: Session, profile: Profile) -> Draft | None:
    """What is to be remembered of the last of the messages."""
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
            taken_from=tuple((messages[-1 - back].id, words) for back, words in made.taken_from),
        ),
    )


def key(draft: Draft | Memory) -> str:
    """What a draft is known by when its message is read again, and its memory until somebody rewords it."""
    named = f"{draft.source.session}\n{draft.source.message}\n{draft.content}"
    return f"capture-{sha256(named.encode()).hexdigest()}"
