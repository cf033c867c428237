"""Does a string look drawn at random, or like something people write?

Knows characters only, not what the string was assigned to.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import log2

from holdfast.domain.secrets.spans import lazy

# Words with digits in them that are names of things, so no sign of randomness.
_TECHNICAL = (
    r"v?\d+|[a-z]{1,3}\d{1,2}|sha\d+|md5|utf\d+|base\d+|b64|argon2(?:id?)?|pbkdf2|oauth2?|oauth1|x509|ed25519|"
    r"(?:rs|hs|es|ps|aes|rsa|ecdsa)\d{3,4}|ipv[46]|http2|http3|python\d+|node\d+|java\d+|k8s|s3|ec2|i18n|l10n|a11y|"
    r"latin1|win32|win64|x86|amd64|arm64|int\d+|uint\d+|float\d+|cp\d+|iso\d+|rfc\d+|pkcs\d+|mp[34]|h26[45]|"
    r"\d+(?:px|em|rem|ms|s|m|h|d|kb|mb|gb|k|st|nd|rd|th|bits?|bytes?|chars?|x)"
)

_piece = lazy(r"[A-Za-z0-9]+")
_name = lazy(rf"(?:{_TECHNICAL}|[a-z]+)", re.IGNORECASE)
_hump = lazy(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def bits(value: str) -> float:
    """Shannon entropy per character."""
    size = len(value)
    counts = [value.count(letter) for letter in set(value)]
    return -sum(count / size * log2(count / size) for count in counts) if size else 0.0


def is_named(value: str) -> bool:
    """Made of plain words, numbers and technical terms only: a name, a version, a date."""
    return all(_name().fullmatch(piece) for piece in _piece().findall(value[:512])) and not _scrambled(value)


def looks_random(value: str, *, at_least: int = 8) -> bool:
    """Long and mixed enough that a machine must have drawn it."""
    value = value[:512]
    if len(value) < at_least:
        return False
    return any(_random_piece(piece, at_least) for piece in _piece().findall(value)) or _scrambled(value)


def looks_mixed(value: str) -> bool:
    """Random as a whole: capitals, small letters and digits interleaved, as no word is."""
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


def _scrambled(value: str) -> bool:
    """Capitals and small letters change places faster than in any CamelCase name."""
    letters = [c for c in value[:256] if c.isalpha() and c.isascii()]
    if len(letters) < 14:
        return False
    changes = sum(a.islower() and b.isupper() for a, b in pairwise(letters))
    return changes * 6 >= len(letters) and bits("".join(letters)) > 3.2
