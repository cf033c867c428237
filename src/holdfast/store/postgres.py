"""PostgreSQL as the store: how a server is reached."""

from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from holdfast.errors import Invalid, Unavailable

# UTC on the wire keeps every time as it was stored, whatever the server's zone. Acknowledged means on disk,
# even where the server's default says otherwise. Nobody waits for a lock for ever.
_SETTINGS = "-c timezone=UTC -c synchronous_commit=on -c lock_timeout=60s"


_ENTER = text("SELECT set_config('holdfast.space', :space, true)")


def enter(space: str, connection: Connection) -> None:
    """Names the space that the transaction is about: row-level security lets it see no other."""
    connection.execute(_ENTER, {"space": space})


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


def open_engine(url: URL) -> Engine:
    """An engine on the server at `url`; connections are checked before use, so a restart goes unnoticed.

    Raises: Unavailable, when the driver is not installed.
    """
    try:
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_size=8,
            max_overflow=8,
            connect_args={"connect_timeout": 10, "options": _options(url)},
        )
    except ModuleNotFoundError:
        raise Unavailable("PostgreSQL needs its driver: pip install 'holdfast[postgres]'") from None


def _options(url: URL) -> str:
    """Our settings after those that the URL brings along."""
    given = url.query.get("options", ())
    return " ".join([*((given,) if isinstance(given, str) else given), _SETTINGS])
