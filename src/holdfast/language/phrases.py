"""Set phrases of conversations, from `data/phrases.toml`."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_LEADING = "ok|yes|no|yeah|nope|right|correct|exactly|perfect|actually|well|hm+|ah|oh"


@cache
def phrases(name: str) -> re.Pattern[str]:
    """A pattern for the set phrases of one kind as whole words, with either apostrophe."""
    either = "|".join(listed()[name]).replace("'", "['’]")
    return re.compile(rf"(?<![\w'’])(?:{either})(?![\w'’])", re.IGNORECASE)


@cache
def opening(name: str) -> re.Pattern[str]:
    """The same at the beginning of a text, after any introductory words."""
    lead = rf"\s*(?:(?:{_LEADING})\b[,.!]*\s*)*"
    return re.compile(rf"{lead}(?:{phrases(name).pattern})", re.IGNORECASE)


def begins(name: str, text: str) -> bool:
    """Whether a text begins with a phrase of this kind, after any introductory words."""
    return opening(name).match(text) is not None


@cache
def listed() -> Mapping[str, list[str]]:
    """All kinds with their phrases."""
    source = files("holdfast.language").joinpath("data", "phrases.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
