"""The agent's process: in a process group of its own, gets every signal that we get, is never left behind.

A small watchdog leads the group and waits on a pipe that only we hold: if we are killed, it ends the group.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Final

_PIECE = 65_536  # bytes
_LOOK = 0.25  # seconds after which we look whether the agent is still there, should its output stay open

#: Ignores signals that are meant for the agent; ends the group when the pipe breaks.
_WATCHMAN: Final = """\
trap '' HUP INT QUIT TERM TSTP TTIN TTOU USR1 USR2
if read -r ended; then exit 0; fi
kill -TERM 0
sleep 2
kill -KILL 0
"""
_FORWARDED: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH")


class NotStarted(Exception):
    """The program can't be run; `code` is the exit code of a shell in this case."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Process:
    """A running agent."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises: NotStarted."""
        self.killed = False  # by a signal; known once it has ended
        self._pipe, self._watchman = _watchman()
        try:
            self._agent = subprocess.Popen(
                list(words),
                # A terminal belongs to the group in front of it, which the agent's is not.
                stdin=subprocess.DEVNULL if _on_terminal() else None,
                stdout=subprocess.PIPE,
                env=dict(environment),
                process_group=self._watchman.pid if self._watchman else 0,
            )
        except (OSError, ValueError) as error:
            self._dismiss()
            code = 127 if isinstance(error, FileNotFoundError) else 126
            reason = getattr(error, "strerror", None) or str(error)
            raise NotStarted(f"{words[0]} can't be run: {reason}", code) from None
        self._group = self._watchman.pid if self._watchman else self._agent.pid

    def output(self) -> Iterator[bytes]:
        """The output of the agent, in pieces.

        Ends with the agent, even where something that it left behind still holds its output open.
        """
        assert self._agent.stdout is not None
        source = self._agent.stdout.fileno()
        while True:
            over = self._agent.poll() is not None
            ready, _, _ = select.select([source], [], [], 0 if over else _LOOK)
            if ready:
                piece = os.read(source, _PIECE)
                if not piece:
                    return
                yield piece
            elif over:
                return

    def stop_reading(self) -> None:
        """Closes the output because its reader is gone; the agent notices as it would without us."""
        if self._agent.stdout is not None:
            self._agent.stdout.close()

    def wait(self) -> int:
        """Waits for the agent and returns its exit code; after a signal, the one a shell would return."""
        code = self._agent.wait()
        self.stop_reading()
        self._dismiss()
        self.killed = code < 0
        return code if code >= 0 else 128 - code

    def tell(self, number: int) -> None:
        """Sends a signal to the agent and all that it started in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)

    def _dismiss(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._pipe, b"ended\n")
        os.close(self._pipe)
        if self._watchman:
            self._watchman.wait()


class Signals:
    """While entered, forwards signals to the agent."""

    def __init__(self) -> None:
        self.agent: Process | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Signals":
        if threading.current_thread() is threading.main_thread():
            for name in _FORWARDED:
                self._take(getattr(signal, name), self._forward)
            self._take(signal.SIGTSTP, self._pause)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _take(self, number: int, handler: object) -> None:
        # A signal that our caller ignores, as nohup does, is ignored by the agent too.
        if signal.getsignal(number) is not signal.SIG_IGN:
            self._before[number] = signal.signal(number, handler)  # type: ignore[arg-type]

    def _forward(self, number: int, frame: FrameType | None) -> None:
        if self.agent is not None:
            self.agent.tell(number)
        elif number not in (signal.SIGCONT, signal.SIGWINCH):
            raise SystemExit(128 + number)

    def _pause(self, number: int, frame: FrameType | None) -> None:
        if self.agent is not None:
            self.agent.tell(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGSTOP)  # continues with SIGCONT, which is forwarded


def _watchman() -> tuple[int, "subprocess.Popen[bytes] | None"]:
    """Our end of the pipe, and the watchdog at the other; None without a shell."""
    theirs, ours = os.pipe()
    try:
        watchman = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHMAN],
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            process_group=0,
        )
    except OSError:
        return ours, None
    finally:
        os.close(theirs)
    return ours, watchman


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
