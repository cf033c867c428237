"""Settings, from the environment. Few on purpose; everything else is a space's profile."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast import places
from holdfast.errors import Invalid
from holdfast.models.spec import OPENAI, Spec, parse

#: The first that is set counts. The second name is what operators of service agents have in place already.
_BUDGET = ("HOLDFAST_MEMORY_BUDGET", "CLAUDEOPS_MEMORY_BUDGET")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a person may set for all of their spaces."""

    db: str  # a file path or a postgresql:// URL
    space: str
    budget: int | None  # tokens of a brief; none = the profile's
    embedder: str  # "default", "none" to search by words alone, or another by its name
    embedder_key: str | None = field(default=None, repr=False)  # for the server of that embedder alone
    openai_key: str | None = field(default=None, repr=False)  # for OpenAI's own server alone

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Raises: Invalid, naming the variable."""
        return cls(
            db=environment.get("HOLDFAST_DB") or str(default_path()),
            space=environment.get("HOLDFAST_SPACE") or "default",
            budget=_budget(environment),
            embedder=_embedder(environment),
            embedder_key=environment.get("HOLDFAST_EMBEDDER_KEY"),
            openai_key=environment.get("OPENAI_API_KEY"),
        )

    def key_for(self, spec: Spec) -> str | None:
        """The key for an embedder's server: none for a server that it was not set for.

        A space may still be searched with an earlier embedder, whose server is not to see this one's key.
        Raises: Invalid, naming the variable.
        """
        if spec.url and self.embedder_key and spec.url == parse(self.embedder).url:
            return _key("HOLDFAST_EMBEDDER_KEY", self.embedder_key)
        if spec.url == OPENAI and self.openai_key:
            return _key("OPENAI_API_KEY", self.openai_key)
        return None


def default_path() -> Path:
    """The database in the user's data directory, outside of any install or cache."""
    return Path(places.database())


def _embedder(environment: Mapping[str, str]) -> str:
    name = (environment.get("HOLDFAST_EMBEDDER") or "default").strip()
    try:
        parse(name)
    except Invalid as wrong:
        raise Invalid(f"HOLDFAST_EMBEDDER: {wrong}", field="embedder") from None
    return name


def _key(name: str, text: str) -> str | None:
    key = text.strip()
    if not key.isascii() or not key.isprintable():
        raise Invalid(f"{name} holds characters that no key has: set it again", field="embedder")
    return key or None


def _budget(environment: Mapping[str, str]) -> int | None:
    for name in _BUDGET:
        text = environment.get(name)
        if text:
            if not text.isascii() or not text.isdigit():
                raise Invalid(f"{name}={text!r} is no number of tokens: use for example 2000", field="budget")
            return int(text)
    return None
