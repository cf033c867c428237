"""PostgreSQL as the store: how a server is reached."""

from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from holdfast.errors import Invalid, Unavailable

# UTC on the wire keeps every time as it was stored, whatever the server's zone. Acknowledged means on disk,
# even where the server's default says otherwise. Nobody waits for a lock for ever.
_SETTINGS = "-c timezone=UTC -c synchronous_commit=on -c lock_timeout=60s"

_OTHERS = text(
    "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace "
    "AND NOT pg_has_role(relowner, 'USAGE')"
)
_ENTER = text("SELECT set_config('holdfast.space', :space, true)")
_CITUS = text("SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')")
#: Whether the server of an engine spreads its tables over several nodes.
_SPREAD: "WeakKeyDictionary[Engine, bool]" = WeakKeyDictionary()


def enter(space: str, connection: Connection) -> None:
    """Names the space that the transaction is about: row-level security lets it see no other.

    Citus passes on to its workers what SET LOCAL sets, if it is told to; what `set_config` sets it keeps.
    """
    if connection.engine not in _SPREAD:
        _SPREAD[connection.engine] = bool(connection.execute(_CITUS).scalar())
    if not _SPREAD[connection.engine]:
        connection.execute(_ENTER, {"space": space})
        return
    from psycopg.sql import Literal

    connection.exec_driver_sql("SET LOCAL citus.propagate_set_commands TO 'local'")
    # SET takes no parameters. A percent sign would be read as one.
    named = Literal(space).as_string(None).replace("%", "%%")
    connection.exec_driver_sql(f"SET LOCAL holdfast.space TO {named}")


def beyond_row_security(connection: Connection) -> bool:
    """Whether the role sees rows of all spaces, whatever it asks for: a superuser, or one with BYPASSRLS."""
    asked = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    return bool(connection.execute(asked).scalar())


def vacuum(engine: Engine) -> list[str]:
    """Vacuums the tables; answers what can't be reached from here."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        others = connection.execute(_OTHERS).scalar_one()  # which VACUUM passes over
        connection.execute(text("VACUUM"))
    left = ["PostgreSQL's write-ahead log and its archives, replicas, and backups of the server"]
    if others:
        left.append("old rows in PostgreSQL's files, until the owner of the tables runs VACUUM")
    return left


def server_url(place: str) -> URL:
    """`place` as a URL for the driver in use.

    Raises: Invalid.
    """
    try:
        url = make_url(place)
    except ArgumentError:
        raise Invalid(
            "the database URL can't be read: use postgresql://user@host:port/name", field="db"
        ) from None
    if url.get_backend_name() != "postgresql":
        raise Invalid(
            f"{url.get_backend_name()} is not supported: use a file path or a postgresql:// URL", field="db"
        )
    return url.set(drivername="postgresql+psycopg")


def open_engine(url: URL, *, patience: int = 10) -> Engine:
    """An engine on the server at `url`; connections are checked before use, so a restart goes unnoticed.

    A connection has to be there within `patience` seconds, and ends if the machine is gone for as long.
    Raises: Unavailable, when the driver is not installed.
    """
    try:
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_size=8,
            max_overflow=8,
            connect_args={
                "connect_timeout": patience,
                "tcp_user_timeout": patience * 1_000,  # ms
                "options": _options(url),
            },
        )
    except ModuleNotFoundError:
        raise Unavailable("PostgreSQL needs its driver: pip install 'holdfast-memory[postgres]'") from None


def _options(url: URL) -> str:
    """Our settings after those that the URL brings along."""
    given = url.query.get("options", ())
    return " ".join([*((given,) if isinstance(given, str) else given), _SETTINGS])
