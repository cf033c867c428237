"""Settings, from the environment. Few on purpose; everything else is a space's profile."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import Invalid

_EMBEDDERS = ("default", "none")
#: The first that is set counts. The second name is what operators of service agents have in place already.
_BUDGET = ("HOLDFAST_MEMORY_BUDGET", "CLAUDEOPS_MEMORY_BUDGET")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a person may set for all of their spaces."""

    db: str  # a file path or a postgresql:// URL
    space: str
    budget: int | None  # tokens of a brief; none = the profile's
    embedder: str  # "default", or "none" to search by words alone

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Raises: Invalid, naming the variable."""
        return cls(
            db=environment.get("HOLDFAST_DB") or str(default_path()),
            space=environment.get("HOLDFAST_SPACE") or "default",
            budget=_budget(environment),
            embedder=_embedder(environment),
        )


def default_path() -> Path:
    """The database in the user's data directory, outside of any install or cache."""
    from platformdirs import user_data_path

    return user_data_path("holdfast", appauthor=False) / "holdfast.db"


def _embedder(environment: Mapping[str, str]) -> str:
    name = environment.get("HOLDFAST_EMBEDDER") or "default"
    if name not in _EMBEDDERS:
        raise Invalid(
            f"HOLDFAST_EMBEDDER={name!r} is unknown: use {' or '.join(_EMBEDDERS)}", field="embedder"
        )
    return name


def _budget(environment: Mapping[str, str]) -> int | None:
    for name in _BUDGET:
        text = environment.get(name)
        if text:
            if not text.isascii() or not text.isdigit():
                raise Invalid(f"{name}={text!r} is no number of tokens: use for example 2000", field="budget")
            return int(text)
    return None
