"""The WordPiece tokenizer of BERT's uncased models.

Same results as the `tokenizers` library, at a fraction of its size and start-up time.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
LONGEST_WORD = 100  # letters; longer words are unknown to the model
MAX_REMEMBERED = 50_000  # words whose pieces are kept at hand

# Each ideograph is a word of its own.
_IDEOGRAPH = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f])"
)
# Words and single marks of plain ASCII text, in one pass.
_ASCII_PIECES = re.compile(r"[0-9a-z]+|[!-/:-@\[-`{-~]")
_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ASCII_CONTROLS = dict.fromkeys(code for code in (*range(32), 127) if chr(code) not in "\t\n\r")
_SPACES = "\t\n\r"
_UNSEEN = frozenset(("Cc", "Cf", "Co"))  # controls, formats, private use


@dataclass(frozen=True, slots=True)
class WordPiece:
    """The vocabulary, and a cache of words."""

    numbers: dict[str, int]
    pieces: list[str]  # by number
    longest_piece: int
    known: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def load(cls, vocabulary: Path) -> "WordPiece":
        lines = vocabulary.read_text(encoding="utf-8").split("\n")
        pieces = lines[:-1] if lines[-1] == "" else lines
        numbers = {piece: number for number, piece in enumerate(pieces)}
        return cls(numbers, pieces, max(map(len, pieces)))

    def numbers_of(self, text: str) -> list[int]:
        """The numbers of `text`'s pieces, without the marks of start and end."""
        found: list[int] = []
        for _, pieces in self.words_of(text):
            found.extend(pieces)
        return found

    def words_of(self, text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The words and marks of `text`, each with the numbers of its pieces."""
        for word in basic_words(text):
            pieces = self.known.get(word)
            if pieces is None:
                pieces = self._pieces(word)
                if len(self.known) < MAX_REMEMBERED:
                    self.known[word] = pieces
            yield word, pieces

    def placed(self, text: str) -> Iterator[tuple[int, int, int]]:
        """The numbers of `text`'s pieces, each with where it begins and ends in the text."""
        for word, places in _placed_words(text):
            pieces = self._pieces(word)
            if len(pieces) == 1:
                yield pieces[0], places[0], places[-1] + 1
                continue
            start = 0
            for number in pieces:
                end = start + len(self.pieces[number].removeprefix("##"))
                yield number, places[start], places[end - 1] + 1
                start = end

    def framed(self, numbers: Sequence[int]) -> list[int]:
        return [self.numbers[START], *numbers, self.numbers[END]]

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Greedy: the longest piece that fits, then the longest continuation."""
        unknown = (self.numbers[UNKNOWN],)
        if len(word) > LONGEST_WORD:
            return unknown
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + self.longest_piece), start, -1):
                number = self.numbers.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return unknown
            pieces.append(number)
            start = end
        return tuple(pieces)


def basic_words(text: str) -> list[str]:
    """Lower-case words without accents, each punctuation mark and ideograph apart."""
    if text.isascii():
        return _ASCII_PIECES.findall(text.translate(_ASCII_CONTROLS).lower())
    spread = "".join(_cleaned(letter) for letter in text)
    spread = _IDEOGRAPH.sub(r" \1 ", spread)
    apart = unicodedata.normalize("NFD", spread)
    bare = "".join(letter for letter in apart if unicodedata.category(letter) != "Mn")
    lower = "".join(map(str.lower, bare))  # letter by letter: no final sigma
    return "".join(f" {letter} " if _is_mark(letter) else letter for letter in lower).split()


def _placed_words(text: str) -> Iterator[tuple[str, list[int]]]:
    """The same words, each with the positions of its letters."""
    word, places = "", list[int]()
    for place, letter in enumerate(text):
        spread = unicodedata.normalize("NFD", _cleaned(letter))
        for plain in (one.lower() for one in spread if unicodedata.category(one) != "Mn"):
            alone = _is_mark(plain) or _IDEOGRAPH.match(plain)
            if word and (alone or plain.isspace()):
                yield word, places
                word, places = "", []
            if alone:
                yield plain, [place] * len(plain)
            elif not plain.isspace():
                word += plain
                places += [place] * len(plain)
    if word:
        yield word, places


def _cleaned(letter: str) -> str:
    if letter in _SPACES:
        return " "
    if letter == "\ufffd" or unicodedata.category(letter) in _UNSEEN:
        return ""
    return " " if letter.isspace() else letter


def _is_mark(letter: str) -> bool:
    return letter in _ASCII_MARKS or unicodedata.category(letter).startswith("P")
