"""Turns what databases complain about into one clear line."""

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from holdfast.errors import Unavailable

# What SQLite says, and what it means for a person. The first match counts.
_MEANINGS = (
    (
        "database or disk is full",
        "the disk is full: free some space, then try again; what was acknowledged is safe",
    ),
    ("disk i/o error", "the disk failed to read or write: check it; what was acknowledged is safe"),
    ("not a database", "this file is no Holdfast database: name another with --db, or move the file away"),
    (
        "malformed",
        "the file is damaged: restore a backup with `holdfast backup FILE --restore`, the file stays",
    ),
    (
        "readonly database",
        "the database can't be written: check the owner and mode of the file and its folder",
    ),
    ("unable to open", "the database can't be opened: check that the folder exists and may be written"),
    ("locked", "another process has held the database for too long: stop it, then try again"),
    ("busy", "another process has held the database for too long: stop it, then try again"),
)


def unavailable(error: SQLAlchemyError | OSError, where: str) -> Unavailable:
    """The same trouble in the product's words. `where` names the store without its password."""
    said = str(error.orig if isinstance(error, DBAPIError) else error)
    first_line = said.strip().splitlines()[0] if said.strip() else type(error).__name__
    for sign, meaning in _MEANINGS:
        if sign in said.lower():
            return Unavailable(f"{where}: {meaning}")
    return Unavailable(f"{where}: the store can't be used now ({first_line})")
