"""Finds what a draft may repeat or contradict: known, deleted, archived or waiting memories, by nearness.

Nearness is the cosine where there are vectors, and the share of common words. Nothing is judged here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import chain, zip_longest
from operator import attrgetter, itemgetter
from typing import Literal

from holdfast.domain.memory import Draft, Memory, MemoryText, Tombstone
from holdfast.domain.query import Filter
from holdfast.domain.retention import has_rules
from holdfast.domain.subjects import names, same_subject
from holdfast.domain.terms import shared, stems
from holdfast.engine.draft_vectors import TextVector, by_meaning, kept_vector, vectors_by
from holdfast.engine.embedding import cosine, search_model, text_of
from holdfast.engine.ports import Transaction
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
_RARE_WORDS = 12
_MOST_ROWS = 2_000  # in the index: candidates that share only common words are found by meaning

Role = Literal["known", "deleted", "archived", "waiting", "saved"]
#: What of a memory a draft is compared with, and how near it is, from 0 to 1.
Near = tuple[MemoryText, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory or tombstone that a draft may repeat or contradict."""

    role: Role
    found: Memory | Tombstone
    known: Statement
    draft: Statement  # the part of the draft that it is compared with
    nearness: float  # from 0 to 1


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
    exact = [each for each in found if by_exact_rules(each.known.text, each.draft.text) is not None]
    others = [each for each in found if each not in exact]
    if not placed:
        others = _placed_by_meaning(others, meaning)
    near = nlargest(FEW, others, key=lambda each: each.nearness)
    least = LEAST
    if meaning is not None and near:
        least = max(LEAST_BY_MEANING, near[0].nearness - FURTHER_BY_MEANING)
    return [*exact, *(each for each in near if each.nearness >= least)]


def candidates(
    drafts: Sequence[Draft], meanings: Sequence[TextVector | None], tx: Transaction, ctx: SpaceContext
) -> list[list[Candidate]]:
    """What each draft may repeat or contradict; the rows of all are read together."""
    drafts = [known_spelling(draft, tx, ctx) for draft in drafts]
    near = [
        _few_of(found, draft, tx)
        for draft, found in zip(drafts, _neighbours(drafts, meanings, tx, ctx), strict=True)
    ]
    wanted = dict.fromkeys(each.id for found in near for each, _ in found)
    memories = {memory.id: memory for memory in tx.memories.many(list(wanted))}
    return [
        _with_hidden(draft, [(memories[each.id], much) for each, much in found], tx, ctx)
        for draft, found in zip(drafts, near, strict=True)
    ]


def _few_of(found: Sequence[Near], draft: Draft, tx: Transaction) -> list[Near]:
    """Those that exact rules decide, and the few nearest of the rest."""
    near = [each for each in found if on_one_subject(each[0], draft)]
    if exact := {known.id for known, _ in near if known.content == draft.content}:
        # The exact text is known: only what supersedes it matters besides.
        exact.update(link.from_id for link in tx.links.superseding(exact))
        return [each for each in near if each[0].id in exact]
    ruled = [each for each in near if by_exact_rules(each[0].content, draft.content) is not None]
    others = [each for each in near if each not in ruled] if ruled else near
    return [*ruled, *nlargest(FEW, others, key=itemgetter(1))]


def _with_hidden(
    draft: Draft, near: Sequence[tuple[Memory, float]], tx: Transaction, ctx: SpaceContext
) -> list[Candidate]:
    """What is known as candidates, with what is deleted or out of use, unless the exact text is known."""
    new = statement_of(draft)
    found = [Candidate("known", memory, statement_of(memory), new, nearness) for memory, nearness in near]
    if any(memory.content == draft.content for memory, _ in near):
        return found
    return [*found, *deleted(draft, tx, looks_across(ctx)), *out_of_sight(draft, new, tx, ctx)]


def known_word_by_word(draft: Draft, tx: Transaction) -> Memory | None:
    """The memory with exactly the draft's text, if there is one: no model has to be asked."""
    [ids] = sharing_rare_words([f"{draft.content} {draft.subject or ''}"], tx, FEW)
    near = tx.memories.many(ids)
    labels = attrgetter("content", "category", "subject", "project")
    return next((memory for memory in near if memory.active and labels(memory) == labels(draft)), None)


def deleted(draft: Draft, tx: Transaction, across: bool) -> Iterator[Candidate]:
    assert draft.category is not None
    if draft.private:  # of deleted private memories there are no texts
        return
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
    drafts: Sequence[Draft], meanings: Sequence[TextVector | None], tx: Transaction, ctx: SpaceContext
) -> Iterator[list[Near]]:
    """Active memories that each draft may repeat, with their nearness: of its subject, or of the space."""
    across = looks_across(ctx)
    texts = [f"{draft.content} {draft.subject or ''}" for draft in drafts]
    worded = sharing_rare_words(texts, tx, _CANDIDATES)
    wanted = [_wanted(*each, tx, ctx) for each in zip(drafts, worded, meanings, strict=True)]
    ids = dict.fromkeys(one for ids, _ in wanted for one in ids)
    known = {each.id: each for each in tx.memories.texts(list(ids))}
    for draft, meaning, (among, cosines) in zip(drafts, meanings, wanted, strict=True):
        found = [
            known[one]
            for one in among
            if one in known
            and known[one].project in (None, draft.project)
            and (across or labelled_alike(known[one], draft))
        ]
        if not across:
            cosines = by_meaning(tx, meaning, 0, [each.id for each in found])
        yield [(each, max(shared(each.content, draft.content), cosines.get(each.id, 0.0))) for each in found]


def _wanted(
    draft: Draft, worded: Sequence[str], meaning: TextVector | None, tx: Transaction, ctx: SpaceContext
) -> tuple[Sequence[str], Mapping[str, float]]:
    """The memories to look at, and how near those are by meaning that were looked for so."""
    assert draft.category is not None
    few: list[str] = []
    if not looks_across(ctx):
        few = tx.memories.about(draft.category, draft.subject, draft.project, _CANDIDATES + 1)
    elif len(worded) <= FEW:
        few = tx.memories.matching(Filter(project=draft.project, other_projects=False), FEW + 1)
    if len(few or worded) <= (FEW if looks_across(ctx) else _CANDIDATES):
        return few, {}
    cosines = meaning.near if meaning and meaning.near else by_meaning(tx, meaning, near_by(ctx))
    turns = [one for pair in zip_longest(cosines, worded) for one in pair if one is not None]
    return list(dict.fromkeys(turns))[: 4 * _CANDIDATES], cosines


def labelled_alike(known: Memory | MemoryText, draft: Draft) -> bool:
    return known.category == draft.category and same_subject(known.subject, draft.subject)


def sharing_rare_words(
    texts: Sequence[str], tx: Transaction, limit: int, *, least: int = 1
) -> list[list[str]]:
    """For each text the memories that share its rarest words, of those that at least `least` have."""
    wanted = [list(dict.fromkeys(stems(text))) for text in texts]
    counts = tx.words.frequencies(list(dict.fromkeys(chain(*wanted))))
    rare = [
        sorted((word for word in words if counts[word] >= least), key=lambda word: counts[word])[:_RARE_WORDS]
        for words in wanted
    ]
    return tx.words.matching_each(rare, limit, _MOST_ROWS)


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
    return vectors_by(model, [said(draft) for draft in drafts])


def near_by(ctx: SpaceContext) -> int:
    """How many memories to search by meaning."""
    return _CANDIDATES if looks_across(ctx) else 4 * _CANDIDATES


def _placed_by_meaning(found: Sequence[Candidate], meaning: TextVector | None) -> list[Candidate]:
    """The candidates with their nearness; texts without a stored vector are embedded."""
    if meaning is None:
        return list(found)
    unplaced = [each for each in found if each.role != "known"]
    try:
        vectors = [kept_vector(meaning.embedder, each.known.text) for each in unplaced]
    except Unavailable:
        return list(found)
    nearer = {
        id(each): max(each.nearness, cosine(vector, meaning.parts[0]))
        for each, vector in zip(unplaced, vectors, strict=True)
    }
    return [replace(each, nearness=nearer.get(id(each), each.nearness)) for each in found]


def on_one_subject(known: MemoryText | Memory | Tombstone, draft: Draft) -> bool:
    """Whether both can be about one thing: they have the same subject, or both texts name their subjects.

    "Takes 60s to start" under two subjects is two facts.
    """
    if same_subject(known.subject, draft.subject):
        return True
    labels = [subject for subject in (known.subject, draft.subject) if subject is not None]
    return all(names(text, label) for text in (known.content or "", draft.content) for label in labels)
