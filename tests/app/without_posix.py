"""A Python without what only POSIX systems have: the nearest to Windows that can be had on another system.

Importing it takes away the modules and functions, and puts a `msvcrt` in place that locks as Windows does:
the first byte of a file, without waiting, and with a PermissionError when another open file has it.
"""

from __future__ import annotations

import asyncio  # noqa: F401  # what is imported here has seen a whole system
import fcntl
import multiprocessing  # noqa: F401
import os
import signal
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
from types import ModuleType

import alembic.command  # noqa: F401
import mcp.server  # noqa: F401
import onnxruntime  # noqa: F401
import psycopg  # noqa: F401
import rich.progress  # noqa: F401
import sqlalchemy  # noqa: F401
import uvicorn  # noqa: F401

MODULES = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
FUNCTIONS = ("fork", "getuid", "geteuid", "getegid", "killpg", "mkfifo", "pread", "setsid", "chown")
FLAGS = ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK")
SIGNALS = ("SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGWINCH", "SIGKILL")


def _locking(descriptor: int, mode: int, size: int) -> None:
    assert (os.lseek(descriptor, 0, os.SEEK_CUR), size) == (0, 1)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX | fcntl.LOCK_NB) if mode == 2 else fcntl.LOCK_UN)
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None


msvcrt = ModuleType("msvcrt")
vars(msvcrt).update(locking=_locking, LK_NBLCK=2, LK_UNLCK=0)
sys.modules["msvcrt"] = msvcrt
for module in MODULES:
    sys.modules[module] = None  # type: ignore[assignment]  # importing it fails
for name in (*FUNCTIONS, *FLAGS):
    delattr(os, name)
for name in SIGNALS:
    delattr(signal, name)
os.supports_dir_fd = set()
