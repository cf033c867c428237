"""What is known of other people's models: the words that they want before a text, and how much they take."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FILE = "known_models.toml"
_TAG = re.compile(r"[:@].*", re.DOTALL)
CAUTIOUS = 256  # tokens of a model that nothing is known of: the least that common ones take


@dataclass(frozen=True, slots=True)
class KnownModel:
    """How to talk to a model."""

    document: str = ""  # goes before a text that is kept
    query: str = ""  # goes before a question
    tokens: int = CAUTIOUS


def known(model: str) -> KnownModel:
    """What is known of the model of that name; for a strange one nothing, and caution."""
    plain = _TAG.sub("", model.rsplit("/", 1)[-1]).lower()
    found = max((name for name in _table() if plain.startswith(name)), key=len, default=None)
    return KnownModel() if found is None else _table()[found]


@cache
def _table() -> dict[str, KnownModel]:
    text = files("holdfast.models").joinpath(_FILE).read_text(encoding="utf-8")
    return {name: KnownModel(**entry) for name, entry in tomllib.loads(text).items()}
