"""Listens to an answer while it passes: puts it together from JSON or events, and never holds it up."""

import json
import logging
import zlib
from collections.abc import Mapping
from typing import Any

from holdfast.agents.proxy.api_shape import ApiReply
from holdfast.domain.dialogue import Turn

MOST_BYTES = 32 * 1024 * 1024  # of an answer; of a longer one nothing is kept
_UNPACKED = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
_log = logging.getLogger(__name__)


class AnswerReader:
    """One answer: `hear` takes its bytes as they come, `answer` is there once the model came to its end."""

    def __init__(self, reply: ApiReply, headers: Mapping[str, str]) -> None:
        self._reply = reply
        self._events = "text/event-stream" in headers.get("content-type", "").lower()
        packed = headers.get("content-encoding", "").strip().lower()
        self._deaf = packed not in _UNPACKED
        bits = _UNPACKED.get(packed)
        self._unpacked = zlib.decompressobj(bits) if bits is not None else None
        self._waiting = bytearray()
        self._size = 0
        length = headers.get("content-length", "")
        self._left = int(length) if length.isascii() and length.isdigit() else None  # bytes that are to come

    @property
    def answer(self) -> Turn | None:
        """What the model said, when it said all of it."""
        return self._reply.turn() if self._reply.complete and not self._deaf else None

    def hear(self, data: bytes) -> bool:
        """Takes what came next; true when the answer is whole by that.

        What can't be understood ends the hearing, and nothing else.
        """
        if self._deaf or self._reply.complete:
            return False
        if self._left is not None:
            self._left -= len(data)
        try:
            if self._unpacked is not None:
                data = self._unpacked.decompress(data, MOST_BYTES)
            self._size += len(data)
            if self._size > MOST_BYTES or (self._unpacked is not None and self._unpacked.unconsumed_tail):
                raise ValueError("answer too long")
            self._waiting += data
            if self._events:
                self._lines()
        except (ValueError, zlib.error, RecursionError) as trouble:
            self._end(trouble)
        if self._left == 0 and not self._events:
            return self.ended()
        return self.answer is not None

    def ended(self) -> bool:
        """Nothing more comes; true when the answer is whole by that."""
        if self._deaf or self._reply.complete or self._events:
            return False
        try:
            found = json.loads(self._waiting)
            if isinstance(found, dict):
                self._reply.whole(found)
        except (ValueError, RecursionError) as trouble:
            self._end(trouble)
        return self.answer is not None

    def _lines(self) -> None:
        *lines, rest = bytes(self._waiting).split(b"\n")
        self._waiting = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._event(line[5:].strip())

    def _event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._reply.end()
        elif data:
            found: Any = json.loads(data)
            if isinstance(found, dict):
                self._reply.event(found)

    def _end(self, trouble: Exception) -> None:
        self._deaf = True
        _log.warning("an answer could not be recorded: %s", type(trouble).__name__)
