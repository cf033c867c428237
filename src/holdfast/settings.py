"""Settings, from the environment. Few on purpose; everything else is a space's profile."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from holdfast.app import paths
from holdfast.domain.access import checked_person
from holdfast.domain.spend import Caps, micro_dollars
from holdfast.errors import Invalid
from holdfast.models.specs import DEFAULT_URLS, LanguageSpec, Spec, parse, parse_language

#: The first that is set counts. The second name is what operators of service agents have in place already.
_BUDGET = ("HOLDFAST_MEMORY_BUDGET", "CLAUDEOPS_MEMORY_BUDGET")
#: What another program needs to find the same memories. No keys and passwords: they don't belong into a file.
_CARRIED = (
    "HOLDFAST_HOME",
    "HOLDFAST_DB",
    "HOLDFAST_DB_READ",
    "HOLDFAST_SPACE",
    "HOLDFAST_EMBEDDER",
    "HOLDFAST_MEMORY_BUDGET",
    "HOLDFAST_KEY_FILE",
    "HOLDFAST_KEY_COMMAND",
    "HOLDFAST_PERSON",
    "XDG_DATA_HOME",
)
#: Dollars that models may cost a space, unless said otherwise.
DAILY_CAP = "1.00"
SESSION_CAP = "0.25"
#: Where the proxy forwards to, unless HOLDFAST_ANTHROPIC_UPSTREAM or HOLDFAST_OPENAI_UPSTREAM name another.
UPSTREAMS: Mapping[str, str] = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a person may set for all of their spaces."""

    db: str  # a file path or a postgresql:// URL
    db_read: str | None = None  # the postgresql:// URL of a streaming replica of it
    space: str
    budget: int | None  # tokens of a brief; none = the profile's
    embedder: str  # "default", "none" to search by words alone, or another by its name
    embedder_key: str | None = field(default=None, repr=False)  # for the server of that embedder alone
    openai_key: str | None = field(default=None, repr=False)  # for OpenAI's own server alone
    gate_model: LanguageSpec | None = None  # says whether a conversation is worth reading
    extract_model: LanguageSpec | None = None  # reads it
    judge_model: LanguageSpec | None = None  # decides where our own is not sure
    caps: Caps = field(default_factory=Caps)
    anthropic_key: str | None = field(default=None, repr=False)  # for Anthropic's own server alone
    model_key: str | None = field(default=None, repr=False)  # for servers that a model's name names
    person: str | None = None  # who writes with these settings, where several people share a space
    upstreams: Mapping[str, str] = field(default_factory=lambda: UPSTREAMS)  # where the proxy forwards to

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Raises: Invalid, naming the variable."""
        return cls(
            db=environment.get("HOLDFAST_DB") or str(default_path()),
            db_read=environment.get("HOLDFAST_DB_READ") or None,
            space=environment.get("HOLDFAST_SPACE") or "default",
            budget=_budget(environment),
            embedder=_embedder(environment),
            embedder_key=environment.get("HOLDFAST_EMBEDDER_KEY"),
            openai_key=environment.get("OPENAI_API_KEY"),
            gate_model=_model(environment, "HOLDFAST_GATE_MODEL"),
            extract_model=_model(environment, "HOLDFAST_EXTRACT_MODEL"),
            judge_model=_model(environment, "HOLDFAST_JUDGE_MODEL"),
            caps=Caps(
                daily=_cap(environment, "HOLDFAST_DAILY_CAP", DAILY_CAP),
                session=_cap(environment, "HOLDFAST_SESSION_CAP", SESSION_CAP),
            ),
            anthropic_key=environment.get("ANTHROPIC_API_KEY"),
            model_key=environment.get("HOLDFAST_MODEL_KEY"),
            person=_person(environment),
            upstreams={vendor: _upstream(environment, vendor) for vendor in UPSTREAMS},
        )

    def key_for(self, spec: Spec) -> str | None:
        """The key for an embedder's server: none for a server that it was not set for.

        A space may still be searched with an earlier embedder, whose server is not to see this one's key.
        Raises: Invalid, naming the variable.
        """
        if spec.url and self.embedder_key and spec.url == parse(self.embedder).url:
            return _key("HOLDFAST_EMBEDDER_KEY", self.embedder_key)
        if spec.url == DEFAULT_URLS["openai"] and self.openai_key:
            return _key("OPENAI_API_KEY", self.openai_key)
        return None

    def key_for_model(self, spec: LanguageSpec) -> str | None:
        """The key for a model's server: a vendor's own sees that vendor's key, no other does.

        Raises: Invalid, naming the variable.
        """
        if not spec.usual:
            return _key("HOLDFAST_MODEL_KEY", self.model_key or "")
        if spec.kind == "anthropic":
            return _key("ANTHROPIC_API_KEY", self.anthropic_key or "")
        return _key("OPENAI_API_KEY", self.openai_key or "") if spec.kind == "openai" else None


def portable_place(db: str) -> str:
    """The same for a file that starts other programs later, from another directory.

    Raises: Invalid, for a URL that holds a password.
    """
    if urlsplit(db).password is not None or "password=" in urlsplit(db).query:
        raise Invalid(
            "the database URL contains a password, which is not written to settings files: "
            "remove it from the URL and put it in ~/.pgpass",
            field="db",
        )
    return paths.public_place(db)


def carried(db: str | None = None, space: str | None = None) -> dict[str, str]:
    """The environment in which a program without this one finds the same memories as this call.

    Raises: Invalid, when it would contain a password.
    """
    given = {"HOLDFAST_DB": db, "HOLDFAST_SPACE": space}
    found = {name: given.get(name) or os.environ.get(name) for name in _CARRIED}
    environment = {name: value for name, value in found.items() if value}
    if wrong := [name for name, value in environment.items() if not value.isprintable()]:
        raise Invalid(f"{wrong[0]} contains control characters: set it again without them", field=wrong[0])
    for name in ("HOLDFAST_DB", "HOLDFAST_DB_READ"):
        if place := environment.get(name):
            environment[name] = portable_place(place)
    return environment


def default_path() -> Path:
    """The database in the user's data directory, outside of any install or cache."""
    return Path(paths.database())


def _person(environment: Mapping[str, str]) -> str | None:
    try:
        return checked_person(environment.get("HOLDFAST_PERSON") or None)
    except Invalid as wrong:
        raise Invalid(f"HOLDFAST_PERSON: {wrong}", field="person") from None


def _embedder(environment: Mapping[str, str]) -> str:
    name = (environment.get("HOLDFAST_EMBEDDER") or "default").strip()
    try:
        parse(name)
    except Invalid as wrong:
        raise Invalid(f"HOLDFAST_EMBEDDER: {wrong}", field="embedder") from None
    return name


def _model(environment: Mapping[str, str], name: str) -> LanguageSpec | None:
    try:
        return parse_language((environment.get(name) or "none").strip())
    except Invalid as wrong:
        raise Invalid(f"{name}: {wrong}", field="model") from None


def _upstream(environment: Mapping[str, str], vendor: str) -> str:
    """A server's address, to which the proxy adds paths that begin with /v1."""
    name = f"HOLDFAST_{vendor.upper()}_UPSTREAM"
    text = (environment.get(name) or UPSTREAMS[vendor]).strip()
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits or "@" in text or "?" in text or "#" in text or not text.isprintable() or " " in text:
        raise Invalid(f"{name} is not a server URL: use for example {UPSTREAMS[vendor]}", field="upstream")
    return text.rstrip("/").removesuffix("/v1").rstrip("/")


def _cap(environment: Mapping[str, str], name: str, usual: str) -> int | None:
    text = (environment.get(name) or usual).strip()
    if text == "none":
        return None
    try:
        return micro_dollars(text)
    except ValueError as wrong:
        raise Invalid(f"{name}: {wrong}, or none for no limit", field="cap") from None


def _key(name: str, text: str) -> str | None:
    key = text.strip()
    if not key.isascii() or not key.isprintable():
        raise Invalid(
            f"{name} contains characters that are not allowed in a key: set it again", field="embedder"
        )
    return key or None


def _budget(environment: Mapping[str, str]) -> int | None:
    for name in _BUDGET:
        text = environment.get(name)
        if text:
            if not text.isascii() or not text.isdigit():
                raise Invalid(
                    f"{name}={text!r} is not a number of tokens: use for example 2000", field="budget"
                )
            return int(text)
    return None
