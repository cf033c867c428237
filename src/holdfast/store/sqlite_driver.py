"""SQLite's driver: the standard library's, or SQLCipher's where a key for an encrypted file is set.

Which of the two is decided once for a process. The key comes from a file or a command, never from the command
line or the environment, which other programs can read.
"""

import os
import re
import shlex
import stat
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from holdfast.errors import Invalid, Unavailable

KEY_FILE: Final = "HOLDFAST_KEY_FILE"
KEY_COMMAND: Final = "HOLDFAST_KEY_COMMAND"
_PATIENCE = 60.0  # seconds for a command, which may ask a person
_KEY = re.compile(r"[0-9a-fA-F]{64}")

if TYPE_CHECKING:
    import sqlite3 as sqlite3
elif os.environ.get(KEY_FILE) or os.environ.get(KEY_COMMAND):
    try:
        from sqlcipher3 import dbapi2 as sqlite3
    except ModuleNotFoundError:
        from holdfast.app.installation import install_command

        says = f"an encrypted database needs SQLCipher: run `{install_command('encryption')}`"
        raise Unavailable(says) from None
else:
    import sqlite3

encrypts: Final = sqlite3.__name__.startswith("sqlcipher3")


def connect(place: Any, salt: str = "", **options: Any) -> "sqlite3.Connection":
    """A connection to a file, which is encrypted if this process has a key; a new one with this `salt`.

    Raises: sqlite3.Error; Invalid or Unavailable, if the key can't be had.
    """
    connection: sqlite3.Connection = sqlite3.connect(place, **options)
    if encrypts:
        connection.execute("PRAGMA cipher_log_level = NONE")  # it writes to standard error
        connection.execute(f"PRAGMA key = \"x'{_key()}{salt}'\"")
    return connection


def salt_of(connection: "sqlite3.Connection") -> str:
    """The salt of an encrypted file: pages can be moved between files with the same one."""
    return str(connection.execute("PRAGMA cipher_salt").fetchone()[0]) if encrypts else ""


@cache
def _key() -> str:
    if file := os.environ.get(KEY_FILE):
        name, text = KEY_FILE, _read(file)
    else:
        name, text = KEY_COMMAND, _run(os.environ[KEY_COMMAND])
    if not _KEY.fullmatch(text.strip()):
        raise Invalid(f"{name}: the key must be 64 hexadecimal digits: make one with `openssl rand -hex 32`")
    return text.strip()


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as opened:
            if stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
                raise Invalid(f"{KEY_FILE}: {file} can be read by others: chmod 600 {file}")
            return opened.read(1_000)
    except OSError as error:
        raise Unavailable(f"{KEY_FILE}: {file} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        return ""


def _run(command: str) -> str:
    try:
        done = subprocess.run(
            shlex.split(command), stdout=subprocess.PIPE, timeout=_PATIENCE, check=True, text=True
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        said = type(error).__name__
        raise Unavailable(f"{KEY_COMMAND} failed ({said}): run it by hand to see why") from None
    return done.stdout
