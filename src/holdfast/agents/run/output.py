"""What the caller sees of the agent's output, and the lines that are read from it.

Bytes that pass through pass unchanged, as they come. Knows nothing of what the lines say.
"""

from collections.abc import Iterator
from typing import BinaryIO

from holdfast.agents.run.agents import Shows

_MOST_LINE = 64_000_000  # bytes; a longer line passes through and is not read


class Lines:
    """Cuts pieces of output into whole lines."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def of(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in `piece`, without their line ends."""
        *ended, open_one = piece.split(b"\n")
        for part in ended:
            self._add(part)
            line = self.rest
            self._parts, self._size = [], 0
            yield line
        self._add(open_one)

    @property
    def rest(self) -> bytes:
        """What came after the last line end; nothing, where it is too long to be read."""
        return b"".join(self._parts) if self._size <= _MOST_LINE else b""

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > _MOST_LINE:
            self._parts = []
        elif part:
            self._parts.append(part)


class Output:
    """Where the caller reads."""

    def __init__(self, target: BinaryIO, shows: Shows) -> None:
        self._target = target
        self._shows = shows
        self._answer = b""
        self._lines: list[bytes] = []

    def piece(self, piece: bytes) -> bool:
        """Passes on what the agent printed, if the caller wants it so; false when nobody reads any more."""
        return self._write(piece) if self._shows == "everything" else True

    def line(self, line: bytes) -> None:
        """Takes note of a line."""
        if self._shows == "list of lines" and line.strip():
            self._lines.append(line)

    def ended(self, line: bytes, answer: str | None) -> None:
        """Takes note of the answer, and of the line that holds it."""
        if self._shows == "last line":
            self._answer = line + b"\n"
        elif self._shows == "answer" and answer is not None:
            self._answer = answer.encode("utf-8", "replace")

    def close(self) -> None:
        """Shows what was kept back until the end."""
        if self._shows == "list of lines":
            self._answer = b"[" + b",".join(self._lines) + b"]\n"
        if self._answer:
            self._write(self._answer)

    def _write(self, content: bytes) -> bool:
        try:
            self._target.write(content)
            self._target.flush()
        except (BrokenPipeError, ValueError):  # the reader left, or closed it
            return False
        return True
