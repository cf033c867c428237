"""Embedders and language models in settings: kind, model, address of the server, and list price."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeVar, get_args
from urllib.parse import urlsplit

from holdfast.domain.spend import FREE, MICRO, Price
from holdfast.errors import Invalid

Kind = Literal["none", "own", "multilingual", "ollama", "openai"]
Vendor = Literal["anthropic", "openai", "ollama"]

OWN = "holdfast-embedder/1.1.0"
MULTILINGUAL = "universal-sentence-encoder-multilingual-3/1"
EMBEDDERS = "default, none, multilingual, ollama:MODEL[@URL] or openai:MODEL[@URL]"
MODELS = "anthropic:MODEL[@URL], openai:MODEL[@URL] or ollama:MODEL[@URL]"
#: The server of a name without an address.
DEFAULT_URLS: dict[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434",
}

_FIXED: dict[str, Kind] = {
    "default": "own",
    OWN: "own",
    "none": "none",
    "multilingual": "multilingual",
    MULTILINGUAL: "multilingual",
}
_AT = re.compile(r"@(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
K = TypeVar("K", bound=str)
_MODEL = re.compile(r"[\w][\w./:+-]{0,199}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spec:
    """An embedder and its server."""

    kind: Kind
    model: str = ""
    url: str = ""  # of the server, without a slash at its end

    @property
    def name(self) -> str:
        """The name stored with its vectors, always spelled the same. Holds no secret."""
        match self.kind:
            case "own":
                return OWN
            case "multilingual":
                return MULTILINGUAL
            case "ollama" | "openai":
                return _name(self.kind, self.model, self.url)
            case _:
                return "none"


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """A language model and its server."""

    kind: Vendor
    model: str
    url: str  # of the server, without a slash at its end

    @property
    def name(self) -> str:
        """The name under which its calls are counted, always spelled the same. Holds no secret."""
        return _name(self.kind, self.model, self.url)

    @property
    def usual(self) -> bool:
        """Whether its server is the vendor's own."""
        return self.url == DEFAULT_URLS[self.kind]

    @property
    def local(self) -> bool:
        """Whether its server runs on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    @property
    def needs_key(self) -> bool:
        """Whether its server requires a key; other servers decide that themselves."""
        return self.usual and self.kind != "ollama"


def parse(text: str) -> Spec:
    """Parses the name of an embedder. Raises: Invalid, listing the allowed forms."""
    if text in _FIXED:
        return Spec(_FIXED[text])
    shown = text.partition("@")[0]  # what follows may hold a secret
    kinds: tuple[Literal["ollama", "openai"], ...] = ("ollama", "openai")
    kind, model, url = _parts(text, kinds)
    if kind is None:
        raise Invalid(f"unknown embedder {shown!r}: use {EMBEDDERS}", field="embedder")
    if not _MODEL.fullmatch(model):
        raise Invalid(f"the embedder {shown!r} has no model name: use {EMBEDDERS}", field="embedder")
    return Spec(kind, model, _server(kind, url, of="embedder", key="HOLDFAST_EMBEDDER_KEY"))


def parse_language(text: str) -> LanguageSpec | None:
    """Parses the name of a language model; None for none. Raises: Invalid, listing the allowed forms."""
    return None if text in ("", "none", "off") else parse_model(text, f"none, {MODELS}")


def parse_model(text: str, forms: str = MODELS) -> LanguageSpec:
    """Parses the name of a required language model. Raises: Invalid, listing the allowed forms."""
    shown = text.partition("@")[0]  # what follows may hold a secret
    vendors: tuple[Vendor, ...] = get_args(Vendor)
    kind, model, url = _parts(text, vendors)
    if kind is None:
        raise Invalid(f"unknown model {shown!r}: use {forms}", field="model")
    if not _MODEL.fullmatch(model):
        raise Invalid(f"{shown!r} has no model name: use {forms}", field="model")
    return LanguageSpec(kind, model, _server(kind, url, of="model", key="HOLDFAST_MODEL_KEY"))


def _parts(text: str, kinds: Sequence[K]) -> tuple[K | None, str, str | None]:
    """Kind, model and address of a name; None for an unknown kind and for a name without an address."""
    kind, colon, rest = text.partition(":")
    model, *urls = _AT.split(rest, maxsplit=1)
    known = next((one for one in kinds if colon and one == kind), None)
    return known, model, urls[0] if urls else None


def _name(kind: str, model: str, url: str) -> str:
    return f"{kind}:{model}" + ("" if url == DEFAULT_URLS[kind] else f"@{url}")


def _server(kind: str, url: str | None, *, of: str, key: str) -> str:
    """The address of a server, normalized. A rejected address is not repeated: it may hold a secret.

    `key` is the setting that takes the secret instead.
    Raises: Invalid.
    """
    if url is None:
        return DEFAULT_URLS[kind]
    wrong = f"invalid address of the {of}: use http://HOST:PORT or https://HOST/PATH"
    if any(character.isspace() or not character.isprintable() for character in url):
        raise Invalid(wrong, field=of)
    try:
        parts = urlsplit(url)
        secret = parts.username is not None or parts.password is not None or parts.query or parts.fragment
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an address, an invalid port
        raise Invalid(wrong, field=of) from None
    if secret:
        raise Invalid(
            f"the {of}'s address must not contain a password or query: put the key into {key}", field=of
        )
    if not usable:
        raise Invalid(wrong, field=of)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


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
    found = _prices().get(name) or _prices().get(_DATED.sub("", name))
    if found is None or name == _CAUTIOUS:
        return FREE if spec.local else None
    return found


def cautious() -> Price:
    """The price that limits assume for a model without a known price."""
    return _prices()[_CAUTIOUS]


@cache
def _prices() -> dict[str, Price]:
    import tomllib
    from importlib.resources import files

    text = files("holdfast.models").joinpath(_FILE).read_text(encoding="utf-8")
    return {name: Price(**_micro(entry)) for name, entry in tomllib.loads(text).items()}


def _micro(entry: dict[str, float]) -> dict[str, int]:
    return {name: round(dollars * MICRO) for name, dollars in entry.items()}
