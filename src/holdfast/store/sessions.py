"""Queries over sessions and what was said in them."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, false, func, insert, or_, select, text, update

from holdfast.domain.memory import Message, Session
from holdfast.domain.query import Filter, TimeCursor
from holdfast.store import sqlite
from holdfast.store.rows import AnyRow
from holdfast.store.schema import heads, memories, messages, sessions
from holdfast.store.sql_in import one_of
from holdfast.store.types import DamagedValue, from_text

_MOST_SPEAKERS = 1_000
# Jumps from one name to the next in the index instead of reading every message.
_SPEAKERS = text(
    "WITH RECURSIVE named (speaker) AS ("
    "SELECT min(speaker) FROM messages WHERE space = :space UNION ALL "
    "SELECT (SELECT min(speaker) FROM messages WHERE space = :space AND speaker > named.speaker) "
    "FROM named WHERE named.speaker IS NOT NULL) "
    "SELECT speaker FROM named WHERE speaker IS NOT NULL LIMIT :most"
)

# Looked up one by one: with a list of pairs as a condition, SQLite would read every message of the space.
_MESSAGES = ", ".join(f"messages.{column.name}" for column in messages.columns)
_AT = "WHERE messages.space = :space AND session_id = {} AND messages.number = {} ORDER BY session_id, number"
_AROUND_IN_FILE = f"SELECT {_MESSAGES} FROM json_each(:places) CROSS JOIN messages " + _AT.format(
    "json_extract(value, '$[0]')", "json_extract(value, '$[1]')"
)
_AROUND_ON_SERVER = text(
    f"SELECT {_MESSAGES} FROM unnest(CAST(:sessions AS text[]), CAST(:numbers AS integer[])) "
    "AS place (session, at) CROSS JOIN messages " + _AT.format("place.session", "place.at")
).columns(*messages.columns)

_PROJECTS = "SELECT id, project FROM sessions WHERE space = ? AND id IN (SELECT value FROM json_each(?))"
_BY_ID = f"SELECT {_MESSAGES} FROM messages WHERE space = ? AND id IN (SELECT value FROM json_each(?))"


class SessionTable:
    """The sessions of one space, with their messages."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def get(self, session_id: str) -> Session | None:
        query = select(sessions).where(sessions.c.space == self._space, sessions.c.id == session_id)
        row = self._connection.execute(query).one_or_none()
        return _session(row) if row else None

    def many(self, session_ids: Sequence[str]) -> list[Session]:
        """Those of the sessions that there are, in the order of `session_ids`."""
        query = select(sessions).where(
            sessions.c.space == self._space, one_of(sessions.c.id, session_ids, self._connection)
        )
        found = {row.id: _session(row) for row in self._connection.execute(query)}
        return [found[session_id] for session_id in session_ids if session_id in found]

    def projects(self, session_ids: Collection[str]) -> dict[str, str | None]:
        """The project of each of the sessions, if it has one."""
        if self._connection.dialect.name == "sqlite":
            values = (self._space, json.dumps(list(session_ids)))
            return dict(sqlite.driver_of(self._connection).execute(_PROJECTS, values))
        query = select(sessions.c.id, sessions.c.project).where(
            sessions.c.space == self._space, one_of(sessions.c.id, session_ids, self._connection)
        )
        return {row[0]: row[1] for row in self._connection.execute(query)}

    def latest(
        self,
        limit: int | None,
        offset: int = 0,
        *,
        after: TimeCursor | None = None,
        not_of: str | None = None,
    ) -> list[Session]:
        """The sessions by when they began, the latest first, without those of the client `not_of`."""
        query = select(sessions).where(sessions.c.space == self._space)
        if not_of is not None:
            query = query.where(sessions.c.client.is_distinct_from(not_of))
        if after is not None:
            same = and_(sessions.c.started_at == after.at, sessions.c.id > after.id)
            query = query.where(or_(sessions.c.started_at < after.at, same))
        order = (sessions.c.started_at.desc(), sessions.c.id)
        rows = self._connection.execute(query.order_by(*order).limit(limit).offset(offset or None))
        return [_session(row) for row in rows]

    def tallies(self, session_ids: Collection[str]) -> dict[str, tuple[int, int]]:
        """How many messages each session has, and how many memories came from it."""
        counted = []
        for table in (messages, memories):
            mine = and_(
                table.c.space == self._space, one_of(table.c.session_id, session_ids, self._connection)
            )
            query = select(table.c.session_id, func.count()).where(mine).group_by(table.c.session_id)
            counted.append({row[0]: int(row[1]) for row in self._connection.execute(query)})
        return {one: (counted[0].get(one, 0), counted[1].get(one, 0)) for one in session_ids}

    def latest_named(self, beginning: str) -> Session | None:
        """The latest of those whose ids begin so and go on with letters or digits."""
        query = select(sessions).where(
            sessions.c.space == self._space,
            sessions.c.id > beginning,
            sessions.c.id < f"{beginning}\x7f",
        )
        order = (sessions.c.started_at.desc(), sessions.c.id)
        row = self._connection.execute(query.order_by(*order).limit(1)).one_or_none()
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
            "usage": dict(session.usage) if session.usage is not None else None,
        }
        mine = (sessions.c.space == self._space) & (sessions.c.id == session.id)
        if not self._connection.execute(update(sessions).where(mine).values(values)).rowcount:
            self._connection.execute(insert(sessions).values(space=self._space, id=session.id, **values))

    def count(self) -> int:
        query = select(func.count()).select_from(sessions).where(sessions.c.space == self._space)
        return self._connection.execute(query).scalar_one()

    def say(self, said: Sequence[Message]) -> None:
        """Adds messages in their order; their ids are new."""
        rows = [
            {
                "space": self._space,
                "id": message.id,
                "session_id": message.session,
                "number": message.number,
                "role": message.role,
                "speaker": message.speaker,
                "content": message.content,
                "said_at": message.said_at,
                "position": position,
                "off_record": message.off_record,
            }
            for position, message in enumerate(said, start=self.message_count() + 1)
        ]
        if rows:
            self._connection.execute(insert(messages), rows)
            mine = update(heads).where(heads.c.space == self._space)
            self._connection.execute(mine.values(messages=rows[-1]["position"]))

    def last_number(self, session_id: str) -> int:
        """The number of a session's newest message; 0 when nothing was said."""
        query = select(func.max(messages.c.number)).where(
            messages.c.space == self._space, messages.c.session_id == session_id
        )
        return self._connection.execute(query).scalar() or 0

    def messages(self, session_id: str) -> list[Message]:
        query = self._all().where(messages.c.session_id == session_id).order_by(messages.c.number)
        return [to_message(row) for row in self._connection.execute(query)]

    def message(self, message_id: str) -> Message | None:
        row = self._connection.execute(self._all().where(messages.c.id == message_id)).one_or_none()
        return to_message(row) if row else None

    def messages_by_id(self, message_ids: Sequence[str]) -> list[Message]:
        """Those of the messages that there are, in the order of `message_ids`."""
        if self._connection.dialect.name == "sqlite":  # past SQLAlchemy, which takes half of the time
            values = (self._space, json.dumps(list(message_ids)))
            rows = map(_from_file, sqlite.driver_of(self._connection).execute(_BY_ID, values))
        else:
            query = self._all().where(one_of(messages.c.id, message_ids, self._connection))
            rows = map(to_message, self._connection.execute(query))
        found = {message.id: message for message in rows}
        return [found[message_id] for message_id in message_ids if message_id in found]

    def around(self, places: Sequence[tuple[str, int]]) -> list[Message]:
        """The messages at `places`, each a session and a number, as far as there are any."""
        wanted = sorted(set(places))
        if self._connection.dialect.name == "sqlite":
            in_file = {"space": self._space, "places": json.dumps(wanted)}
            rows = sqlite.driver_of(self._connection).execute(_AROUND_IN_FILE, in_file)
            return [_from_file(row) for row in rows]
        values = {
            "space": self._space,
            "sessions": [session for session, _ in wanted],
            "numbers": [number for _, number in wanted],
        }
        return [to_message(row) for row in self._connection.execute(_AROUND_ON_SERVER, values)]

    def find_messages(self, where: Filter, limit: int) -> list[Message]:
        """Messages that `where` admits by their session, its project and their time, in no order."""
        query = self._all()
        if where.session is not None:
            query = query.where(messages.c.session_id == where.session)
        if where.created_after is not None:
            query = query.where(messages.c.said_at >= where.created_after)
        if where.created_before is not None:
            query = query.where(messages.c.said_at < where.created_before)
        if where.project is not None or not where.other_projects:
            of_project = sessions.c.project == where.project
            if not where.other_projects:
                of_project = or_(of_project, sessions.c.project.is_(None))
            admitted = select(sessions.c.id).where(sessions.c.space == self._space, of_project)
            query = query.where(messages.c.session_id.in_(admitted))
        return [to_message(row) for row in self._connection.execute(query.limit(limit))]

    def speakers(self) -> list[str]:
        """The names under which something was said."""
        values = {"space": self._space, "most": _MOST_SPEAKERS}
        return list(self._connection.execute(_SPEAKERS, values).scalars())

    def message_count(self) -> int:
        """How many messages there are: the position of the newest, since none is ever taken out."""
        query = select(heads.c.messages).where(heads.c.space == self._space)
        return int(self._connection.execute(query).scalar_one())

    def saying(self, texts: Sequence[str]) -> list[str]:
        """Ids of the messages in which any of `texts` stands."""
        holds = [messages.c.content.contains(said, autoescape=True) for said in texts]
        query = select(messages.c.id).where(messages.c.space == self._space, or_(false(), *holds))
        return list(self._connection.execute(query).scalars())

    def silence(self, message_ids: Iterable[str]) -> int:
        """Takes the text out of messages and leaves that they were said; answers how many."""
        mine = and_(
            messages.c.space == self._space, one_of(messages.c.id, list(message_ids), self._connection)
        )
        return self._connection.execute(update(messages).where(mine).values(content=None)).rowcount

    def take_off_record(self, message_ids: Collection[str]) -> None:
        """Keeps messages for their session's story alone; what they are found by is the caller's business."""
        mine = and_(messages.c.space == self._space, one_of(messages.c.id, message_ids, self._connection))
        self._connection.execute(update(messages).where(mine).values(off_record=True))

    def _all(self) -> Select[Any]:
        return select(messages).where(messages.c.space == self._space)


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
        usage=row.usage,
    )


def to_message(row: Sequence[Any]) -> Message:
    """The message of a row that begins with the columns of `messages`, in their order."""
    # Taken apart at once: a recall reads hundreds, and asking a row for each column by name costs twice.
    _, message_id, session, number, role, speaker, content, said_at, _, off_record, *_ = row
    if isinstance(content, bytes):
        raise DamagedValue
    return Message(
        id=message_id,
        session=session,
        number=number,
        role=role,
        speaker=speaker,
        content=content,
        said_at=said_at,
        off_record=bool(off_record),
    )


def _from_file(row: Sequence[Any]) -> Message:
    """The same of a row as SQLite's driver gives it."""
    return to_message((*row[:_SAID_AT], from_text(row[_SAID_AT]), *row[_SAID_AT + 1 :]))


_SAID_AT = list(messages.columns).index(messages.c.said_at)
