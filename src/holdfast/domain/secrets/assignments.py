"""Secrets with a key: key=value in files, code, command lines and sentences. `values` judges the value."""

from __future__ import annotations

import re
from functools import cache

from holdfast.domain.secrets.spans import Found, lazy, matches
from holdfast.domain.secrets.values import is_password, is_said, is_token

_SEP = r"[_\-. ]?"
# Strong keys hold whatever a person chose, so nearly any literal counts.
_STRONG = (
    r"pass(?:word|wd|wrd|phrase|code|wort)?|pwd?|kennwort|пароль|contraseña|senha|mot de passe|"
    r"parola d['’]ordine|palavra[- ]passe"
)
_STRONG_STARTS = ("pass", "pw", "kenn", "пар", "cont", "sen", "mot", "par", "pal")
# "key" alone names anything; with one of these before it, a secret.
_KEY_OWNERS = (
    "api app application access secret private signing encryption encrypt master account shared service auth "
    "deploy storage consumer license root admin write read subscription ingest integration client primary "
    "secondary webhook hmac cipher aes crypto session rsa ssh host server project org user dd cf global"
).split()
# Weak keys are common words of code and prose, so the value must look drawn.
_WEAK = rf"secret|token|clave|credentials?|auth|jwt|bearer|sas|sig|session{_SEP}id|" + "|".join(
    rf"{owner}{_SEP}(?:access{_SEP})?key" for owner in _KEY_OWNERS
)
_AFTER = (
    r"(?:[_-]?(?:[0-9]{1,3}|prod|production|dev|staging|live|old|new|value|base64|raw|plain|plaintext|key))?"
)

# How much of a bare value is read to judge it.
_JUDGED = 200

# Left by an earlier pass.
_GONE = ("[redacted:", '"[redacted:', "'[redacted:", "[private]")

_OPEN = "\"'`"
_CLOSING = {"“": "”"}

# One flat choice of words, for then the engine skips quickly to their first letters.
_key = lazy(rf"(?:{_STRONG}|{_WEAK}){_AFTER}(?![a-z0-9_-])")


@cache
def _assigned() -> re.Pattern[str]:
    """The text between a key and its value."""
    blank = r"[ \t]{0,16}"
    typed = rf"(?:{blank}:{blank}[A-Za-z_][\w.\[\]|, ]{{0,60}}?(?={blank}=[^=]))?"
    return re.compile(
        rf"[\"'`*]{{0,2}}\]?{typed}{blank}(?P<sep>:=|=>|\?=|\|=|[:=](?![=:>]))\*{{0,2}}{blank}"
        r"(?:[|>][-+]?\n[ \t]{1,16})?"
        r"|[\"'](?:,|\)|)[\s]{0,40}[\"']?value[\"']?\s?(?P<pair>[:=])\s?"
        r"|\n\s{0,40}value:[ ](?P<yaml>)"
    )


_tagged = lazy(r">([^<>\n]{1,512})</")
_flagged = lazy(r"[ \t]{1,4}(?![-|&;<>])")


@cache
def _sentence() -> re.Pattern[str]:
    """The words of a sentence between the key and its value."""
    of = r"for|of|on|to|at|vo[nm]|für|fürs|zu[mr]?|im|du|de|del|dell[ao]|di|d[aoe]s?|pour|para|per|al"
    whose = rf"(?:\s(?:{of})(?:\s[\w@./'’-]{{1,40}}){{1,4}}?)?"
    verb = (
        r"(?:\s(?:is|was|are|ist|lautet|heißt|est|es|è|é|e['’]|will\sbe|should\sbe|(?:is\s)?(?:re)?set\sto|(?:is\s)?changed\sto)"
        r"(?:\s(?:now|still|just|currently|set\sto|jetzt|maintenant|ahora|ora|agora))?:?\s|[:：]\s?|\s=\s)"
    )
    return re.compile(rf"{whose}{verb}\s?(?P<quote>[\"'`“]?)")


_called = lazy(r"\(\s?[rbu]?(?P<quote>[\"'])(?=[^\s\"']{6,200}[\"'])")


@cache
def _beside() -> re.Pattern[str]:
    """A gap, an arrow or a cell border between key and value: netrc, Dockerfile, a table, a note."""
    gap = r"(?:[*_`]{0,3}:?[*_`]{1,3}:?)?[ \t]{0,4}(?:[|：]|->|→|=>)?[ \t]{0,4}"
    return re.compile(gap + r"(?P<quote>[\"'`]?)(?<=[\s：\"'`])")


#: SQL and netrc put no sign between the two: PASSWORD 'x', IDENTIFIED BY 'x'.
_keyword_quoted = lazy(
    r"(?:[ \t]{1,4}(?:by[ \t]{1,4})?(?=['\"][^'\"\n]{3,200}['\"][ \t]*(?:[;,)]|$|\n|valid|in role)))",
    re.IGNORECASE,
)


@cache
def _quoted() -> re.Pattern[str]:
    bodies = "|".join(rf"{q}(?:[^{q}\\\n]{{0,4096}}(?:\\.[^{q}\\\n]{{0,4096}}){{0,64}}){q}" for q in _OPEN)
    return re.compile(rf"@?[rRbBuU]{{0,2}}({bodies})")


@cache
def _bare(step: str = "", at_most: str = str(_JUDGED)) -> re.Pattern[str]:
    # A comma, semicolon or ampersand ends the value only where another key follows.
    return re.compile(
        rf"(?:[^\s\"'`<>&,;\\]{step}|[&,;](?![\s\w.%-]{{0,40}}[=:]|\s|$|[\"'}})\]])|\\(?![nrt\"'\\/u])){{1,{at_most}}}"
    )


def _whole(text: str, at: int, end: int) -> tuple[int, int]:
    """A value is judged by its first characters, to keep judging cheap, but goes as a whole."""
    if end - at < _JUDGED - 8:
        return at, end
    longer = _bare("++", "").match(text, at)
    return at, max(end, at + len(_trimmed(longer[0]))) if longer else end


def find_assignments(text: str) -> Found:
    """Every value whose key names a secret."""
    lowered = _lowered(text)
    done = 0
    for key in matches(_key(), lowered):
        if key is None:
            yield None
            continue
        start, end = key.span()
        if start < done or text.startswith("[redacted:", start - 10) or not _starts_word(text, start, key[0]):
            continue
        value = _value(text, start, end, strong=key[0].startswith(_STRONG_STARTS))
        if value:
            done = value[1]
            if value[0] < done:
                yield *value, _kind(key[0])


def _lowered(text: str) -> str:
    lowered = text.lower()
    # A few letters change their length in small print, which would shift all offsets.
    return lowered if len(lowered) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


_SHORT = frozenset(("pass", "pw", "pwd", "auth", "sas", "sig", "jwt"))


def _starts_word(text: str, start: int, key: str) -> bool:
    """Whether a key starts a word: inside longer words (bypass, design) short keys mean something else."""
    if start == 0 or not text[start - 1].isalpha():
        return True
    camel = text[start].isupper() and text[start - 1].islower()
    return camel or key not in _SHORT


def _kind(key: str) -> str:
    if key.startswith(_STRONG_STARTS):
        return "password"
    for part, kind in (
        ("pass", "password"),
        ("pwd", "password"),
        ("token", "token"),
        ("key", "key"),
        ("secret", "secret"),
    ):
        if part in key:
            return kind
    return "credential"


def _value(text: str, start: int, end: int, *, strong: bool) -> tuple[int, int] | None:
    if found := _assigned().match(text, end):
        sign = found["sep"] or found["pair"] or ":"
        return _literal(text, found.end(), sign, strong=strong)
    if found := _tagged().match(text, end):
        inside = _wanted(found[1], strong=strong, quoted=True, alone=True)
        return found.span(1) if inside and _in_tag(text, start) else None
    is_verb = text[start:end].lower() == "pass"  # always pass `--yes`
    if not is_verb and (found := _keyword_quoted().match(text, end)):
        return _literal(text, found.end(), " ", strong=strong)
    if _is_flag(text, start) and (found := _flagged().match(text, end)):
        return _literal(text, found.end(), " ", strong=strong)
    if (found := _sentence().match(text, end)) or (found := _called().match(text, end)):
        return _value_in_sentence(text, found, strong=strong)
    if (found := _beside().match(text, end)) and not (is_verb and text[end : found.start("quote")].isspace()):
        # With so little between them, a common word must not be taken for a value.
        return _value_in_sentence(text, found, strong=strong, at_least=6 if strong else 20)
    return None


def _in_tag(text: str, start: int) -> bool:
    head = text[max(0, start - 40) : start]
    return "<" in head and head.rpartition("<")[2].replace("_", "a").replace(
        ":", "a"
    ).isalnum() | head.endswith("<")


def _is_flag(text: str, start: int) -> bool:
    head = text[max(0, start - 48) : start]
    word = head[head.rfind(" ") + 1 :]
    return word.startswith("-") and not any(c in "=:\"'" for c in word)


def _literal(text: str, at: int, sign: str, *, strong: bool) -> tuple[int, int] | None:
    if text.startswith(_GONE, at):
        return None
    if quoted := _quoted().match(text, at):
        start, end = quoted.start(1) + 1, quoted.end(1) - 1
        return (start, end) if _wanted(text[start:end], strong=strong, quoted=True, alone=True) else None
    if sign == "=>":
        return None
    if text[at : at + 1] in _OPEN and at < len(text):
        at += 1  # the closing quote was cut off
    bare = _bare().match(text, at)
    if not bare:
        return None
    end = at + len(_trimmed(bare[0]))
    rest = text[bare.end() : bare.end() + 1]
    alone = rest == "" or rest[0] in "\r\n\\" or sign == "="
    if end > at and _wanted(text[at:end], strong=strong, quoted=False, alone=alone):
        return _whole(text, at, end)
    # So much text without a blank is read once, not once per key in it: an empty span tells how far.
    return (bare.end(), bare.end()) if bare.end() - at == _JUDGED else None


def _trimmed(value: str) -> str:
    """The value without surrounding punctuation, but with a bracket that it opened itself."""
    closers = "".join(close for open_, close in ("()", "[]", "{}") if open_ not in value)
    return value.rstrip(".,;:" + closers)


def _wanted(value: str, *, strong: bool, quoted: bool, alone: bool) -> bool:
    return is_password(value, quoted=quoted, alone=alone) if strong else is_token(value, quoted=quoted)


def _value_in_sentence(
    text: str, found: re.Match[str], *, strong: bool, at_least: int = 4
) -> tuple[int, int] | None:
    at = found.end()
    closed = (
        text.find(_CLOSING.get(found["quote"], found["quote"]), at, at + _JUDGED) if found["quote"] else -1
    )
    if strong and closed > at and is_password(text[at:closed], quoted=True, alone=True):
        return at, closed
    bare = _bare().match(text, at)
    if not bare:
        return None
    end = at + len(bare[0].rstrip(".,;:!?)]}”’*"))
    if end - at < at_least:
        return None
    return _whole(text, at, end) if is_said(text[at:end], strong=strong) else None
