"""Queries over sessions and what was said in them."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, false, func, insert, or_, select, update

from holdfast.domain.memory import Message, Session
from holdfast.store.rows import AnyRow
from holdfast.store.schema import messages, sessions
from holdfast.store.upsert import insert_new


class SessionTable:
    """The sessions of one space, with their messages."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def get(self, session_id: str) -> Session | None:
        query = select(sessions).where(sessions.c.space == self._space, sessions.c.id == session_id)
        row = self._connection.execute(query).one_or_none()
        return _session(row) if row else None

    def save(self, session: Session) -> None:
        """Adds the session, or brings what is stored of it up to date."""
        values = {
            "name": session.name,
            "client": session.client,
            "directory": session.directory,
            "project": session.project,
            "tier": session.tier,
            "started_at": session.started_at,
            "ended_at": session.ended_at,
            "exit_code": session.exit_code,
        }
        mine = (sessions.c.space == self._space) & (sessions.c.id == session.id)
        if not self._connection.execute(update(sessions).where(mine).values(values)).rowcount:
            self._connection.execute(insert(sessions).values(space=self._space, id=session.id, **values))

    def count(self) -> int:
        query = select(func.count()).select_from(sessions).where(sessions.c.space == self._space)
        return self._connection.execute(query).scalar_one()

    def say(self, message: Message) -> bool:
        """Adds a message; false when it is stored already."""
        values = {
            "space": self._space,
            "id": message.id,
            "session_id": message.session,
            "number": message.number,
            "role": message.role,
            "speaker": message.speaker,
            "content": message.content,
            "said_at": message.said_at,
        }
        return insert_new(self._connection, messages, values)

    def messages(self, session_id: str) -> list[Message]:
        query = (
            select(messages)
            .where(messages.c.space == self._space, messages.c.session_id == session_id)
            .order_by(messages.c.number)
        )
        return [_message(row) for row in self._connection.execute(query)]

    def message(self, message_id: str) -> Message | None:
        query = select(messages).where(messages.c.space == self._space, messages.c.id == message_id)
        row = self._connection.execute(query).one_or_none()
        return _message(row) if row else None

    def saying(self, texts: Sequence[str]) -> list[str]:
        """Ids of the messages in which any of `texts` stands."""
        holds = [messages.c.content.contains(text, autoescape=True) for text in texts]
        query = select(messages.c.id).where(messages.c.space == self._space, or_(false(), *holds))
        return list(self._connection.execute(query).scalars())

    def silence(self, message_ids: Iterable[str]) -> int:
        """Takes the text out of messages and leaves that they were said; answers how many."""
        statement = (
            update(messages)
            .where(messages.c.space == self._space, messages.c.id.in_(list(message_ids)))
            .values(content=None)
        )
        return self._connection.execute(statement).rowcount


def _session(row: AnyRow) -> Session:
    return Session(
        id=row.id,
        space=row.space,
        name=row.name,
        client=row.client,
        directory=row.directory,
        project=row.project,
        tier=row.tier,
        started_at=row.started_at,
        ended_at=row.ended_at,
        exit_code=row.exit_code,
    )


def _message(row: AnyRow) -> Message:
    return Message(
        id=row.id,
        session=row.session_id,
        number=row.number,
        role=row.role,
        speaker=row.speaker,
        content=row.content,
        said_at=row.said_at,
    )
