"""What an agent is told at its start: as a text, or as a file where that is too long for a command line."""

import os
import tempfile
from types import TracebackType

#: Bytes of one argument; the system takes a little more.
MOST = 100_000


class PromptFile:
    """A prompt. Files that were made for it are gone after the run."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._files: list[str] = []

    def __enter__(self) -> "PromptFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files:
            os.unlink(file)

    def in_file(self, text: str) -> str:
        """The path of a file with `text`, which only its owner can read."""
        descriptor, path = tempfile.mkstemp(prefix="holdfast-", suffix=".md")
        self._files.append(path)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def too_long(text: str) -> bool:
    """Whether a text does not fit into one argument."""
    return len(text.encode("utf-8", "replace")) > MOST
