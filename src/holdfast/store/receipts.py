"""Queries over what was handed out: receipts of prompts, and answers under an idempotency key."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, insert, select, type_coerce

from holdfast.domain.history import Receipt, ReceiptItem, Use
from holdfast.domain.memory import Session
from holdfast.store.mapping import row_of
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import calls, receipt_items, receipts, sessions
from holdfast.store.sql_filters import receipts_seen

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class ReceiptTable(SpaceRows):
    """What went into which prompt. One with a memory that is hidden from the reader is hidden, too."""

    @cached_property
    def _seen(self) -> tuple[ColumnElement[bool], ...]:
        return receipts_seen(self._reader, self._space)

    def add(self, receipt: Receipt) -> None:
        self._add([receipt])
        rows = [
            {**row_of(item, self._space), "receipt_id": receipt.id, "position": position}
            for position, item in enumerate(receipt.items)
        ]
        if rows:
            self._connection.execute(insert(receipt_items), rows)

    def brief_of(self, session_id: str) -> Receipt | None:
        """The brief that a session was given, which is its brief for good."""
        mine = (receipts.c.session_id == session_id, receipts.c.kind == "brief", receipts.c.text.is_not(None))
        return self._first(self._select(Receipt, *mine, *self._seen).order_by(receipts.c.created_at).limit(1))

    def of_session(self, session_id: str) -> list[Receipt]:
        """What a session was given, in order; of the same moment, what has lost its text came first."""
        order = (receipts.c.created_at, receipts.c.text.is_not(None), receipts.c.id)
        query = self._select(Receipt, receipts.c.session_id == session_id, *self._seen).order_by(*order)
        return [self._with_items(receipt) for receipt in self._values(Receipt, query)]

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
                *self._seen,
            )
            .order_by(sessions.c.started_at.desc(), sessions.c.id, receipts.c.created_at)
            .limit(1)
        )
        return self._first(query)

    def uses(self, memory_id: str) -> list[Use]:
        """The prompts that a memory went into, oldest first."""
        columns = (receipts.c.id.label("receipt"), receipts.c.kind, receipts.c.session_id.label("session"))
        item = receipt_items.c
        query = (
            select(*columns, receipts.c.query, item.version, item.score, item.parts, item.unhelpful_at)
            .add_columns(receipts.c.created_at)
            .join(receipt_items, (receipts.c.space == item.space) & (receipts.c.id == item.receipt_id))
            .where(item.space == self._space, item.memory_id == memory_id, *self._seen)
            .order_by(receipts.c.created_at, receipts.c.id)
        )
        return [Use(**row._mapping) for row in self._connection.execute(query)]

    def recall_of(
        self, memory_id: str, *, receipt: str | None = None, session: str | None = None, marked: bool = False
    ) -> Receipt | None:
        """The latest recall that showed a memory (this one, or in this session, if given), or marks it."""
        item = receipt_items.c
        shows_it = select(item.receipt_id).where(item.space == self._space, item.memory_id == memory_id)
        if marked:
            shows_it = shows_it.where(item.unhelpful_at > _EVER)
        query = self._select(Receipt, receipts.c.kind == "recall", receipts.c.id.in_(shows_it), *self._seen)
        if receipt is not None:
            query = query.where(receipts.c.id == receipt)
        if session is not None:
            query = query.where(receipts.c.session_id == session)
        return self._first(query.order_by(receipts.c.created_at.desc(), receipts.c.id).limit(1))

    def mark(self, receipt_id: str, memory_id: str, unhelpful_at: datetime | None) -> None:
        """Marks a memory as not helpful in a receipt, or takes the mark back."""
        item = receipt_items.c
        mine = (item.receipt_id == receipt_id, item.memory_id == memory_id)
        self._change(receipt_items, {"unhelpful_at": unhelpful_at}, *mine)

    def unhelpful(self, memory_ids: Collection[str], limit: int) -> list[tuple[str, str]]:
        """The latest marks of these memories, each with the prompt that the memory did not help with."""
        item = receipt_items.c
        query = (
            select(item.memory_id, receipts.c.query)
            .join(receipts, (receipts.c.space == item.space) & (receipts.c.id == item.receipt_id))
            .where(
                item.space == self._space,
                self._one_of(item.memory_id, memory_ids),
                item.unhelpful_at > _EVER,  # not "is not null", for which SQLite uses no index
                receipts.c.query.is_not(None),
            )
            .order_by(item.unhelpful_at.desc(), item.memory_id)
            .limit(limit)
        )
        return [(row[0], row[1]) for row in self._connection.execute(query)]

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
        named = self._one_of(receipts.c.id, receipt_ids)
        query = select(receipts.c.id, receipts.c.text).where(
            receipts.c.space == self._space, named, *self._seen
        )
        return {row.id: row.text for row in self._connection.execute(query)}

    def strike(self, memory_id: str) -> int:
        """Takes a memory out of every receipt, and the text of those it stood in; answers how many."""
        return self._strike(receipt_items.c.memory_id == memory_id)

    def strike_messages(self, message_ids: Collection[str]) -> int:
        """The same for messages."""
        return self._strike(self._one_of(receipt_items.c.message_id, message_ids))

    def _strike(self, named: ColumnElement[bool]) -> int:
        touched = select(receipt_items.c.receipt_id).where(receipt_items.c.space == self._space, named)
        count = self._change(receipts, {"text": None, "query": None}, receipts.c.id.in_(touched))
        self._remove(receipt_items, named)
        return count

    def _first(self, query: Select[Any]) -> Receipt | None:
        found = self._value(Receipt, query)
        return self._with_items(found) if found is not None else None

    def _with_items(self, receipt: Receipt) -> Receipt:
        query = self._select(ReceiptItem, receipt_items.c.receipt_id == receipt.id)
        items = self._values(ReceiptItem, query.order_by(receipt_items.c.position))
        return replace(receipt, items=tuple(items))


class CallTable(SpaceRows):
    """The answered calls of one space."""

    def get(self, key: str) -> tuple[str, dict[str, Any]] | None:
        """The call's fingerprint and its answer."""
        query = select(calls.c.fingerprint, calls.c.outcome).where(
            calls.c.space == self._space, calls.c.key == key
        )
        row = self._connection.execute(query).one_or_none()
        return (row.fingerprint, row.outcome) if row else None

    def put(self, key: str, fingerprint: str, outcome: dict[str, Any], now: datetime) -> None:
        values = {"space": self._space, "key": key, "fingerprint": fingerprint, "outcome": outcome}
        self._connection.execute(insert(calls), {**values, "created_at": now})

    def strike(self, memory_id: str) -> None:
        """Removes the answers that name a memory."""
        names_it = type_coerce(calls.c.outcome, Text).contains(f'"{memory_id}"', autoescape=True)
        self._remove(calls, names_it)
