"""PostgreSQL as the store: how a server is reached."""

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import ArgumentError

from holdfast.errors import Invalid, Unavailable
from holdfast.store.error_texts import LOST_NODE

# UTC on the wire keeps every time as it was stored, whatever the server's zone. Acknowledged means on disk,
# even where the server's default says otherwise. Nobody waits for a lock for ever.
_SETTINGS = "-c timezone=UTC -c synchronous_commit=on -c lock_timeout=60s"

_OTHERS = text(
    "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace "
    "AND NOT pg_has_role(relowner, 'USAGE')"
)
_ENTER = text("SELECT set_config('holdfast.space', :space, true)")
_LEAKPROOF = "ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF"
#: Known where the server was started with Citus, whether tables are spread by now or later.
_CITUS = text("SELECT current_setting('citus.version', true) IS NOT NULL")


def enter(space: str, connection: Connection) -> None:
    """Names the space that the transaction is about: row-level security lets it see no other.

    Citus passes on to its workers what SET LOCAL sets, if it is told to; what `set_config` sets it keeps.
    """
    if "citus" not in connection.info:  # of the server's connection: after a restart it is another
        connection.info["citus"] = connection.execute(_CITUS).scalar()
    if not connection.info["citus"]:
        connection.execute(_ENTER, {"space": space})
        return
    from psycopg.sql import Literal

    # SET takes no parameters. A percent sign would be read as one.
    named = Literal(space).as_string(None).replace("%", "%%")
    connection.exec_driver_sql(
        f"SET LOCAL citus.propagate_set_commands TO 'local'; SET LOCAL holdfast.space TO {named}"
    )


def beyond_row_security(connection: Connection) -> bool:
    """Whether the role sees rows of all spaces, whatever it asks for.

    So does a superuser, a role with BYPASSRLS, and on a Citus cluster the owner of the tables.
    """
    asked = text(
        "SELECT rolsuper OR rolbypassrls OR EXISTS (SELECT 1 FROM pg_class WHERE relname = 'heads' "
        "AND relnamespace = current_schema()::regnamespace AND NOT relforcerowsecurity "
        "AND pg_has_role(relowner, 'USAGE')) FROM pg_roles WHERE rolname = current_user"
    )
    return bool(connection.execute(asked).scalar())


def let_row_security_use_full_text(connection: Connection) -> None:
    """Declares the text match leakproof: else row-level security keeps PostgreSQL from using its index.

    Only a superuser may do it; for other owners the guide has the statement.
    """
    if not connection.execute(text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")).scalar():
        return
    connection.execute(text(_LEAKPROOF))
    if connection.execute(text("SELECT to_regclass('pg_dist_node') IS NOT NULL")).scalar():
        connection.execute(text("SELECT run_command_on_workers(:statement)"), {"statement": _LEAKPROOF})


def vacuum(engine: Engine) -> list[str]:
    """Vacuums the tables; answers what can't be reached from here."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        others = connection.execute(_OTHERS).scalar_one()  # which VACUUM passes over
        connection.execute(text("VACUUM"))
    left = [
        "PostgreSQL's write-ahead log and its archives, replicas, and backups of the server",
        "PostgreSQL's data files, until the freed space is used again or the owner runs VACUUM FULL",
    ]
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
        engine = create_engine(
            url,
            pool_pre_ping=True,
            pool_size=16,  # kept once opened: to open one costs more than a call
            max_overflow=0,
            connect_args={
                "connect_timeout": patience,
                "tcp_user_timeout": patience * 1_000,  # ms
                "options": _options(url),
            },
        )
    except ModuleNotFoundError:
        from holdfast.app.installation import install_command

        raise Unavailable(f"PostgreSQL needs its driver: run `{install_command('postgres')}`") from None
    # Many rows in one statement: each statement is planned anew, and on a cluster sent to a node of its own.
    engine.dialect.use_insertmanyvalues_wo_returning = True
    event.listen(engine, "handle_error", _leave_lost_nodes)
    return engine


def _leave_lost_nodes(context: ExceptionContext) -> None:
    """Each connection to a coordinator would fail once after a node was restarted; one failure is for all."""
    if LOST_NODE in str(context.original_exception):
        context.is_disconnect = True


def _options(url: URL) -> str:
    """Our settings after those that the URL brings along."""
    given = url.query.get("options", ())
    return " ".join([*((given,) if isinstance(given, str) else given), _SETTINGS])
