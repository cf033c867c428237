"""How the cost of reading a text grows with its length: every pattern of the package, and units to repeat.

Patterns are found by walking the modules, so that a new one is covered without being named here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from types import ModuleType

import holdfast
from holdfast.domain.secrets import formats
from holdfast.language.phrases import listed, opening, phrases

LARGE = 20_000  # repetitions
MOST = 3.0  # times the cost for twice the text
FLOOR = 0.05  # seconds of processor time that count as nothing
_TRIES = 6

_METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
_LEFT_OUT = ("holdfast.quality", "holdfast.cli.bench", "holdfast.store.migrations")

UNITS = (
    "a", "Z", "0", "_", "-", ".", ",", ":", ";", "!", "?", "'", '"', "`", "´", "“", "”", "„", "«", "»", "(",
    ")", "[", "]", "{", "}", "<", ">", "/", "\\", "|", "@", "#", "$", "%", "^", "&", "*", "+", "=", "~",
    " ", "\t", "\n", "\r", "\x0c", "\x00", "\x0b", "\x85", "\xa0", "\u2028", "\u200b", "\u200d", "\u202e",
    "️", "\ufeff", "é", "ß", "İ", "я", "ا", "א", "न", "ก", "漢", "あ", "한", "。", "、", "「", "…", "–", "→",
    "✓", "😀", "\ud800", "́", "̣́", "é", "ि", "\U0001f469\u200d\U0001f469", "🇩🇪", "\x01", "a ", " a", "a.",
    "a, ", "a. ", "A b. ", "a\n", "a\n\n", "\n ", " \n", "\t\n", "a b\n", "Ab ", "A.", "a-", "a_b", "- ",
    "* ", "> ", "# ", "1. ", "12", "1,", "1.", "1:", "1-", "1/", "1 ", "$1", "10%", "3 days ",
    "2026-01-01 ", "--", "---\n", "==", "===\n", "**", "__", "``", "```\n", "~~~\n", "''", '""', "'a' ",
    '"a" ', "'a b", '"a', '\\"', "\\n", "()", "[]", "{}", "((", "[[", "]]", "](", "[a](", "<a>", "</a>",
    "<a ", "<!--", "-->", "<b x=", "&amp;", "&#", '{"a":', "key=", "key: ", "password=", "password ",
    "password is ", "token: ", "secret", "a=b ", "a=1;", "export A=", "-p ", "--password ", "http://",
    "https://a/", "http://a:", "a@b.c ", "a@", "www.", "../", "/a", "C:\\", "a.py:1 ", "file.txt:\n",
    "at a(", "[MEMORY:", "[MEMORY:a:b] c\n", "[EVENT:", "[id:abcdefgh] ", "- [id:abcdefgh] a\n",
    "<private>", "</private>", "<private></private>", "<system-reminder>", "</system-reminder>",
    "[redacted:key]", "[private]", "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----\n", "Bearer ", "Basic ",
    "eyJ", "sk-", "AKIA", "ghp_", "4111 ", "4111-1111-1111-1111 ", "DE89", "Cookie: a=b; ",
    "Authorization: ", "I ", "I'm ", "not ", "and ", "the user ", "is ", "in ", "no, ", "because ",
    "remember ", "translate ", "please fix the text\n", "Monday ", "last week ", "10:00 ", "60 seconds ",
    "v1.2.3 ", "ERROR ", "SELECT ", "def a(", "in 1s\n", "OK\n", "Dr. ", "e.g. ",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reader:
    """Something that reads a text, under the name that a failure shows."""

    name: str
    read: Callable[[str], object]


def patterns() -> list[Reader]:
    """Each way in which each pattern of the package is used."""
    found: dict[tuple[str, str], Reader] = {}
    for module in _modules():
        source = Path(str(module.__file__)).read_text("utf-8")
        for name, pattern in _patterns_of(module):
            for method in _uses(name, source):
                key = (pattern.pattern + str(pattern.flags), method)
                found.setdefault(key, Reader(f"{module.__name__}.{name}.{method}", _reader(pattern, method)))
        for pattern, method, line in _written_in_place(source):
            key = (pattern.pattern + str(pattern.flags), method)
            found.setdefault(key, Reader(f"{module.__name__}:{line}.{method}", _reader(pattern, method)))
    for name, search in _from_data():
        found[name, "search"] = Reader(name, search)
    return sorted(found.values(), key=lambda reader: reader.name)


def _from_data() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Patterns that are made of a table when they are first asked for."""
    for name in listed():
        yield f"phrases.{name}", phrases(name).search
        yield f"phrases.{name}, first", opening(name).match
    for number, (kind, _, expression) in enumerate(formats.ROWS):
        pattern = re.compile(expression)
        yield f"formats.{number}.{kind}", pattern.search if kind.startswith("<") else pattern.match


def growth(read: Callable[[str], object], unit: str, large: int = LARGE) -> float:
    """How many times the cost is for twice the text, at its worst; 0.0 where it costs next to nothing."""
    times = 0.0
    for part in (64, 16, 4, 1):  # from small to large: what explodes is found before it takes for ever
        size = large // part // 2
        times = _times(read, unit * size, unit * (size * 2))
        if times > MOST:
            break
    return times


def _times(read: Callable[[str], object], once: str, twice: str) -> float:
    larger = _cost(read, twice)
    if larger < FLOOR:
        return 0.0
    smaller = _cost(read, once)
    for _ in range(_TRIES):  # a busy machine makes one run slow, not all of them
        if larger <= MOST * smaller:
            break
        larger, smaller = min(larger, _cost(read, twice)), min(smaller, _cost(read, once))
    return larger / smaller


def _cost(read: Callable[[str], object], text: str) -> float:
    begun = process_time()
    read(text)
    return process_time() - begun


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if not found.name.startswith(_LEFT_OUT) and not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        cached = callable(value) and hasattr(value, "cache_info")
        if cached and _makes_a_pattern(value):
            value = value()
        for pattern in _within(value):
            yield name, pattern


def _makes_a_pattern(function: Callable[..., object]) -> bool:
    signature = inspect.signature(function)
    alone = all(each.default is not each.empty for each in signature.parameters.values())
    return alone and "Pattern" in str(signature.return_annotation)


def _within(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _within(each)
    elif isinstance(value, (tuple, list, frozenset, set)):
        for each in value:
            yield from _within(each)


def _uses(name: str, source: str) -> list[str]:
    """How a module uses one of its patterns; one that it hands on may be used in any way."""
    used = set(re.findall(rf"\b{name}(?:\(\))?\.({'|'.join(_METHODS)})\b", source))
    handed_on = len(re.findall(rf"\b{name}\b(?!(?:\(\))?\.(?:{'|'.join(_METHODS)})\b)", source)) > 1
    return sorted(used | {"search", "match"} if handed_on or not used else used)


def _written_in_place(source: str) -> Iterator[tuple[re.Pattern[str], str, int]]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                args=[ast.Constant(value=str(written)), *_],
            ) if method in _METHODS:
                yield re.compile(written), method, node.lineno


def _reader(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    if method in ("sub", "subn"):
        return lambda text: pattern.sub("", text)
    if method == "finditer":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    found: Callable[[str], object] = getattr(pattern, method)
    return found
