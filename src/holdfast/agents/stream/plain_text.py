"""The output of an agent that prints nothing but its answer, as plain text.

Nothing tells where a text is complete but the end of the output, so that is when it is read.
"""

from collections.abc import Iterable

from holdfast.domain.agent_events import AssistantText, Happening

_MOST = 8_000_000  # characters that are read of one run


class PlainTextStream:
    """One run of an agent."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0

    def line(self, line: bytes) -> Iterable[Happening]:
        text = line.decode("utf-8", "replace")
        self._size += len(text) + 1
        if self._size <= _MOST:
            self._lines.append(text)
        return ()

    def end(self) -> Iterable[Happening]:
        return (AssistantText("\n".join(self._lines)),) if self._lines else ()
