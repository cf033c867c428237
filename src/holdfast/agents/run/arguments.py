"""The words of an agent's command line: which options it was given, and the same with others."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arguments:
    """A command line. Options count up to a `--`, written `--name value`, `--name=value` or `-n value`."""

    words: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Whether one of these options is given; of short ones, in a cluster such as `-pc` too."""
        return any(_is(word, name) for word in self._options() for name in names)

    def value(self, *names: str) -> str | None:
        """The last value of these options; none when they are not given, or without one."""
        found = None
        for place, word in enumerate(self._options()):
            for name in names:
                if word == name and place + 1 < self._end():
                    found = self.words[place + 1]
                elif name.startswith("--") and word.startswith(f"{name}="):
                    found = word[len(name) + 1 :]
        return found

    def without(self, *names: str) -> "Arguments":
        """The same without these options and their values."""
        kept: list[str] = []
        skip = False
        for place, word in enumerate(self.words):
            if skip or place >= self._end():
                if not skip:
                    kept.append(word)
                skip = False
            elif word in names:
                skip = True
            elif not any(word.startswith(f"{name}=") for name in names):
                kept.append(word)
        return Arguments(tuple(kept))

    def adding(self, *words: str, at: int | None = None) -> "Arguments":
        """The same with more words behind its options, or at a place of its own."""
        place = self._end() if at is None else at
        return Arguments((*self.words[:place], *words, *self.words[place:]))

    def _options(self) -> Iterator[str]:
        return iter(self.words[: self._end()])

    def _end(self) -> int:
        return self.words.index("--") if "--" in self.words else len(self.words)


def _is(word: str, name: str) -> bool:
    if word == name or (name.startswith("--") and word.startswith(f"{name}=")):
        return True
    cluster = len(name) == 2 and word.startswith("-") and not word.startswith("--") and word[1:].isalpha()
    return cluster and name[1] in word
