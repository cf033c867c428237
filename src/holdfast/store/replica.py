"""A streaming replica of a server, which answers a read if it shows all that was committed before.

Every write of a space counts up a number in the row that it locks. A read asks the primary for this number,
and the replica in the same transaction as everything else: if the replica shows a smaller one, or none, the
read is the primary's. No caller has to remember what it wrote, and it does not matter which service it asked.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from holdfast.domain.health import ReplicaState
from holdfast.engine.ports import ReplicaAway
from holdfast.errors import Invalid, Unavailable
from holdfast.store import postgres
from holdfast.store.error_texts import unavailable
from holdfast.store.spaces import Connected

PATIENCE: Final = 2  # seconds until a connection has to be there
PAUSE: Final = 5.0  # seconds for which a replica that is away is not asked again
TOO_LATE: Final = 10.0  # seconds behind the primary that are worth a line in the log

_PROGRESS = (
    "SELECT spaces.key, heads.writes, pg_wal_lsn_diff({}, '0/0')::bigint, {} "
    "FROM heads JOIN spaces ON spaces.name = heads.space WHERE heads.space = :space"
)
_WRITTEN = "pg_current_wal_flush_lsn()"
_ON_PRIMARY = text(_PROGRESS.format(_WRITTEN, "false"))
_ON_REPLICA = text(_PROGRESS.format("coalesce(pg_last_wal_replay_lsn(), '0/0')", "pg_is_in_recovery()"))
_POSITION = text(f"SELECT pg_wal_lsn_diff({_WRITTEN}, '0/0')::bigint")
_LAG = text(
    "SELECT pg_is_in_recovery(), :position - pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint, "
    "extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float"
)
_NO_REPLICA = "it is not a replica: it accepts writes"
_log = logging.getLogger(__name__)


class SpaceProgress(NamedTuple):
    """How far a server shows what was written to a space."""

    key: str  # of the space: no other of its name has it
    writes: int
    position: int  # in the write-ahead log
    recovering: bool

    @classmethod
    def on(cls, connection: Connection, query: TextClause, space: str) -> "SpaceProgress | None":
        """What is committed; none for a space that is not there."""
        postgres.enter(space, connection)
        row = connection.execute(query, {"space": space}).one_or_none()
        return cls(*row) if row is not None else None

    def shows(self, other: "SpaceProgress") -> bool:
        return self.key == other.key and self.writes >= other.writes


class Replica:
    """The server at HOLDFAST_DB_READ. Thread-safe; what it keeps about the server only saves time."""

    def __init__(self, target: str, *, primary: Connected) -> None:
        try:
            url = postgres.server_url(target)
        except Invalid as wrong:
            raise Invalid(f"HOLDFAST_DB_READ: {wrong}", field="db") from None
        self._engine = postgres.open_engine(url, patience=PATIENCE).execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        self._primary = primary
        self._lock = threading.Lock()
        self._next_trial = 0.0
        self._unreached: tuple[int, float] | None = None  # a position that it did not show, and since when
        self._trouble: str | None = None
        self.reads: Counter[str] = Counter()  # by who answered: replica or primary

    @property
    def where(self) -> str:
        """The place in words, without a password."""
        return self._engine.url.render_as_string(hide_password=True)

    @contextmanager
    def showing(self, space: str) -> Iterator[Connection | None]:
        """A consistent view of a space with all that is committed; none where the replica can't give it.

        Raises: Unavailable, if the primary is; ReplicaAway, if the replica fails within the block.
        """
        with ExitStack() as opened:
            connection = self._opened(space, opened) if self._is_due() else None
            with self._lock:
                self.reads["primary" if connection is None else "replica"] += 1
            try:
                yield connection
            except SQLAlchemyError as error:
                if connection is None:
                    raise
                if isinstance(error, DBAPIError) and error.connection_invalidated:
                    self._fails(error)
                raise ReplicaAway from error  # or a value that no server takes, which the primary tells

    def state(self) -> ReplicaState:
        """How far the replica is behind, asked now. Raises: Unavailable, if the primary is."""
        with self._primary() as connection:
            position = connection.execute(_POSITION).scalar_one()
        try:
            with self._engine.connect() as connection:
                recovering, missing, seconds = connection.execute(_LAG, {"position": position}).one()
        except SQLAlchemyError as error:
            return self._state(trouble=_told(error, self.where))
        if not recovering:
            return self._state(trouble=_NO_REPLICA)
        behind = max(int(missing or 0), 0)
        return self._state(bytes_behind=behind, seconds_behind=float(seconds or 0) if behind else 0.0)

    def close(self) -> None:
        self._engine.dispose()

    def _state(
        self, *, trouble: str | None = None, bytes_behind: int = 0, seconds_behind: float = 0.0
    ) -> ReplicaState:
        return ReplicaState(
            where=self.where,
            trouble=trouble,
            bytes_behind=bytes_behind,
            seconds_behind=seconds_behind,
            reads=dict(self.reads),
        )

    def _opened(self, space: str, opened: ExitStack) -> Connection | None:
        with self._primary() as connection:
            newest = SpaceProgress.on(connection, _ON_PRIMARY, space)
        if newest is None:
            return None
        try:
            connection = opened.enter_context(self._engine.connect())
            opened.enter_context(connection.begin())
            shown = SpaceProgress.on(connection, _ON_REPLICA, space)
        except SQLAlchemyError as error:
            self._fails(error)
            return None
        if shown is not None and not shown.recovering:
            self._rest(_NO_REPLICA)
            return None
        fresh = shown is not None and shown.shows(newest)
        self._keeps_up(newest.position, shown.position if shown else 0, fresh)
        return connection if fresh else None

    def _is_due(self) -> bool:
        """Whether it is worth asking; of a replica that was away, one caller at a time finds out."""
        with self._lock:
            if time.monotonic() < self._next_trial:
                return False
            if self._next_trial:
                self._next_trial = time.monotonic() + PAUSE
            return True

    def _fails(self, error: SQLAlchemyError) -> None:
        self._rest(_told(error, self.where))

    def _rest(self, trouble: str) -> None:
        with self._lock:
            self._next_trial = time.monotonic() + PAUSE
            self._note(trouble)

    def _keeps_up(self, wanted: int, reached: int, fresh: bool) -> None:
        """Notes how long something that was committed is not shown."""
        with self._lock:
            self._next_trial = 0.0
            if self._unreached is not None and reached >= self._unreached[0]:
                self._unreached = None
            if self._unreached is None and not fresh:
                self._unreached = (wanted, time.monotonic())
            if self._unreached is None:
                self._note(None)
            elif time.monotonic() - self._unreached[1] >= TOO_LATE:
                self._note(f"it is more than {TOO_LATE:.0f} s behind the primary")

    def _note(self, trouble: str | None) -> None:
        """Logs once that it is of no use, and once that it is again."""
        if trouble and not self._trouble:
            _log.warning("the read replica is not used, reads go to the primary: %s", trouble)
        if self._trouble and not trouble:
            _log.warning("the read replica is used again")
        self._trouble = trouble


def _told(error: SQLAlchemyError, where: str) -> str:
    told: Unavailable = unavailable(error, where)
    return str(told)
