"""The file that a named note stands in: one safe name for each subject.

A name, never a path: what reaches the file system is checked again there.
"""

import hashlib
import re
import unicodedata

from holdfast.domain.text import clean

#: The index's own name, and what Windows keeps for devices.
RESERVED = frozenset(
    {"memory", "con", "prn", "aux", "nul"}
    | {f"{device}{n}" for device in ("com", "lpt") for n in range(1, 10)}
)
_LONGEST = 200  # bytes; file systems end at 255, and a temporary file's name may add some
_MARK = 8  # digits of the hash that tells cut or empty names apart


def file_name(subject: str) -> str:
    """The file for `subject`: lower case, letters and digits of any script, `_`, `-`; never the index's."""
    text = clean(subject, one_line=True).strip()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    kept = "".join(character if _kept(character) else "_" for character in text.removesuffix(".md"))
    slug = re.sub("_{2,}", "_", kept).strip("_-")
    if not slug:
        slug = f"note-{_mark(subject)}"
    elif len(slug.encode()) > _LONGEST:
        short = slug.encode()[: _LONGEST - _MARK - 1].decode(errors="ignore")
        slug = f"{short}-{_mark(subject)}"
    return f"{slug}-note.md" if slug in RESERVED else f"{slug}.md"


def _kept(character: str) -> bool:
    # Marks as well as letters: without its vowel signs a word in Hindi or Thai is another word.
    return character in "_-" or unicodedata.category(character)[0] in "LMN"


def _mark(subject: str) -> str:
    return hashlib.sha256(clean(subject).encode()).hexdigest()[:_MARK]
