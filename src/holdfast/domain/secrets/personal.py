"""Personal secrets: account and card numbers, PINs, check codes, wallet seeds, .pgpass lines."""

from __future__ import annotations

import re
from functools import cache

from holdfast.domain.secrets.spans import Found, lazy, matches
from holdfast.domain.secrets.values import is_placeholder, is_said

# How long an account number of each country is; others are none.
_COUNTRIES = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 "
    "EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 "
    "KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 "
    "PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 "
    "XK20"
)
_LENGTHS = {each[:2]: int(each[2:]) for each in _COUNTRIES.split()}
_SEED_WORDS = (24, 21, 18, 15, 12)
# Words of sentences that are no words of a seed, though as short.
_NO_SEED = frozenset(
    "the and are was for not must has have had your its our but their been were from should each only".split()
)
_IS = r"(?:\s(?:is|was|are|ist|sind|war|lautet|est|es|è|é|e['’]|now)){0,2}\s{0,3}[:=]?\s{0,3}[\"'`“]?"
# What any seed phrase or check code needs: a search for a word is much faster than one for a pattern.
_OF_SEEDS = ("seed", "phrase", "recovery", "backup", "wallet", "mnemonic")
_OF_CODES = ("cvc", "cvv", "csc", "cvn", "security code")
_POSTGRES_PORTS = ("*", "5432", "5433", "5434", "6432")

_account = lazy(r"[A-Za-z](?<![0-9A-Za-z][A-Za-z])[A-Za-z][0-9]{2}(?:[ ]?[0-9A-Za-z]){11,28}")
_FIGURES = 6  # of an account number at least: fewer are a sentence


@cache
def _pin() -> re.Pattern[str]:
    """A number right behind the word only where the word is written as people write it for this."""
    word = r"(?i:pin(?:[- ]?(?:code|number|nummer))?|geheimzahl)"
    of = r"\s(?:for|of|to|vo[nm]|für|de|del|du|d[ao]|di)(?:\s\w{1,20}){1,3}?"
    told = (
        rf"{word}(?:{of}(?=\s(?:is|ist|lautet|est|es|è|é)\s|:))?(?:{_IS})(?<![Pp][Ii][Nn] )(?<![Pp][Ii][Nn])"
    )
    whose = r"(?i:card|bank|sim|door|phone|alarm|atm|my|code)\s(?i:pin)\s"
    return re.compile(
        rf"(?<![\w-])(?:{told}|(?<!GPIO )(?<!gpio )PIN\s|{whose})"
        r"(?P<value>[0-9]{4,8})(?![\w.%-]|\s?[a-z]{1,2}\b)"
    )


_check_code = lazy(
    rf"(?<![\w-])(?i:cvc2?|cvv2?|csc|cvn|(?:card )?security code)(?:{_IS})\s?"
    r"(?P<value>[0-9]{3,4})(?![\w.%-])"
)


@cache
def _seed() -> re.Pattern[str]:
    word = r"(?:[0-9]{1,2}[.):]?\s)?[a-z]{3,8}"
    return re.compile(
        r"(?i:\b(?:seed(?:[- ](?:phrase|words?))?|(?:recovery|backup|wallet)[- ](?:phrase|words?|seed)"
        rf"|mnemonic(?:[- ]phrase)?)(?:\s(?:for|of)\s(?:the|my|our)\s\w{{1,20}})?){_IS}"
        rf"(?P<value>(?:{word}[\s,;]{{1,4}}){{11,23}}{word})(?![\w-])"
    )


@cache
def _pgpass() -> re.Pattern[str]:
    field = r"[^\s:/]{1,128}"
    return re.compile(
        rf"^(?:{field}|/[^\s:]{{1,128}}):(?P<port>\*|[0-9]{{4,5}}):(?P<base>{field}):(?P<user>{field}):"
        r"(?P<value>(?:[^\s\\]|\\.){3,200})[ \t]{0,4}$",
        re.MULTILINE,
    )


def find_personal(text: str) -> Found:
    """Account numbers, PINs, check codes of cards, wallet seeds and lines of a .pgpass file."""
    lowered = text.lower()
    yield from _accounts(text)
    yield from _seeds(text) if any(word in lowered for word in _OF_SEEDS) else ()
    yield from _passwords(text)
    for found in matches(_pin(), text):
        yield found and (*found.span("value"), "pin")
    for found in matches(_check_code(), text) if any(word in lowered for word in _OF_CODES) else ():
        yield found and (*found.span("value"), "card-code")


def _accounts(text: str) -> Found:
    for found in matches(_account(), text):
        if found is None:
            yield None
            continue
        length = _LENGTHS.get(found[0][:2].upper(), 0)
        end, left = found.start(), length
        while left and end < found.end():
            left -= text[end] != " "
            end += 1
        number = text[found.start() : end].replace(" ", "").upper()
        whole = length and len(number) == length and not text[end : end + 1].isalnum()
        if whole and sum(map(str.isdigit, number)) >= _FIGURES and _checks(number):
            yield found.start(), end, "iban"


def _checks(number: str) -> bool:
    """The checksum: letters count from 10, the first four characters come last, modulo 97 is 1."""
    return int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97 == 1


def _seeds(text: str) -> Found:
    for found in matches(_seed(), text):
        if found is None:
            yield None
            continue
        words = re.findall(r"[a-z]{3,8}", found["value"])
        if len(words) in _SEED_WORDS and _NO_SEED.isdisjoint(words):
            yield *found.span("value"), "seed-phrase"


def _passwords(text: str) -> Found:
    if text.count(":") < 4:
        return
    for found in matches(_pgpass(), text):
        if found is None:
            yield None
            continue
        value = found["value"]
        named = found["base"].isdigit() or found["user"].isdigit() or is_placeholder(value)
        if not named and (found["port"] in _POSTGRES_PORTS or is_said(value, strong=True)):
            yield *found.span("value"), "password"


CARD = "card-number"

# The first digit comes before the lookbehind: this is faster.
_digits = lazy(r"[2-6](?<![0-9A-Za-z_.+/#-][2-6])(?:[ -]?[0-9]){12,18}(?![0-9A-Za-z_]|[-./][0-9A-Za-z])")
_issued = lazy(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})"
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|35(?:2[89]|[3-8][0-9])[0-9]{12,15}"
    r"|(?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12,15}|62[0-9]{14,17}|(?:50|5[6-8]|6[0-9])[0-9]{14}"
)
_grouping = lazy(
    r"[0-9]+|[0-9]{4}([ -])(?:[0-9]{4}\1){1,3}[0-9]{1,4}(?:\1[0-9]{1,3})?"
    r"|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}"
)
#: A neighbour that makes the groups part of a longer row of numbers.
_table = lazy(r"(?=[A-F]{0,4}[0-9])[0-9A-F]{4,5}")


def find_cards(text: str) -> Found:
    """Card numbers, written together or in groups."""
    for found in matches(_digits(), text):
        if found is None:
            yield None
            continue
        start, end = found.start(), found.start() + _card_length(found[0])
        if end > start and not _in_table(text, start, end):
            yield start, end, CARD


def _card_length(written: str) -> int:
    """The length of the card number; the last group may be a date or a check code."""
    while len(written) >= 13:
        if _is_card(written):
            return len(written)
        written = written[: max(written.rfind(" "), written.rfind("-"), 0)]
    return 0


def _in_table(text: str, start: int, end: int) -> bool:
    if " " not in text[start:end]:
        return False
    before = text[max(0, start - 6) : start].rstrip(" ").rpartition(" ")[2]
    after = text[end : end + 6].lstrip(" ").partition(" ")[0]
    return _table().fullmatch(before) is not None or _table().fullmatch(after) is not None


def _is_card(written: str) -> bool:
    number = written.replace(" ", "").replace("-", "")
    if not _issued().fullmatch(number) or not _grouping().fullmatch(written):
        return False
    return len(set(number)) > 1 and _passes_luhn(number)


def _passes_luhn(number: str) -> bool:
    """The Luhn sum: every second digit from the right counts double."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        worth = int(digit) * (2 if place % 2 else 1)
        total += worth - 9 if worth > 9 else worth
    return total % 10 == 0
