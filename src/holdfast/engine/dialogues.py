"""Context for clients that don't know of Holdfast, such as those behind the proxy, and storing their
messages.

Such a client sends its whole conversation with every request, without the blocks that were added before. So
each turn's block is stored and added again, byte for byte: a prompt cache only holds for an identical prefix.
Knows no wire format.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from holdfast.domain.dialogue import Dialogue, Turn, digest, mark, names
from holdfast.domain.memory import Message, Session
from holdfast.engine.brief import brief
from holdfast.engine.context import context
from holdfast.engine.intake import checked_id, safe_or_none
from holdfast.engine.ports import Quiet, Transaction, never_quiet
from holdfast.engine.sessions import MOST_MESSAGE, NewMessage, say_all
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid

_ASKED_WITH = 3  # turns
_LOOKED_BACK = 200  # turns that are checked for unstored messages
#: So long an unanswered conversation counts as the one with the same opening.
_RETRIED = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyContext:
    """What to add to a request, and the session that it belongs to."""

    session: str
    brief: str = ""
    recalled: Mapping[int, str] = field(default_factory=dict)  # by the place of its turn
    quiet: str | None = None  # why capture is off


def proxy_context(
    dialogue: Dialogue,
    *,
    ctx: SpaceContext,
    quiet: Quiet = never_quiet,
    wanted: Callable[[], bool] = lambda: True,
) -> ProxyContext:
    """The brief of the session, the blocks of earlier turns, and a block for the newest turn.

    If it is no longer `wanted`, no block counts as given.
    Raises: Invalid, for a conversation without messages; Unavailable.
    """
    if not dialogue.opening:
        raise Invalid("this conversation has no messages yet", field="messages")
    session = _session(dialogue, ctx)
    reason = quiet(session.project, session.id)
    known, newest = _given(dialogue, session.id, ctx)
    recalled = dict(known)
    tools = dialogue.offers(ctx.profile.tools)
    text = brief(ctx=ctx, session=session.id, project=session.project, tools=tools).text
    if newest is not None:
        place, receipt_id = newest
        made = context(
            [_said(turn) for turn in dialogue.turns if turn.text][-_ASKED_WITH:],
            ctx=ctx,
            session=session.id,
            project=session.project,
            receipt_id=receipt_id,
            keeps_question=reason is None,
            wanted=wanted,
        )
        if made.text:
            recalled[place] = made.text
    return ProxyContext(session=session.id, brief=text, recalled=recalled, quiet=reason)


def proxy_record(
    dialogue: Dialogue,
    *,
    ctx: SpaceContext,
    session_id: str | None = None,
    answer: Turn | None = None,
    quiet: Quiet = never_quiet,
) -> list[Message]:
    """Stores the new messages of a conversation, each once and in order, and returns them.

    New is what follows the last stored message. Of an unknown conversation only the last message of the user
    and what follows is new: earlier ones may be examples that the program made up.
    Raises: Invalid, for an invalid session id; Unavailable.
    """
    session_id = session_id or _session(dialogue, ctx).id
    if answer is not None:
        _answered(dialogue, session_id, answer, ctx)
    turns = [*dialogue.turns, *([answer] if answer is not None else ())]
    with ctx.read() as tx:
        session = tx.sessions.get(session_id)
        named = list(zip(names(turns, session_id, tx.space.key), turns, strict=True))[-_LOOKED_BACK:]
        known = {message.id for message in tx.sessions.messages_by_id([name for name, _ in named])}
    if quiet(session.project if session else dialogue.project, session_id) is not None:
        return []
    new = [
        _said(turn, name)
        for name, turn in named[_first_new(named, known) :]
        if 0 < len(turn.text) <= MOST_MESSAGE
    ]
    return say_all(session_id, new, ctx=ctx) if new else []


def _first_new(named: Sequence[tuple[str, Turn]], known: Collection[str]) -> int:
    after = max((place for place, (name, _) in enumerate(named) if name in known), default=-1) + 1
    asked = max((place for place, (_, turn) in enumerate(named) if turn.role == "user"), default=len(named))
    return after or asked


def _answered(dialogue: Dialogue, session_id: str, answer: Turn, ctx: SpaceContext) -> None:
    """Records the first answer of a conversation; it distinguishes it from others with the same opening."""
    if dialogue.session is not None or dialogue.first_reply is not None:
        return
    with ctx.write() as tx:
        _note(tx, _reply_key(tx, _opening(dialogue, ctx), mark(answer)), session_id, ctx)
        _note(tx, _answered_key(tx, session_id), session_id, ctx)


def _session(dialogue: Dialogue, ctx: SpaceContext) -> Session:
    with ctx.read() as tx:
        found = _known(dialogue, tx, ctx)
    if found is not None:
        return found
    with ctx.write() as tx:
        found = _known(dialogue, tx, ctx)  # another request may have been faster
        if found is not None:
            return found
        session = Session(
            id=checked_id(dialogue.session or f"{_beginning(tx, _opening(dialogue, ctx))}{ctx.new_id()}"),
            space=ctx.space,
            client=safe_or_none(dialogue.client),
            project=safe_or_none(dialogue.project),
            person=ctx.person,
            started_at=ctx.now(),
        )
        tx.sessions.save(session)
        if dialogue.session is None and dialogue.first_reply is not None:
            _note(tx, _reply_key(tx, _opening(dialogue, ctx), dialogue.first_reply), session.id, ctx)
            _note(tx, _answered_key(tx, session.id), session.id, ctx)
    return session


def _known(dialogue: Dialogue, tx: Transaction, ctx: SpaceContext) -> Session | None:
    """The session of a conversation: as the client says, or by its opening and first answer."""
    if dialogue.session is not None:
        return tx.sessions.get(checked_id(dialogue.session))
    if dialogue.first_reply is not None:
        noted = tx.calls.get(_reply_key(tx, _opening(dialogue, ctx), dialogue.first_reply))
        if noted is not None:
            return tx.sessions.get(str(noted[1]["session"]))
    latest = tx.sessions.latest_named(_beginning(tx, _opening(dialogue, ctx)))
    # If it was answered, its answer differs from this one's: it is another conversation.
    if latest is None or tx.calls.get(_answered_key(tx, latest.id)) is not None:
        return None
    retried = dialogue.first_reply is not None or ctx.now() - latest.started_at < _RETRIED
    return latest if retried else None


def _given(
    dialogue: Dialogue, session_id: str, ctx: SpaceContext
) -> tuple[dict[int, str], tuple[int, str] | None]:
    """The blocks of earlier turns by place, and the turn that still needs one, with its receipt id."""
    with ctx.read() as tx:
        named = [
            (turn.place, name)
            for turn, name in zip(
                dialogue.turns, names(dialogue.turns, session_id, tx.space.key), strict=True
            )
            if turn.role == "user"
        ]
        texts = tx.receipts.texts([name for _, name in named])
    given = {place: text for place, name in named if (text := texts.get(name))}
    newest = named[-1] if dialogue.asks and named[-1][1] not in texts else None
    return given, newest


def _said(turn: Turn, name: str | None = None) -> NewMessage:
    return NewMessage(role=turn.role, content=turn.text, speaker=turn.speaker, message_id=name)


def _opening(dialogue: Dialogue, ctx: SpaceContext) -> str:
    """The first words of a conversation: those of two people are two conversations."""
    return dialogue.opening if ctx.person is None else f"{ctx.person}\0{dialogue.opening}"


def _beginning(tx: Transaction, opening: str) -> str:
    return f"proxy-{digest(tx.space.key, 'opening', opening)[:24]}-"


def _reply_key(tx: Transaction, opening: str, reply: str) -> str:
    return f"proxy-reply-{digest(tx.space.key, 'reply', opening, reply)}"


def _answered_key(tx: Transaction, session_id: str) -> str:
    return f"proxy-answered-{digest(tx.space.key, 'answered', session_id)}"


def _note(tx: Transaction, key: str, session_id: str, ctx: SpaceContext) -> None:
    if tx.calls.get(key) is None:
        tx.calls.put(key, "session", {"session": session_id}, ctx.now())
