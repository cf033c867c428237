"""What models cost by the list, from the table beside this module; nothing for those of one's own machine."""

import re
import tomllib
from functools import cache
from importlib.resources import files

from holdfast.domain.spend import FREE, MICRO, Price
from holdfast.models.language_spec import LanguageSpec

_FILE = "prices.toml"
_CAUTIOUS = "cautious"
_DATED = re.compile(r"(?:-20\d{2}(?:-?\d{2}){0,2}|-latest)$")


def price_of(spec: LanguageSpec) -> Price | None:
    """A model's price; none where it is not known. One that runs on this machine costs nothing.

    A model on the list that is asked here is not run here: something passes the question on.
    """
    if spec.kind == "ollama":
        return FREE
    name = spec.model.rsplit("/", 1)[-1].lower()  # brokers put the vendor first
    found = _table().get(name) or _table().get(_DATED.sub("", name))
    if found is None or name == _CAUTIOUS:
        return FREE if spec.local else None
    return found


def cautious() -> Price:
    """What limits take a model for whose price is not known."""
    return _table()[_CAUTIOUS]


@cache
def _table() -> dict[str, Price]:
    text = files("holdfast.models").joinpath(_FILE).read_text(encoding="utf-8")
    return {name: Price(**_micro(entry)) for name, entry in tomllib.loads(text).items()}


def _micro(entry: dict[str, float]) -> dict[str, int]:
    return {name: round(dollars * MICRO) for name, dollars in entry.items()}
