"""What a language model is called in settings: its vendor, its name, and where it is asked."""

import re
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from holdfast.errors import Invalid

Vendor = Literal["anthropic", "openai", "ollama"]

FORMS = "none, anthropic:MODEL[@URL], openai:MODEL[@URL] or ollama:MODEL[@URL]"
#: Where a model is asked when its name does not say.
USUAL: dict[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434",
}
_AT = re.compile(r"@(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
_MODEL = re.compile(r"[\w][\w./:+-]{0,199}", re.ASCII)


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """Which model, and where."""

    kind: Vendor
    model: str
    url: str  # of the server, without a slash at its end

    @property
    def name(self) -> str:
        """The one spelling under which its calls are counted. Holds no secret."""
        return f"{self.kind}:{self.model}" + ("" if self.usual else f"@{self.url}")

    @property
    def usual(self) -> bool:
        """Whether it is asked where its vendor is."""
        return self.url == USUAL[self.kind]


def parse_language(text: str) -> LanguageSpec | None:
    """The model that `text` names; none for none.

    Raises: Invalid, listing the forms that are understood.
    """
    if text in ("", "none", "off"):
        return None
    shown = text.partition("@")[0]  # what follows may hold a secret
    kind, colon, rest = text.partition(":")
    if not colon or kind not in get_args(Vendor):
        raise Invalid(f"the model {shown!r} is unknown: use {FORMS}", field="model")
    model, *urls = _AT.split(rest, maxsplit=1)
    if not _MODEL.fullmatch(model):
        raise Invalid(f"{shown!r} names no model: use {FORMS}", field="model")
    vendor = next(vendor for vendor in get_args(Vendor) if vendor == kind)
    return LanguageSpec(vendor, model, _server(urls[0]) if urls else USUAL[kind])


def _server(url: str) -> str:
    """The address in its one spelling. What is refused is not repeated: it may hold a secret."""
    wrong = "the model's address can't be used: write http://HOST:PORT or https://HOST/PATH"
    if any(character.isspace() or not character.isprintable() for character in url):
        raise Invalid(wrong, field="model")
    try:
        parts = urlsplit(url)
        secret = parts.username is not None or parts.password is not None or parts.query or parts.fragment
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an address, a port that is none
        raise Invalid(wrong, field="model") from None
    if secret:
        raise Invalid(
            "the model's address may hold no password or query: the key goes into HOLDFAST_MODEL_KEY",
            field="model",
        )
    if not usable:
        raise Invalid(wrong, field="model")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
