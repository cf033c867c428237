"""Finds what a draft may repeat or contradict: known, deleted, archived or waiting memories, by nearness.

Nearness is the cosine where there are vectors, and the share of common words. Nothing is judged here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from heapq import nlargest
from itertools import zip_longest
from operator import attrgetter, itemgetter
from typing import Literal

from holdfast.domain.memory import Draft, Memory, Tombstone
from holdfast.domain.query import Filter, admits
from holdfast.domain.retention import has_rules
from holdfast.domain.subjects import names, same_subject
from holdfast.domain.terms import shared, stems
from holdfast.engine.embedder_calls import BATCH, embedded
from holdfast.engine.embedding import cosine, search_model, text_of
from holdfast.engine.ports import Embedder, Transaction
from holdfast.engine.space_context import SpaceContext, known_spelling
from holdfast.errors import Unavailable
from holdfast.language.comparison import Statement
from holdfast.language.judge import by_exact_rules

FEW = 3  # pairs per draft that are judged
#: Nearness under which two texts are not worth judging, by words alone and by meaning. By meaning one that
#: is much further away than the nearest is not either: what remains is 1.3 pairs a draft, with 97% of the
#: restatements and 86% of the contradictions of the validation part.
LEAST = 0.3
LEAST_BY_MEANING = 0.40
FURTHER_BY_MEANING = 0.12
_CANDIDATES = 20  # of each role, before the nearest are chosen
_TOGETHER = 16  # drafts per scan of the vectors
_RARE_WORDS = 12
_MOST_ROWS = 2_000  # in the index: candidates that share only common words are found by meaning
_MOST_VECTORS = 1_000  # of deleted and archived texts, cached
_FIRST_PART = 2_000  # characters of a text that are compared
_VECTORS: dict[tuple[str, bytes], bytes] = {}

Role = Literal["known", "deleted", "archived", "waiting", "saved"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory or tombstone that a draft may repeat or contradict."""

    role: Role
    found: Memory | Tombstone
    known: Statement
    draft: Statement  # the part of the draft that it is compared with
    nearness: float  # from 0 to 1


@dataclass(frozen=True, slots=True)
class TextVector:
    """The vectors of a text's parts, and the embedder that made them."""

    embedder: Embedder
    parts: Sequence[bytes]
    near: Mapping[str, float] | None = None  # the nearest memories, if already searched


def statement_of(known: Memory | Tombstone | Draft) -> Statement:
    """A memory, tombstone or draft in the form that the judge compares."""
    return Statement(text=known.content or "", subject=known.subject, category=known.category)


def looks_across(ctx: SpaceContext) -> bool:
    """Whether drafts are compared with the whole space, not only with their subject and category."""
    return ctx.profile.policy.neighbours == "space"


def nearest(
    found: Sequence[Candidate], meaning: TextVector | None, *, placed: bool = False
) -> list[Candidate]:
    """The candidates to judge: those that exact rules decide, and the few nearest of the rest.

    `placed`: their nearness by meaning is already set.
    """
    exact = [each for each in found if by_exact_rules(each.known, each.draft) is not None]
    others = [each for each in found if each not in exact]
    if not placed:
        others = _placed_by_meaning(others, meaning)
    near = nlargest(FEW, others, key=lambda each: each.nearness)
    least = LEAST
    if meaning is not None and near:
        least = max(LEAST_BY_MEANING, near[0].nearness - FURTHER_BY_MEANING)
    return [*exact, *(each for each in near if each.nearness >= least)]


def candidates(
    draft: Draft, tx: Transaction, ctx: SpaceContext, meaning: TextVector | None
) -> list[Candidate]:
    draft = known_spelling(draft, tx, ctx)
    new = statement_of(draft)
    near = [each for each in _neighbours(draft, tx, ctx, meaning) if on_one_subject(each[0], draft)]
    if exact := {memory.id for memory, _ in near if memory.content == draft.content}:
        # The exact text is known: only what supersedes it matters besides.
        exact.update(link.from_id for link in tx.links.superseding(exact))
        near = [each for each in near if each[0].id in exact]
    found = [Candidate("known", memory, statement_of(memory), new, nearness) for memory, nearness in near]
    if exact:
        return found
    return [*found, *deleted(draft, tx, looks_across(ctx)), *out_of_sight(draft, new, tx, ctx)]


def known_word_by_word(draft: Draft, tx: Transaction) -> Memory | None:
    """The memory with exactly the draft's text, if there is one: no model has to be asked."""
    near = tx.memories.many(sharing_rare_words(f"{draft.content} {draft.subject or ''}", tx, FEW))
    labels = attrgetter("content", "category", "subject", "project")
    return next((memory for memory in near if memory.active and labels(memory) == labels(draft)), None)


def deleted(draft: Draft, tx: Transaction, across: bool) -> Iterator[Candidate]:
    assert draft.category is not None
    new = statement_of(draft)
    found = tx.tombstones.worded(draft.category, draft.subject, _CANDIDATES)
    found += tx.tombstones.latest(2 * _CANDIDATES) if across else []
    for tombstone in {each.hash: each for each in found}.values():
        if on_one_subject(tombstone, draft):
            nearness = shared(tombstone.content or "", draft.content)
            yield Candidate("deleted", tombstone, statement_of(tombstone), new, nearness)


def out_of_sight(draft: Draft, new: Statement, tx: Transaction, ctx: SpaceContext) -> Iterator[Candidate]:
    for role, where in _beside(draft, ctx):
        found = tx.memories.find(where, order="recent", limit=_CANDIDATES)
        if len(found) == _CANDIDATES:  # the same text, however old
            found += tx.memories.find(replace(where, text=draft.content), order="recent", limit=1)
        for memory in found:
            yield Candidate(role, memory, statement_of(memory), new, shared(memory.content, draft.content))


def _beside(draft: Draft, ctx: SpaceContext) -> Iterator[tuple[Role, Filter]]:
    """Filters for memories out of use that may say the same: archived, or waiting in the inbox."""
    here = Filter(
        category=draft.category,
        subject=draft.subject,
        general=draft.subject is None,
        project=draft.project,
        other_projects=False,
    )
    yield "waiting", replace(here, states=("waiting",))
    if has_rules(ctx.profile) and not draft.doubtful:
        floor = ctx.profile.policy.floor
        yield "archived", replace(here, states=("inactive",), least_confidence=floor)


def _neighbours(
    draft: Draft, tx: Transaction, ctx: SpaceContext, meaning: TextVector | None
) -> Iterator[tuple[Memory, float]]:
    """Active memories that a draft may repeat, with their nearness: of its subject, or of the whole space."""
    assert draft.category is not None
    across = looks_across(ctx)
    where = Filter(project=draft.project, other_projects=False)
    worded = sharing_rare_words(f"{draft.content} {draft.subject or ''}", tx, _CANDIDATES)
    few: list[Memory] = []
    if not across:
        few = tx.memories.about(draft.category, draft.subject, draft.project, _CANDIDATES + 1)
    elif len(worded) <= FEW:
        few = tx.memories.many(tx.memories.matching(where, FEW + 1))
    cosines: Mapping[str, float] = {}
    if len(few or worded) > (FEW if across else _CANDIDATES):
        cosines = meaning.near if meaning and meaning.near else by_meaning(tx, meaning, _near_by(ctx))
        turns = [one for pair in zip_longest(cosines, worded) for one in pair if one is not None]
        wanted = list(dict.fromkeys(turns))[: 4 * _CANDIDATES]
        if across:
            few = [memory for memory in tx.memories.many(wanted) if admits(where, memory)]
        else:
            few = tx.memories.comparable(draft.category, draft.subject, draft.project, wanted)
    if not across and meaning is not None:
        cosines = by_meaning(tx, meaning, 0, [memory.id for memory in few])
    for memory in few:
        yield memory, max(shared(memory.content, draft.content), cosines.get(memory.id, 0.0))


def sharing_rare_words(text: str, tx: Transaction, limit: int, *, least: int = 1) -> list[str]:
    """The memories that share the rarest words of a text, and at least `least` words."""
    wanted = list(dict.fromkeys(stems(text)))
    counts = tx.words.frequencies(wanted)
    rare = sorted((word for word in wanted if counts[word] >= least), key=lambda word: counts[word])
    return tx.words.matching(rare[:_RARE_WORDS], limit, _MOST_ROWS)


def meanings_of(
    drafts: Sequence[Draft], ctx: SpaceContext, *, stored: bool = False
) -> list[TextVector | None]:
    """The vectors of the drafts; None where there are no vectors to compare with, or few enough to judge all.

    `stored`: as they will be stored, without an added full stop.
    """
    if ctx.embedder is None:
        return [None] * len(drafts)
    with ctx.read() as tx:
        few = [Filter(project=one, other_projects=False) for one in {draft.project for draft in drafts}]
        if (
            len(drafts) <= FEW
            and all(len(tx.memories.matching(within, FEW + 1)) <= FEW for within in few)
            and not tx.tombstones.latest(1)
        ):
            return [None] * len(drafts)
        model = search_model(ctx, tx)
    said = text_of if stored else lambda one: f"{one.subject}. {one.content}" if one.subject else one.content
    return _vectors_by(model, [said(draft) for draft in drafts])


def vector_of(text: str, ctx: SpaceContext) -> TextVector | None:
    """The vector of a text; None if there are no vectors to compare it with."""
    if ctx.embedder is None:
        return None
    with ctx.read() as tx:
        model = search_model(ctx, tx)
    return _vectors_by(model, [text])[0]


def _vectors_by(model: Embedder | None, texts: Sequence[str]) -> list[TextVector | None]:
    if model is None:
        return [None] * len(texts)
    try:
        batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
        return [TextVector(model, parts) for batch in batches for parts in embedded(model, batch)]
    except Unavailable:
        return [None] * len(texts)


def _near_by(ctx: SpaceContext) -> int:
    """How many memories to search by meaning."""
    return _CANDIDATES if looks_across(ctx) else 4 * _CANDIDATES


def with_nearest(
    meanings: Sequence[TextVector | None], tx: Transaction, ctx: SpaceContext
) -> Iterator[TextVector | None]:
    """The vectors with the memories nearest to each; the stored vectors are scanned once for several."""
    most = _near_by(ctx)
    for start in range(0, len(meanings), _TOGETHER):
        group = meanings[start : start + _TOGETHER]
        queries = [each.parts[0] for each in group if each is not None]
        names = {each.embedder.name for each in group if each is not None}
        found = tx.memory_vectors.nearest(queries, names.pop(), most) if queries else {}
        cosines = iter(list(zip(*found.values(), strict=True)))
        for each in group:
            near = (
                nlargest(most, zip(found, next(cosines, ()), strict=False), key=itemgetter(1)) if each else ()
            )
            yield replace(each, near=dict(near)) if each else None


def by_meaning(
    tx: Transaction, meaning: TextVector | None, limit: int, also: Collection[str] = ()
) -> dict[str, float]:
    """The nearest memories by cosine, nearest first; empty if vectors can't be searched."""
    if meaning is None:
        return {}
    try:
        found = tx.memory_vectors.nearest([meaning.parts[0]], meaning.embedder.name, limit, also)
    except Unavailable:
        return {}
    return dict(sorted(((one, cosines[0]) for one, cosines in found.items()), key=lambda each: -each[1]))


def _placed_by_meaning(found: Sequence[Candidate], meaning: TextVector | None) -> list[Candidate]:
    """The candidates with their nearness; texts without a stored vector are embedded."""
    if meaning is None:
        return list(found)
    unplaced = [each for each in found if each.role != "known"]
    try:
        vectors = [_vector(meaning.embedder, each.known.text) for each in unplaced]
    except Unavailable:
        return list(found)
    nearer = {
        id(each): max(each.nearness, cosine(vector, meaning.parts[0]))
        for each, vector in zip(unplaced, vectors, strict=True)
    }
    return [replace(each, nearness=nearer.get(id(each), each.nearness)) for each in found]


def _vector(embedder: Embedder, text: str) -> bytes:
    """The vector of a text that is not stored; cached by hash, because the text may be a deleted one."""
    key = embedder.name, sha256(text.encode("utf-8", "replace")).digest()
    if key not in _VECTORS:
        [parts] = embedded(embedder, [text[:_FIRST_PART]])
        if len(_VECTORS) >= _MOST_VECTORS:
            _VECTORS.clear()
        _VECTORS[key] = bytes(parts[0])
    return _VECTORS[key]


def on_one_subject(known: Memory | Tombstone, draft: Draft) -> bool:
    """Whether both can be about one thing: they have the same subject, or both texts name their subjects.

    "Takes 60s to start" under two subjects is two facts.
    """
    if same_subject(known.subject, draft.subject):
        return True
    labels = [subject for subject in (known.subject, draft.subject) if subject is not None]
    return all(names(text, label) for text in (known.content or "", draft.content) for label in labels)
