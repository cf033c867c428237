"""Calls the built-in models one question at a time, so that background work can stop in between.

Interrupted work starts again in its next slice, and gets the answers that it already had. They are kept until
the work is done; questions are kept only as hashes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

from holdfast.engine.ports import Embedder, TimeIsUp, TimeUp
from holdfast.engine.space_context import SpaceContext
from holdfast.language.comparison import Statement, Verdict
from holdfast.language.passages import Marked

_MOST = 100  # pieces of work in progress: one whose session was erased is never continued
_UNDER_WAY: dict[tuple[str, str], dict[bytes, Any]] = {}  # the answers, by space and work
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class ModelsInSteps:
    """Judge, built-in model and embedder of a space for one piece of work; `ctx` is the space with them.

    Every call raises TimeIsUp if the time is up, but not before something new was done.
    """

    def __init__(self, ctx: SpaceContext, work: str, time_up: TimeUp) -> None:
        self._own = ctx
        self._key = (ctx.space, work)
        self._time_up = time_up
        self._answers = _UNDER_WAY.pop(self._key, {})  # removed, so that no other thread continues it
        self.begun = False  # whether something new was done
        self.ctx = replace(ctx, judge=self, builtin_model=self, embedder=self if ctx.embedder else None)

    def check(self) -> None:
        """Raises: TimeIsUp."""
        if self.begun and self._time_up():
            while len(_UNDER_WAY) >= _MOST:
                del _UNDER_WAY[next(iter(_UNDER_WAY))]
            _UNDER_WAY[self._key] = self._answers
            raise TimeIsUp

    def forget(self) -> None:
        """Drops the answers: the work is done."""
        self._answers.clear()

    def once(self, question: object, ask: Callable[[], Answer]) -> Answer:
        """The answer to a question; asked only if it is not known."""
        key = sha256(repr(question).encode("utf-8", "replace")).digest()
        if key not in self._answers:
            self.check()
            self._answers[key] = ask()
            self.begun = True
        answer: Answer = self._answers[key]
        return answer

    def _each(
        self, kind: str, questions: Sequence[Asked], ask: Callable[[Sequence[Asked]], Sequence[Answer]]
    ) -> list[Answer]:
        return [self.once((kind, one), lambda: ask([one])[0]) for one in questions]  # noqa: B023

    def compare(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        return self._each("compare", pairs, self._own.judge.compare)

    def facts(self, messages: Sequence[tuple[str, str]]) -> Sequence[Marked]:
        return self.once(("facts", messages), lambda: self._own.builtin_model.facts(messages))

    def replaced(self, memories: Sequence[str], said: str) -> list[float]:
        return self._each(
            f"replaced {said}", memories, lambda some: self._own.builtin_model.replaced(some, said)
        )

    def helps(self, prompt: str, texts: Sequence[str]) -> list[float]:
        return self._each(f"helps {prompt}", texts, lambda some: self._own.builtin_model.helps(prompt, some))

    def states(self, passage: str, facts: Sequence[str]) -> list[float]:
        return self._each(
            f"states {passage}", facts, lambda some: self._own.builtin_model.states(passage, some)
        )

    @property
    def name(self) -> str:
        return self._embedder.name

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        return self._each("documents", texts, self._embedder.documents)

    def query(self, text: str) -> bytes:
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        return self._each("queries", texts, self._embedder.queries)

    @property
    def _embedder(self) -> Embedder:
        assert self._own.embedder is not None
        return self._own.embedder
