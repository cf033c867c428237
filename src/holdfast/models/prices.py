"""The list prices of language models, from `prices.toml`; local models are free."""

import re
import tomllib
from functools import cache
from importlib.resources import files

from holdfast.domain.spend import FREE, MICRO, Price
from holdfast.models.specs import LanguageSpec

_FILE = "prices.toml"
_CAUTIOUS = "cautious"
_DATED = re.compile(r"(?:-20\d{2}(?:-?\d{2}){0,2}|-latest)$")


def price_of(spec: LanguageSpec) -> Price | None:
    """A model's price; None if unknown. One that runs on this machine is free.

    A listed model at a local address is not free: a proxy forwards the calls.
    """
    if spec.kind == "ollama":
        return FREE
    name = spec.model.rsplit("/", 1)[-1].lower()  # brokers put the vendor first
    found = _table().get(name) or _table().get(_DATED.sub("", name))
    if found is None or name == _CAUTIOUS:
        return FREE if spec.local else None
    return found


def cautious() -> Price:
    """The price that limits assume for a model without a known price."""
    return _table()[_CAUTIOUS]


@cache
def _table() -> dict[str, Price]:
    text = files("holdfast.models").joinpath(_FILE).read_text(encoding="utf-8")
    return {name: Price(**_micro(entry)) for name, entry in tomllib.loads(text).items()}


def _micro(entry: dict[str, float]) -> dict[str, int]:
    return {name: round(dollars * MICRO) for name, dollars in entry.items()}
