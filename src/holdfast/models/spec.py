"""What an embedder is called in settings and beside its vectors: a name that can be opened again later."""

import re
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import Invalid
from holdfast.models.server_address import server_address

Kind = Literal["none", "own", "multilingual", "ollama", "openai"]

OWN = "holdfast-embedder/1.1.0"
MULTILINGUAL = "universal-sentence-encoder-multilingual-3/1"
#: Where a server is looked for when the name does not say.
OLLAMA = "http://127.0.0.1:11434"
OPENAI = "https://api.openai.com/v1"
FORMS = "default, none, multilingual, ollama:MODEL[@URL] or openai:MODEL[@URL]"

_FIXED: dict[str, Kind] = {
    "default": "own",
    OWN: "own",
    "none": "none",
    "multilingual": "multilingual",
    MULTILINGUAL: "multilingual",
}
_AT = re.compile(r"@(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
_MODEL = re.compile(r"[\w][\w./:+-]{0,199}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spec:
    """Which embedder, and where."""

    kind: Kind
    model: str = ""
    url: str = ""  # of the server, without a slash at its end

    @property
    def name(self) -> str:
        """The one spelling under which this embedder's vectors are kept. Holds no secret."""
        match self.kind:
            case "own":
                return OWN
            case "multilingual":
                return MULTILINGUAL
            case "ollama" | "openai":
                usual = OLLAMA if self.kind == "ollama" else OPENAI
                return f"{self.kind}:{self.model}" + ("" if self.url == usual else f"@{self.url}")
            case _:
                return "none"


def parse(text: str) -> Spec:
    """The embedder that `text` names.

    Raises: Invalid, listing the forms that are understood.
    """
    if text in _FIXED:
        return Spec(_FIXED[text])
    shown = text.partition("@")[0]  # what follows may hold a secret
    kind, colon, rest = text.partition(":")
    if not colon or kind not in ("ollama", "openai"):
        raise Invalid(f"unknown embedder {shown!r}: use {FORMS}", field="embedder")
    model, *urls = _AT.split(rest, maxsplit=1)
    if not _MODEL.fullmatch(model):
        raise Invalid(f"the embedder {shown!r} has no model name: use {FORMS}", field="embedder")
    usual = OLLAMA if kind == "ollama" else OPENAI
    return Spec("ollama" if kind == "ollama" else "openai", model, _server(urls[0]) if urls else usual)


def _server(url: str) -> str:
    return server_address(url, of="embedder", key="HOLDFAST_EMBEDDER_KEY")
