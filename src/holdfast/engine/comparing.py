"""Holds a draft against what is known and against what may not come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from holdfast.domain.compare import Statement
from holdfast.domain.compare.words import stem
from holdfast.domain.memory import Draft, Memory, Tombstone
from holdfast.domain.query import Filter, admits
from holdfast.domain.subjects import names, same_subject
from holdfast.domain.terms import STOP_WORDS, stems
from holdfast.domain.text import normal_form
from holdfast.domain.words import words
from holdfast.engine.desk import Desk
from holdfast.engine.embedding import given, search_model
from holdfast.engine.intake import text_hash
from holdfast.engine.ports import Judge, Transaction
from holdfast.errors import Unavailable

#: Up to this many memories on one subject are all compared; above it, as many that share its rarest words.
NEAREST = 50
_RARE_WORDS = 12
_COMMON = 3  # one telling word of so many, of the shorter text, is the least that two wordings share

_ACROSS = 0.8  # so much of two texts must agree under other labels: a text that says more is no repetition


@dataclass(frozen=True, slots=True)
class Findings:
    """What a draft is to what is known."""

    same: Memory | None
    contradicted: tuple[Memory, ...]
    related: tuple[Memory, ...]  # near calls: kept apart, linked


def compared(draft: Draft, tx: Transaction, desk: Desk, near: Sequence[str] = ()) -> Findings:
    """Judges the draft against active memories that it could repeat; `near` are the nearest by meaning."""
    new = Statement(text=draft.content, subject=draft.subject, category=draft.category)
    same: list[tuple[float, Memory]] = []
    contradicted, related = [], []
    for known in _neighbours(draft, tx, desk, near):
        old = Statement(text=known.content, subject=known.subject, category=known.category)
        if not _on_one_subject(old, new):
            continue
        verdict = desk.judge.compare(old, new)
        match verdict.relation:
            case "same" if verdict.similarity >= _ACROSS or _labelled_alike(known, draft):
                same.append((verdict.similarity, known))
            case "contradicts" if known.project == draft.project and _may_contradict(known, draft):
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


def buried(draft: Draft, tx: Transaction, judge: Judge, *, across: bool = False) -> Tombstone | None:
    """The tombstone that forbids the draft: of the very text, or of a rewording whose text is kept.

    `across`: whatever subject and category the deleted one had.
    """
    assert draft.category is not None
    exact = tx.tombstones.get(text_hash(draft.content, tx.space.key))
    if exact is not None:
        return exact
    new = Statement(text=draft.content, subject=draft.subject, category=draft.category)
    candidates = tx.tombstones.worded(draft.category, draft.subject, NEAREST)
    candidates += tx.tombstones.latest(NEAREST) if across else []
    for tombstone in candidates:
        old = Statement(text=tombstone.content or "", subject=tombstone.subject, category=tombstone.category)
        if _on_one_subject(old, new) and judge.compare(old, new).relation == "same":
            return tombstone
    return None


def looks_across(desk: Desk) -> bool:
    """Whether a fact is known here under whatever subject and category."""
    return desk.profile.policy.neighbours == "space"


def nearest(draft: Draft, desk: Desk) -> tuple[str, ...]:
    """The memories nearest to a checked draft by meaning, where there are vectors and too many to judge all.

    Asked before the space is locked, for a model takes its time.
    """
    if desk.embedder is None or not looks_across(desk):
        return ()
    with desk.store.read(desk.space) as tx:
        if len(tx.memories.matching(_within_reach(draft), NEAREST + 1)) <= NEAREST:
            return ()
        ready = {model.name for model in tx.models.all() if model.ready}
        model = search_model(desk, tx)
    if model is None or model.name not in ready:
        return ()
    text = f"{draft.subject}. {draft.content}" if draft.subject else draft.content
    try:
        [parts] = given(model, model.documents, [text])
    except Unavailable:
        return ()
    with desk.store.read(desk.space) as tx:
        found = tx.memory_vectors.nearest(parts[:1], model.name, NEAREST)
    return tuple(sorted(found, key=lambda one: (-max(found[one]), one)))


def _on_one_subject(old: Statement, new: Statement) -> bool:
    """Whether two can be about one thing: both are filed under it, or both texts name what either is about.

    What only a label tells ("takes 60s to start") is another fact under another label.
    """
    if same_subject(old.subject, new.subject):
        return True
    labels = [subject for subject in (old.subject, new.subject) if subject is not None]
    return all(names(one.text, label) for one in (old, new) for label in labels)


def _labelled_alike(known: Memory, draft: Draft) -> bool:
    return known.category == draft.category and same_subject(known.subject, draft.subject)


def _may_contradict(known: Memory, draft: Draft) -> bool:
    missing = known.subject is None or draft.subject is None
    return missing or same_subject(known.subject, draft.subject)


def maybe_same(one: str, other: str) -> bool:
    """Whether two texts have so many words in common that a judge should look at them."""
    left, right = _telling(one), _telling(other)
    return len(left & right) * _COMMON >= min(len(left), len(right))


def _telling(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOP_WORDS}


def _within_reach(draft: Draft) -> Filter:
    return Filter(project=draft.project, other_projects=False)


def _neighbours(draft: Draft, tx: Transaction, desk: Desk, near: Sequence[str]) -> list[Memory]:
    """At most 50: those under its subject, or the nearest by meaning and words anywhere."""
    assert draft.category is not None
    if not looks_across(desk):
        known = tx.memories.about(draft.category, draft.subject, draft.project, NEAREST + 1)
        if len(known) <= NEAREST:
            return known
        close = _sharing_rare_words(draft, tx)
        return tx.memories.comparable(draft.category, draft.subject, draft.project, close)[:NEAREST]
    where = _within_reach(draft)
    known = tx.memories.find(where, order="created", limit=NEAREST + 1)
    if len(known) <= NEAREST:
        return known[::-1]
    worded = _sharing_rare_words(draft, tx)
    # By turns: what shares its rarest words may have no vector yet.
    turns = [one for pair in zip_longest(near, worded) for one in pair if one is not None]
    found = {memory.id: memory for memory in tx.memories.many(list(dict.fromkeys(turns)))}
    return [memory for memory in found.values() if admits(where, memory)][:NEAREST]


def _sharing_rare_words(draft: Draft, tx: Transaction) -> list[str]:
    wanted = list(dict.fromkeys(stems(f"{draft.content} {draft.subject or ''}")))
    counts = tx.words.frequencies(wanted)
    rare = sorted((word for word in wanted if counts[word]), key=lambda word: counts[word])[:_RARE_WORDS]
    return tx.words.matching(rare, 4 * NEAREST)
