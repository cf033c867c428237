"""Whether a value, assigned to the key of a secret, is a literal rather than a placeholder or code."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from math import log2

from holdfast.domain.secrets.spans import lazy

# Words with digits that are names, so no sign of randomness.
_TECHNICAL = (
    r"v?\d+|[a-z]{1,3}\d{1,2}|sha\d+|md5|utf\d+|base\d+|b64|argon2(?:id?)?|pbkdf2|oauth2?|oauth1|x509|ed25519|"
    r"(?:rs|hs|es|ps|aes|rsa|ecdsa)\d{3,4}|ipv[46]|http2|http3|python\d+|node\d+|java\d+|k8s|s3|ec2|i18n|l10n|a11y|"
    r"latin1|win32|win64|x86|amd64|arm64|int\d+|uint\d+|float\d+|cp\d+|iso\d+|rfc\d+|pkcs\d+|mp[34]|h26[45]|"
    r"\d+(?:px|em|rem|ms|s|m|h|d|kb|mb|gb|k|st|nd|rd|th|bits?|bytes?|chars?|x)"
)

_piece = lazy(r"[A-Za-z0-9]+")
_name = lazy(rf"(?:{_TECHNICAL}|[a-z]+)", re.IGNORECASE)
_within = lazy(r"[a-z][A-Z]")
_hump = lazy(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def bits(value: str) -> float:
    """Shannon entropy per character."""
    size = len(value)
    counts = [value.count(letter) for letter in set(value)]
    return -sum(count / size * log2(count / size) for count in counts) if size else 0.0


def is_named(value: str) -> bool:
    """Consists only of plain words, numbers and technical terms: a name, a version, a date."""
    pieces = _piece().findall(value[:512])
    return all(_name().fullmatch(piece) for piece in pieces) and not (_scrambled(value) or _drawn(pieces))


def looks_random(value: str, *, at_least: int = 8) -> bool:
    """Long and mixed enough to be generated."""
    value = value[:512]
    if len(value) < at_least:
        return False
    return any(_random_piece(piece, at_least) for piece in _piece().findall(value)) or _scrambled(value)


def looks_mixed(value: str) -> bool:
    """Random as a whole: capitals, small letters and digits mixed, as in no word."""
    value = value[:512]
    kinds = (
        any(c.isdigit() for c in value) + any(c.isupper() for c in value) + any(c.islower() for c in value)
    )
    return kinds >= 2 and len(set(value)) >= min(8, len(value) // 2) and looks_random(value, at_least=12)


def _random_piece(piece: str, at_least: int) -> bool:
    if _name().fullmatch(piece):
        return len(piece) >= 16 and _scrambled(piece)
    if piece.isdigit() or len(piece) < min(at_least, 6):
        return False
    digits = sum(c.isdigit() for c in piece)
    # "server12" is a name; "server12x9" or three digits and more are not.
    return digits >= 3 or len(_hump().findall(piece)) >= 4


def _drawn(pieces: list[str]) -> bool:
    """A capital behind a small letter, with digits: "kJh88" is no technical term."""
    return any(not piece.isalpha() and _within().search(piece) for piece in pieces)


def _scrambled(value: str) -> bool:
    """Capitals and small letters alternate more often than in any CamelCase name."""
    letters = [c for c in value[:256] if c.isalpha() and c.isascii()]
    if len(letters) < 14:
        return False
    changes = sum(a.islower() and b.isupper() for a, b in pairwise(letters))
    return changes * 6 >= len(letters) and bits("".join(letters)) > 3.2


_MASK = r"(?:[xX*•·●#?_.…-]{2,}|[xX]{3,}[-_A-Za-z0-9]{0,4}|#[0-9a-fA-F]{3,8}|\*+.{0,4})"
_WORDS = (
    r"change[-_ ]?(?:me|it|this)\w{0,8}|placeholder|example|sample|dummy|fake|redacted|removed|hidden|"
    r"masked|omitted|secret|password|passwd|pass|pwd|passphrase|token|key|api[-_ ]?key|credentials?|auth|"
    r"none|null|nil|nan|undefined|true|false|yes|no|on|off|required|optional|unknown|empty|default|"
    r"values?|string|str|bytes|int|integer|bool|boolean|number|float|object|any|text|varchar|char|list|"
    r"dict|map|array|todo|tbd|fixme|n/?a|unset|missing|invalid|incorrect|correct|wrong|valid|expired|"
    r"expires|rotated|reset|enabled|disabled|encrypted|hashed|stored|set|test|testing|foo|bar|baz|foobar|"
    r"abc|hello|world|secretstr|prompt|file|env|vault|keychain|automatic|auto|basic|bearer|digest|never|"
    r"always|here|there|and|or|not|in|the|a|an|it|this|that|is|was|input|output|self|cls|user|username|"
    r"email|name|mypassword|userpassword"
)
_LEAD = (
    r"(?:your|insert|enter|replace|put|add|use|fill|paste|type|example|sample|dummy|fake|mock|placeholder|redacted|"
    r"provide|choose|specify)[-_ .]"
)
# A prefix of anything; a placeholder only if the rest names a secret.
_OWNED = r"(?:my|the|some|an?|test|demo|get|set|secret|new|old)[-_ .]"
_NAMING = (
    r"(?:pass(?:word|wd|phrase|code|wort)?|pwd|pw|secrets?|tokens?|keys?|api|api[-_]?key|auth|access|bearer|client|app|"
    r"db|database|user|username|admin|root|name|values?|string|here|credentials?|id|host|server|service|account|"
    r"private|public|new|old|example|sample|test|dummy|placeholder|random|long|strong|super|own|really|very|config|"
    r"env|project|cluster|vault|store|file|ref)"
)

_placeholder = lazy(
    rf"{_MASK}|(?:{_WORDS})[.!?]?|(?:{_LEAD})?(?:your|insert|enter|replace)[-_ .].*", re.IGNORECASE
)
_lead = lazy(
    rf"(?:{_LEAD}[A-Za-z]+(?:[-_ .][A-Za-z]+)*|{_OWNED}{_NAMING}(?:[-_ .]{_NAMING})*)\d{{0,3}}",
    re.IGNORECASE,
)
#: Something a program or a person fills in later: ${X}, {{ x }}, <x>, %s, op://x.
_template = lazy(
    r"\$\{|\$\(|\$\[|\$[A-Za-z_][A-Za-z_0-9]*\b(?!\$)|\{\{|\{%|%\(|%[sdrvq@]|%[A-Za-z_]+%|<[^<>]{0,200}>?|"
    r"\[(?:redacted|private|hidden|secret|your|filtered|masked|removed|omitted)\b|\{[A-Za-z_][^{}\s]{0,60}\}|"
    r"#\{|@\{|`|!(?:vault|Ref|Sub|GetAtt|ImportValue|secret|env)\b|ENC\[|enc:|op://|vault:|arn:|ref\+|secretref:|"
    r"@Microsoft\.KeyVault|env[.:(]|process\.env|os\.environ|os\.getenv|getenv\b|projects/|ssm:|\{\}|\.\.\.|…",
    re.IGNORECASE,
)
_filled_in = lazy(
    r"\$\{[^}\n]{0,80}\}|\{\{.{0,80}\}\}|\{[A-Za-z_][\w.\[\]()!:'\"]{0,60}\}|"
    r"<[A-Za-z][\w -]{0,60}>|\[redacted:"
)


@cache
def _expression() -> re.Pattern[str]:
    """Source code that computes a value: a call, an attribute, an index, an operator."""
    name = r"[A-Za-z_$@&*!~][\w$]*"
    return re.compile(
        rf"[({{\[&|!+=~@?:].*|{name}(?:\?|!)?(?:(?:\.|->|::|\?\.){name})*(?:[(\[{{].*)|"
        rf"{name}(?:(?:\.|->|::|\?\.){name})+\)*|(?:new|await|not|lambda|if|return|yield|async|function)\b.*|"
        rf"{name}(?:[|/<>?](?=[A-Za-z_(\"' ])|\+[a-z_(]|\s[-+*/|&<>]=?\s).*|-?\d+(?:\.\d+)?[),]*",
        re.DOTALL,
    )


_path = lazy(
    r"(?:~|\.{0,2}|[A-Za-z]:|[\w.-]+)?[/\\](?:[\w.@ -]*[/\\])*[\w.@ -]*|[\w-]+\.(?:json|ya?ml|toml|txt|pem|key|env|py|js|ts|md|ini|cfg|conf|crt|pub|html?|com|org|net|io|dev)|https?://.*"
)
_address = lazy(r"@?[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[@#][\w-]+")
_identifier = lazy(r"[A-Za-z_$][\w$]*")
_named_like_key = lazy(
    r"_*(?:[A-Za-z]+_)*(?:pass(?:word|wd|phrase)?|pwd|pw|secret|tok(?:en)?|key|auth|cred(?:ential)?s?|arg|val(?:ue)?|var|"
    r"str|s|p|t|k|x|y|a|b|tmp|expected|actual|param|field|line|row|user|name|test|foo|bar|int|uint|float|opt)_?\d{0,4}",
    re.IGNORECASE,
)
_OF_SENTENCES = frozenset(
    (
        "the and are was for not must has have your its our but with from should each only this that will can"
        " please enter new here least most than more any all der die das und ist nicht les des pas est una"
        " los las por que"
    ).split()
)

_names_a_secret = lazy(
    r"\b(?:pass\w*|pwd|kennwort|secrets?|tokens?|keys?|contrase\w*|senha|credentials?|logins?|user\w*)\b",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """A placeholder of a secret."""
    head = value[:400]
    return (
        not head
        or _placeholder().fullmatch(head) is not None
        or _lead().fullmatch(head) is not None
        or _template().match(head) is not None
        or _filled_in().search(head) is not None
    )


def is_password(value: str, *, quoted: bool, alone: bool) -> bool:
    """A password that a person chose. `alone` means that nothing else follows on the line."""
    if len(value) < 3 or is_placeholder(value):
        return False
    if any(c.isspace() for c in value):
        return quoted and _phrase(value)
    if quoted:
        return not (_path().fullmatch(value) and not looks_random(value)) or looks_mixed(value)
    if _path().fullmatch(value) and not looks_random(value):
        return False
    if value.isdigit():
        return len(value) >= 4 and alone
    if _expression().fullmatch(value) and not looks_mixed(value):
        return False
    if _identifier().fullmatch(value) and not any(c.isdigit() for c in value):
        # A bare word is a variable in code and a password in a settings file.
        return alone and value.islower() and len(value) >= 6 and "_" not in value
    return _named_like_key().fullmatch(value) is None


def is_token(value: str, *, quoted: bool) -> bool:
    """A generated token."""
    if is_placeholder(value) or any(c.isspace() for c in value):
        return False
    if not looks_random(value, at_least=6) and not (_chosen(value) and not _technical(value)):
        return False
    mixed = looks_mixed(value)
    if not quoted and _expression().fullmatch(value) and not (mixed and "(" not in value):
        return False
    return mixed or not (_path().fullmatch(value) or _named_like_key().fullmatch(value))


def is_said(value: str, *, strong: bool) -> bool:
    """A secret in a sentence ("the password is hunter2"), where ordinary words are common."""
    if len(value) < 4 or is_placeholder(value):
        return False
    if looks_mixed(value) and "(" not in value:
        return True
    if _path().fullmatch(value) or _expression().fullmatch(value):
        return strong and value.isdigit()
    if not strong:
        return looks_random(value)
    if any(c in "!@#$%^*" for c in value[:-1]):
        return len(value) >= 6 and any(c.isalnum() for c in value) and not _address().fullmatch(value)
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    return letters and digits and len(value) >= 5 and (not is_named(value) or _chosen(value))


def _chosen(value: str) -> bool:
    """A word with a digit or two at its end, the way people make passwords."""
    return value.isalnum() and len(value) >= 6 and value[-1].isdigit() and value[:4].isalpha()


def _technical(value: str) -> bool:
    return is_named(value) and not value.rstrip("0123456789").isalpha()


def _phrase(value: str) -> bool:
    """A pass phrase has an odd word in it, or nothing of a sentence; a label ("Enter a password") has not."""
    words = value[:400].split()
    if len(words) > 8:
        return False
    plain = len(words) >= 4 and all(word.isalpha() and len(word) >= 3 for word in words)
    loose = plain and _OF_SENTENCES.isdisjoint(map(str.lower, words)) and not _names_a_secret().search(value)
    return loose or any(len(word) >= 5 and _odd(word) for word in words)


def _odd(word: str) -> bool:
    return any(c.isalpha() for c in word) and any(c.isdigit() for c in word) and not is_named(word)
