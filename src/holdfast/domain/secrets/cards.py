"""Payment card numbers: digits in a range that issuers use, with a correct check digit.

Knows numbers only. A long number of another kind passes the check one time in ten,
so the issuer's range and the grouping must fit as well.
"""

from __future__ import annotations

from holdfast.domain.secrets.spans import Found, lazy, matches

CARD = "card-number"

# The first digit stands before the look behind, because the engine finds it faster that way.
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
    """How much of it is a card number; a group at the end may be a date or a check code."""
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
    return len(set(number)) > 1 and _checks(number)


def _checks(number: str) -> bool:
    """The Luhn sum: every second digit from the right counts double."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        worth = int(digit) * (2 if place % 2 else 1)
        total += worth - 9 if worth > 9 else worth
    return total % 10 == 0
