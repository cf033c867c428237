"""Holds a draft against what is known and against what may not come back."""

from dataclasses import dataclass

from holdfast.domain.compare import Statement
from holdfast.domain.compare.words import stem
from holdfast.domain.memory import Draft, Memory, Tombstone
from holdfast.domain.terms import STOP_WORDS, stems
from holdfast.domain.text import normal_form
from holdfast.domain.words import words
from holdfast.engine.desk import Desk
from holdfast.engine.intake import text_hash
from holdfast.engine.ports import Judge, Transaction

#: Up to this many memories on one subject are all compared; above it, as many that share its rarest words.
NEAREST = 50
_RARE_WORDS = 12
_COMMON = 3  # one telling word of so many, of the shorter text, is the least that two wordings share


@dataclass(frozen=True, slots=True)
class Findings:
    """What a draft is to what is known."""

    same: Memory | None
    contradicted: tuple[Memory, ...]
    related: tuple[Memory, ...]  # near calls: kept apart, linked


def compared(draft: Draft, tx: Transaction, desk: Desk) -> Findings:
    """Judges the draft against the active memories of its category and subject."""
    new = Statement(text=draft.content, subject=draft.subject, category=draft.category)
    same: list[tuple[float, Memory]] = []
    contradicted, related = [], []
    for known in _neighbours(draft, tx):
        old = Statement(text=known.content, subject=known.subject, category=known.category)
        verdict = desk.judge.compare(old, new)
        match verdict.relation:
            case "same":
                same.append((verdict.similarity, known))
            case "contradicts" if known.project == draft.project:
                # A project may differ from the general rule; that is no reason to doubt the rule.
                contradicted.append(known)
            case _ if not verdict.certain:
                related.append(known)
    # Its very words win, then the closest; among equals the one that was known first.
    said = normal_form(draft.content)
    same.sort(
        key=lambda pair: (normal_form(pair[1].content) != said, -pair[0], pair[1].created_at, pair[1].id)
    )
    return Findings(same[0][1] if same else None, tuple(contradicted), tuple(related))


def buried(draft: Draft, tx: Transaction, judge: Judge) -> Tombstone | None:
    """The tombstone that forbids the draft: of the very text, or of a rewording whose text is kept."""
    assert draft.category is not None
    exact = tx.tombstones.get(text_hash(draft.content, tx.space.key))
    if exact is not None:
        return exact
    new = Statement(text=draft.content, subject=draft.subject, category=draft.category)
    for tombstone in tx.tombstones.worded(draft.category, draft.subject, NEAREST):
        old = Statement(text=tombstone.content or "", subject=tombstone.subject, category=tombstone.category)
        if judge.compare(old, new).relation == "same":
            return tombstone
    return None


def maybe_same(one: str, other: str) -> bool:
    """Whether two texts have so many words in common that a judge should look at them."""
    left, right = _telling(one), _telling(other)
    return len(left & right) * _COMMON >= min(len(left), len(right))


def _telling(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOP_WORDS}


def _neighbours(draft: Draft, tx: Transaction) -> list[Memory]:
    assert draft.category is not None
    near = tx.memories.about(draft.category, draft.subject, draft.project, NEAREST + 1)
    if len(near) <= NEAREST:
        return near
    wanted = list(dict.fromkeys(stems(draft.content)))
    counts = tx.words.frequencies(wanted)
    rare = sorted((word for word in wanted if counts[word]), key=lambda word: counts[word])[:_RARE_WORDS]
    close = tx.words.matching(rare, 4 * NEAREST)
    return tx.memories.comparable(draft.category, draft.subject, draft.project, close)[:NEAREST]
