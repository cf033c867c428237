"""A reader for tests of what is done with its findings: it marks what a test tells it to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from holdfast.app.wiring import open_builtin_model
from holdfast.models.builtin_model import Passage


class MarkingReader:
    """Marks the sentences of the last message that begin with given words; without any, whole messages.

    What a passage states and what helps, our own reader says.
    """

    def __init__(self, kinds: Mapping[str, str] | str = "fact") -> None:
        self._kinds = kinds
        self.read: list[list[tuple[str, str]]] = []

    def facts(self, messages: Sequence[tuple[str, str]]) -> list[Passage]:
        self.read.append(list(messages))
        text = messages[-1][1]
        if isinstance(self._kinds, str):
            return [Passage(0, len(text), self._kinds, 0.9)]
        begun = {words: re.search(rf"(?:^|[.>:?!\n] ?){re.escape(words)}", text) for words in self._kinds}
        found = [(at.end() - len(words), self._kinds[words]) for words, at in begun.items() if at]
        return [Passage(start, (text + ".").find(".", start), kind, 0.9) for start, kind in sorted(found)]

    def replaced(self, memories: Sequence[str], said: str) -> list[float]:
        return [0.0 for _ in memories]

    def states(self, passage: str, facts: Sequence[str]) -> list[float]:
        return open_builtin_model().states(passage, facts)

    def helps(self, prompt: str, texts: Sequence[str]) -> list[float]:
        return open_builtin_model().helps(prompt, texts)
