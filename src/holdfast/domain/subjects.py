"""Subjects: what spellings of one name share, and whether a text names it."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdfast.domain.memory import Memory

#: A name as a marker can write it.
MARKER_NAME = r"[A-Za-z0-9_-]+"
_MARKER_NAME = re.compile(MARKER_NAME)
_BETWEEN = re.compile(r"[\s_-]+")


def subject_key(subject: str) -> str:
    """The form shared by all spellings of a subject: no case, no spaces, no `-` and `_`."""
    folded = unicodedata.normalize("NFKC", subject).casefold()
    return _BETWEEN.sub("", folded) or folded


def same_subject(one: str | None, other: str | None) -> bool:
    """Whether two memories have the same subject; None is general knowledge."""
    if one is None or other is None:
        return one is other
    return one == other or subject_key(one) == subject_key(other)


def is_marker_name(subject: str) -> bool:
    return _MARKER_NAME.fullmatch(subject) is not None


def names(text: str, subject: str) -> bool:
    """Whether a text contains the subject's name."""
    from holdfast.domain.terms import folded, words

    wanted = words(subject)
    if not wanted or wanted[0] not in folded(text):  # which is told sooner
        return False
    told = words(text)
    joined = "".join(wanted)
    return joined in told or any(
        told[place : place + len(wanted)] == wanted for place in range(len(told) - len(wanted) + 1)
    )


def one_spelling(memories: Iterable[Memory]) -> Sequence[Memory]:
    """The memories, each subject as it was spelt first."""
    found = list(memories)
    first: dict[str, Memory] = {}
    for memory in found:
        if memory.subject is not None:
            known = first.setdefault(subject_key(memory.subject), memory)
            if (memory.created_at, memory.id) < (known.created_at, known.id):
                first[subject_key(memory.subject)] = memory
    return [
        memory
        if memory.subject is None or (spelt := first[subject_key(memory.subject)].subject) == memory.subject
        else replace(memory, subject=spelt)
        for memory in found
    ]
