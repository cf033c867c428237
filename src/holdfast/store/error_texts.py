"""Turns what databases complain about into one clear line."""

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError

from holdfast.errors import Invalid, Unavailable
from holdfast.store.sqlite_driver import KEY_FILE, encrypts, sqlite3

Trouble = SQLAlchemyError | sqlite3.Error | OSError | UnicodeDecodeError | UnicodeEncodeError | OverflowError
#: All that a store may raise; the last one comes of a damaged file that garbles SQLite's own message.
TROUBLES = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeDecodeError)

#: What a store says of values that it can't take. The caller's mistake, not the store's state.
REFUSALS = (UnicodeEncodeError, OverflowError, StatementError, sqlite3.IntegrityError)

_FULL = "the disk is full: free some space, then try again; saved data is safe"
_READ_ONLY = "the database can't be written: check the owner and mode of the file and its folder"
_NO_DATABASE = (
    "this file is encrypted with another key, or is not a Holdfast database"
    if encrypts
    else "this file is not a Holdfast database, or it is encrypted"
)
_DAMAGED = "the file is damaged: restore a backup; the damaged file is kept"
_FOLDER = "this is a folder, not a file"
_STRANGER = "the server rejected the user or password of the database URL"
_NOT_THERE = "the database, user or table of the URL does not exist on the server"
_HELD = "the database is locked by another process: stop it, then try again"
_DOWN = "the database server is unreachable: start it, then try again; saved data is safe"
#: What Citus says of a connection to a node that has ended since it was last used.
LOST_NODE = "failure on connection marked as essential"
_NODE_DOWN = (
    "the cluster's node that holds this space is unreachable: start it, then try again; saved data is safe"
)

# What SQLite, PostgreSQL and the system say, and what it means for a person. The first match counts.
_MEANINGS = (
    ("remote node", _NODE_DOWN),
    (LOST_NODE, _NODE_DOWN),
    ("database or disk is full", _FULL),
    ("no space left", _FULL),
    ("quota exceeded", _FULL),
    ("disk i/o error", "the disk failed to read or write: check it; saved data is safe"),
    ("not a database", _NO_DATABASE),
    ("is a directory", _FOLDER),
    ("malformed", _DAMAGED),
    ("could not decode to utf-8", _DAMAGED),
    ("codec can't decode", _DAMAGED),
    ("readonly database", _READ_ONLY),
    ("read-only file system", _READ_ONLY),
    ("permission denied for", "the database user lacks permission: grant it rights on the database"),
    ("permission denied", _READ_ONLY),
    ("unable to open", "the database can't be opened: check that the folder exists and is writable"),
    ("authentication failed", _STRANGER),
    ("does not exist", _NOT_THERE),
    ("lock timeout", _HELD),
    ("locked", _HELD),
    ("busy", _HELD),
    ("too many clients", "the server has no free connection: close some clients, then try again"),
    ("connection refused", _DOWN),
    ("connection failed", _DOWN),
    ("connection is bad", _DOWN),
    ("server closed the connection", _DOWN),
    ("terminating connection", _DOWN),
    ("starting up", _DOWN),
    ("shutting down", _DOWN),
    ("connection timeout expired", _DOWN),
)
_COMMANDS: dict[str, str] = {
    _DAMAGED: "`holdfast backup FILE --restore` restores one",
    _NO_DATABASE: f"name another with --db, or set {KEY_FILE}",
    _FOLDER: "name a file with --db",
    **dict.fromkeys((_STRANGER, _NOT_THERE), "check the URL of --db"),
}


def refused(
    error: UnicodeEncodeError | OverflowError | StatementError | sqlite3.IntegrityError,
) -> Invalid | None:
    """The refusal of a value that can't be stored; none when the store itself is in trouble."""
    cause = error.orig if isinstance(error, StatementError) else error
    if isinstance(error, IntegrityError | sqlite3.IntegrityError):
        return Invalid(f"these values conflict: {_first_line(error)}")
    if isinstance(cause, UnicodeEncodeError) or isinstance(error, DataError):
        return Invalid("a text has characters that can't be stored, such as NUL, or a number is too large")
    if isinstance(cause, OverflowError):
        return Invalid("a number is too large to be stored")
    if isinstance(cause, ValueError):
        return Invalid(str(cause))
    return None


def unavailable(error: Trouble, where: str) -> Unavailable:
    """The same trouble in the product's words. `where` names the store without its password."""
    said = _first_line(error)
    everything = str(error.orig if isinstance(error, DBAPIError) else error).lower()
    for sign, meaning in _MEANINGS:
        if sign in everything:
            return Unavailable(f"{where}: {meaning}", command=_COMMANDS.get(meaning))
    return Unavailable(f"{where}: the database is unavailable ({said})")


def _first_line(error: BaseException) -> str:
    said = str(error.orig if isinstance(error, DBAPIError) else error).strip()
    return said.splitlines()[0] if said else type(error).__name__
