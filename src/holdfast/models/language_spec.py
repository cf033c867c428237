"""What a language model is called in settings: its vendor, its name, and where it is asked."""

import re
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import urlsplit

from holdfast.errors import Invalid
from holdfast.models.server_address import server_address

Vendor = Literal["anthropic", "openai", "ollama"]

MODELS = "anthropic:MODEL[@URL], openai:MODEL[@URL] or ollama:MODEL[@URL]"
FORMS = f"none, {MODELS}"
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

    @property
    def local(self) -> bool:
        """Whether it is asked on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    @property
    def needs_key(self) -> bool:
        """Whether nobody is answered there without one; other servers decide that themselves."""
        return self.usual and self.kind != "ollama"


def parse_language(text: str) -> LanguageSpec | None:
    """The model that `text` names; none for none.

    Raises: Invalid, listing the forms that are understood.
    """
    return None if text in ("", "none", "off") else parse_model(text, FORMS)


def parse_model(text: str, forms: str = MODELS) -> LanguageSpec:
    """The model that `text` names, where one is needed.

    Raises: Invalid, listing the forms that are understood.
    """
    shown = text.partition("@")[0]  # what follows may hold a secret
    kind, colon, rest = text.partition(":")
    if not colon or kind not in get_args(Vendor):
        raise Invalid(f"unknown model {shown!r}: use {forms}", field="model")
    model, *urls = _AT.split(rest, maxsplit=1)
    if not _MODEL.fullmatch(model):
        raise Invalid(f"{shown!r} has no model name: use {forms}", field="model")
    vendor = next(vendor for vendor in get_args(Vendor) if vendor == kind)
    return LanguageSpec(vendor, model, _server(urls[0]) if urls else USUAL[kind])


def _server(url: str) -> str:
    return server_address(url, of="model", key="HOLDFAST_MODEL_KEY")
