"""Queries over receipts: what went into which prompt."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from holdfast.domain.history import Receipt, ReceiptItem, Use
from holdfast.domain.memory import Session
from holdfast.store.rows import AnyRow
from holdfast.store.schema import receipt_items, receipts, sessions
from holdfast.store.sql_in import one_of


class ReceiptTable:
    """The receipts of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def add(self, receipt: Receipt) -> None:
        self._connection.execute(
            insert(receipts).values(
                space=self._space,
                id=receipt.id,
                session_id=receipt.session,
                kind=receipt.kind,
                query=receipt.query,
                text=receipt.text,
                sha256=receipt.sha256,
                tokens=receipt.tokens,
                left_out=receipt.left_out,
                created_at=receipt.created_at,
            )
        )
        rows = [
            {
                "space": self._space,
                "receipt_id": receipt.id,
                "position": position,
                "memory_id": item.memory,
                "message_id": item.message,
                "version": item.version,
                "score": item.score,
                "parts": item.parts,
            }
            for position, item in enumerate(receipt.items)
        ]
        if rows:
            self._connection.execute(insert(receipt_items), rows)

    def brief_of(self, session_id: str) -> Receipt | None:
        """The brief that a session was given, which is its brief for good."""
        mine = (receipts.c.space == self._space) & (receipts.c.session_id == session_id)
        query = select(receipts).where(mine, receipts.c.kind == "brief", receipts.c.text.is_not(None))
        row = self._connection.execute(query.order_by(receipts.c.created_at).limit(1)).one_or_none()
        return self._receipt(row) if row is not None else None

    def of_session(self, session_id: str) -> list[Receipt]:
        """What a session was given, in order; of the same moment, what has lost its text came first."""
        mine = (receipts.c.space == self._space) & (receipts.c.session_id == session_id)
        order = (receipts.c.created_at, receipts.c.text.is_not(None), receipts.c.id)
        return [
            self._receipt(row)
            for row in self._connection.execute(select(receipts).where(mine).order_by(*order))
        ]

    def brief_before(self, session: Session) -> Receipt | None:
        """The first brief of the latest session before this one that had any, in the same project."""
        query = (
            select(receipts)
            .join(sessions, (sessions.c.space == receipts.c.space) & (sessions.c.id == receipts.c.session_id))
            .where(
                sessions.c.space == self._space,
                sessions.c.project.is_not_distinct_from(session.project),
                sessions.c.started_at < session.started_at,
                receipts.c.kind == "brief",
            )
            .order_by(sessions.c.started_at.desc(), sessions.c.id, receipts.c.created_at)
            .limit(1)
        )
        row = self._connection.execute(query).one_or_none()
        return self._receipt(row) if row is not None else None

    def uses(self, memory_id: str) -> list[Use]:
        """The prompts that a memory went into, oldest first."""
        query = (
            select(receipts, receipt_items.c.version, receipt_items.c.score, receipt_items.c.parts)
            .join(
                receipt_items,
                (receipts.c.space == receipt_items.c.space) & (receipts.c.id == receipt_items.c.receipt_id),
            )
            .where(receipt_items.c.space == self._space, receipt_items.c.memory_id == memory_id)
            .order_by(receipts.c.created_at, receipts.c.id)
        )
        return [
            Use(
                receipt=row.id,
                kind=row.kind,
                session=row.session_id,
                query=row.query,
                version=row.version,
                score=row.score,
                parts=row.parts,
                created_at=row.created_at,
            )
            for row in self._connection.execute(query)
        ]

    def shown_in(self, session_id: str) -> set[str]:
        """Ids of the memories and messages that a session was shown."""
        query = (
            select(receipt_items.c.memory_id, receipt_items.c.message_id)
            .join(
                receipts,
                (receipts.c.space == receipt_items.c.space) & (receipts.c.id == receipt_items.c.receipt_id),
            )
            .where(receipts.c.space == self._space, receipts.c.session_id == session_id)
        )
        return {shown for row in self._connection.execute(query) for shown in row if shown is not None}

    def texts(self, receipt_ids: Collection[str]) -> dict[str, str | None]:
        """What went into prompts by those of the receipts that there are; none where it was erased since."""
        named = one_of(receipts.c.id, receipt_ids, self._connection)
        query = select(receipts.c.id, receipts.c.text).where(receipts.c.space == self._space, named)
        return {row.id: row.text for row in self._connection.execute(query)}

    def strike(self, memory_id: str) -> int:
        """Takes a memory out of every receipt, and the text of those it stood in; answers how many."""
        return self._strike(receipt_items.c.memory_id == memory_id)

    def strike_messages(self, message_ids: Collection[str]) -> int:
        """The same for messages."""
        return self._strike(one_of(receipt_items.c.message_id, message_ids, self._connection))

    def _strike(self, named: ColumnElement[bool]) -> int:
        mine = and_(receipt_items.c.space == self._space, named)
        touched = select(receipt_items.c.receipt_id).where(mine)
        statement = (
            update(receipts)
            .where(receipts.c.space == self._space, receipts.c.id.in_(touched))
            .values(text=None, query=None)
        )
        count: int = self._connection.execute(statement).rowcount
        self._connection.execute(delete(receipt_items).where(mine))
        return count

    def _receipt(self, row: AnyRow) -> Receipt:
        return Receipt(
            id=row.id,
            kind=row.kind,
            session=row.session_id,
            query=row.query,
            text=row.text,
            sha256=row.sha256,
            tokens=row.tokens,
            left_out=row.left_out,
            created_at=row.created_at,
            items=self._items(row.id),
        )

    def _items(self, receipt_id: str) -> tuple[ReceiptItem, ...]:
        query = (
            select(receipt_items)
            .where(receipt_items.c.space == self._space, receipt_items.c.receipt_id == receipt_id)
            .order_by(receipt_items.c.position)
        )
        return tuple(
            ReceiptItem(
                memory=row.memory_id,
                version=row.version,
                message=row.message_id,
                score=row.score,
                parts=row.parts,
            )
            for row in self._connection.execute(query)
        )
