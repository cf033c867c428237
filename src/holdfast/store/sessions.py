"""Queries over sessions and what was said in them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, false, func, insert, or_, select, text, true

from holdfast.domain.memory import Message, Session
from holdfast.domain.query import EVERY_SESSION, UPKEEP, Filter, SessionFilter, TimeCursor
from holdfast.store.mapping import row_of
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import heads, memories, messages, sessions
from holdfast.store.usage import UsageTable, size

_MOST_SPEAKERS = 1_000
_OPENING = 1_000  # characters
# Jumps from one name to the next in the index instead of reading every message.
_SPEAKERS = text(
    "WITH RECURSIVE named (speaker) AS ("
    "SELECT min(speaker) FROM messages WHERE space = :space UNION ALL "
    "SELECT (SELECT min(speaker) FROM messages WHERE space = :space AND speaker > named.speaker) "
    "FROM named WHERE named.speaker IS NOT NULL) "
    "SELECT speaker FROM named WHERE speaker IS NOT NULL LIMIT :most"
)


#: How the first prompt on record of a session begins.
_FIRST_PROMPT = (
    select(func.substr(messages.c.content, 1, _OPENING))
    .where(
        messages.c.space == sessions.c.space,
        messages.c.session_id == sessions.c.id,
        messages.c.role == "user",
        messages.c.content.is_not(None),
        messages.c.off_record.is_(False),
    )
    .order_by(messages.c.number)
    .limit(1)
    .correlate(sessions)
    .scalar_subquery()
)


def _holding(where: SessionFilter) -> list[ColumnElement[bool]]:
    given = {"client": where.client, "project": where.project, "tier": where.tier}
    found = [sessions.c[name] == value for name, value in given.items() if value is not None]
    if where.words is not None:
        called = func.coalesce(sessions.c.name, _FIRST_PROMPT)
        found.append(called.icontains(where.words, autoescape=True))
    found += [sessions.c.exit_code != 0] * where.failed
    found += [sessions.c.started_at >= where.since] if where.since else []
    found += [sessions.c.started_at < where.before] if where.before else []
    return found + [sessions.c.client.is_distinct_from(UPKEEP)] * (not where.upkeep)


class SessionTable(SpaceRows):
    """The sessions of one space, with their messages."""

    def __init__(self, connection: Connection, space: str, usage: UsageTable) -> None:
        super().__init__(connection, space)
        self._usage = usage

    def get(self, session_id: str) -> Session | None:
        return self._one(Session, session_id)

    def many(self, session_ids: Sequence[str]) -> list[Session]:
        """Those of the sessions that there are, in the order of `session_ids`."""
        return self._by_id(Session, session_ids)

    def projects(self, session_ids: Collection[str]) -> dict[str, str | None]:
        """The project of each of the sessions, if it has one."""
        return self._sql.projects(session_ids)

    def latest(
        self,
        limit: int | None,
        offset: int = 0,
        *,
        after: TimeCursor | None = None,
        where: SessionFilter = EVERY_SESSION,
    ) -> list[Session]:
        """The sessions by when they began, the latest first."""
        query = self._select(Session, *_holding(where))
        if after is not None:
            same = and_(sessions.c.started_at == after.at, sessions.c.id > after.id)
            query = query.where(or_(sessions.c.started_at < after.at, same))
        order = (sessions.c.started_at.desc(), sessions.c.id)
        return self._values(Session, query.order_by(*order).limit(limit).offset(offset or None))

    def usages(self, where: SessionFilter) -> tuple[int, list[Mapping[str, Any]]]:
        """How many sessions there are, and what those used whose agents reported it."""
        mine = (sessions.c.space == self._space, *_holding(where))
        reported = select(sessions.c.usage).where(*mine, sessions.c.usage.is_not(None))
        return self._count(sessions, *mine), list(self._connection.execute(reported).scalars())

    def named(self, what: Literal["client", "project"]) -> list[str]:
        """The clients or projects of all sessions but those of upkeep."""
        column = sessions.c[what]
        mine = (sessions.c.space == self._space, column.is_not(None), *_holding(SessionFilter(upkeep=False)))
        query = select(column).where(*mine).distinct().order_by(column)
        return list(self._connection.execute(query).scalars())

    def tallies(self, session_ids: Collection[str]) -> dict[str, tuple[int, int]]:
        """How many messages each session has, and how many memories came from it and are not deleted."""
        counted = []
        for table, there in ((messages, true()), (memories, memories.c.state != "forgotten")):
            mine = (table.c.space == self._space, self._one_of(table.c.session_id, session_ids), there)
            query = select(table.c.session_id, func.count()).where(*mine).group_by(table.c.session_id)
            counted.append({row[0]: int(row[1]) for row in self._connection.execute(query)})
        return {one: (counted[0].get(one, 0), counted[1].get(one, 0)) for one in session_ids}

    def openings(self, session_ids: Collection[str]) -> list[tuple[str, str | None, str | None]]:
        """Of each of the sessions its id, its name, and how the first prompt on record begins."""
        mine = (sessions.c.space == self._space, self._one_of(sessions.c.id, session_ids))
        rows = self._connection.execute(select(sessions.c.id, sessions.c.name, _FIRST_PROMPT).where(*mine))
        return [(row[0], row[1], row[2]) for row in rows]

    def latest_named(self, beginning: str) -> Session | None:
        """The latest of those whose ids begin so and go on with letters or digits."""
        query = self._select(Session, sessions.c.id > beginning, sessions.c.id < f"{beginning}\x7f")
        return self._value(Session, query.order_by(sessions.c.started_at.desc(), sessions.c.id).limit(1))

    def save(self, session: Session) -> None:
        """Adds the session, or brings what is stored of it up to date."""
        if not self._save(session):
            self._add([session])

    def count(self) -> int:
        """How many sessions there are, without those of upkeep."""
        return self._count(sessions, *_holding(SessionFilter(upkeep=False)))

    def say(self, said: Sequence[Message]) -> None:
        """Adds messages in their order; their ids are new."""
        rows = [
            {**row_of(message, self._space), "position": position}
            for position, message in enumerate(said, start=self.message_count() + 1)
        ]
        if rows:
            self._connection.execute(insert(messages), rows)
            self._change(heads, {"messages": rows[-1]["position"]})
            self._usage.grow(messages=len(rows), bytes=sum(size(message.content) for message in said))

    def last_number(self, session_id: str) -> int:
        """The number of a session's newest message; 0 when nothing was said."""
        query = select(func.max(messages.c.number)).where(
            messages.c.space == self._space, messages.c.session_id == session_id
        )
        return self._connection.execute(query).scalar() or 0

    def messages(self, session_id: str) -> list[Message]:
        query = self._select(Message, messages.c.session_id == session_id)
        return self._values(Message, query.order_by(messages.c.number))

    def message(self, message_id: str) -> Message | None:
        return self._one(Message, message_id)

    def messages_by_id(self, message_ids: Sequence[str]) -> list[Message]:
        """Those of the messages that there are, in the order of `message_ids`."""
        return self._by_id(Message, message_ids)

    def said_at(self, message_ids: Collection[str]) -> dict[str, datetime]:
        """When each of the messages was said, as far as there are any."""
        mine = (messages.c.space == self._space, self._one_of(messages.c.id, message_ids))
        rows = self._connection.execute(select(messages.c.id, messages.c.said_at).where(*mine))
        return {row.id: row.said_at for row in rows}

    def around(self, places: Sequence[tuple[str, int]]) -> list[Message]:
        """The messages at `places`, each a session and a number, in their order, as far as there are any."""
        return self._sql.messages_at(sorted(set(places)))

    def find_messages(self, where: Filter, limit: int) -> list[Message]:
        """Messages that `where` admits by their session, its project and their time, in no order."""
        query = self._select(Message)
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
        return self._values(Message, query.limit(limit))

    def speakers(self) -> list[str]:
        """The names under which something was said."""
        values = {"space": self._space, "most": _MOST_SPEAKERS}
        return list(self._connection.execute(_SPEAKERS, values).scalars())

    def message_count(self) -> int:
        """How many messages there are: the position of the newest, since none is ever taken out."""
        return self._head(heads.c.messages)

    def saying(self, texts: Sequence[str]) -> list[str]:
        """Ids of the messages in which any of `texts` stands."""
        holds = [messages.c.content.contains(said, autoescape=True) for said in texts]
        query = select(messages.c.id).where(messages.c.space == self._space, or_(false(), *holds))
        return list(self._connection.execute(query).scalars())

    def silence(self, message_ids: Iterable[str]) -> int:
        """Takes the text out of messages and leaves that they were said; answers how many."""
        mine = self._one_of(messages.c.id, message_ids)
        spoken = select(messages.c.content).where(messages.c.space == self._space, mine)
        self._usage.grow(bytes=-sum(map(size, self._connection.execute(spoken).scalars())))
        return self._change(messages, {"content": None}, mine)

    def take_off_record(self, message_ids: Collection[str]) -> None:
        """Keeps messages for their session's story alone; what they are found by is the caller's business."""
        self._change(messages, {"off_record": True}, self._one_of(messages.c.id, message_ids))
