"""A profile: vocabulary, limits, policy and prompt layout of a space, with the checks of drafts."""

from dataclasses import dataclass, replace
from typing import Literal

from holdfast.domain.memory import Draft
from holdfast.domain.subjects import is_marker_name, same_subject
from holdfast.domain.text import clean, is_visible
from holdfast.errors import Invalid, TooLong, TooShort, UnknownCategory

OnSame = Literal["reinforce", "suggest", "merge", "overwrite"]
OnContradiction = Literal["weaken", "suggest", "keep", "overwrite"]
Removal = Literal["soft", "permanent"]
#: Where the memories are looked for that a draft may repeat: under its subject and category, or anywhere.
Neighbours = Literal["subject", "space"]
Layout = Literal["by-subject", "by-category", "rules-first", "index"]

#: The kind of memory tools that a model gets by default.
TOOLS = (
    "memory_search", "memory_remember", "memory_revise", "memory_forget", "memory_list", "memory_why",
    "memory_feedback",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The maximum lengths of a memory's fields, in characters."""

    content_min: int = 1
    content_max: int = 16_384
    one_line: bool = False
    subject_max: int = 200
    marker_subjects: bool = False  # people type only such subjects as a marker can name
    summary_max: int = 500
    tag_max: int = 64
    tags: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How confidence changes, and the effect of duplicates and contradictions."""

    on_same: OnSame
    on_contradiction: OnContradiction
    removal: Removal
    confidence: float = 0.7
    finding_confidence: float = 0.6  # of what was captured from an agent's own words
    floor: float = 0.0  # below it a memory is inactive
    reinforce_by: float = 0.0
    weaken_by: float = 0.0
    decay_by: float = 0.0  # a week, after the grace; 0 = never
    decay_after_days: int = 30
    unused_days: int = 0  # archived when neither used nor confirmed for so long; 0 = never
    importance: int = 3
    raise_importance_by: int = 0
    neighbours: Neighbours = "subject"
    subject_is_key: bool = False  # one memory a subject, as with files
    weighs_confidence: bool = True  # whether confidence is shown and ranked by
    weighs_importance: bool = True
    space_wide: bool = False  # memories belong to no project unless one is given


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefLayout:
    """The layout of the brief."""

    layout: Layout
    title: str
    intro: tuple[str, ...] = ()
    plain_intro: tuple[str, ...] = ()  # for a reader without the profile's tools; else what names none
    budget: int = 2_000  # tokens
    lines: int = 0  # 0 = no limit
    general: str = "general"  # the heading over memories without a subject
    shows_superseded: bool = False  # else a brief leaves out what a newer memory contradicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A category, in the profile's order."""

    name: str
    says: str = ""  # what belongs there, for prompts and tool schemas
    everywhere: bool = False  # holds in every project: about a person, not about a piece of work
    rule: bool = False  # instructions: a person's memory of this category is to be followed
    example: str = ""  # what an agent might record of this kind
    example_subject: str = ""  # and the service, person or file that it would be about
    unused_days: int = 0  # replaces the policy's for this category; 0 = the policy's
    keep_days: int = 0  # archived when not confirmed for so long, used or not; 0 = never
    keep_most: int = 0  # the most recently used and confirmed stay, the rest is archived; 0 = all


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The severity of an event; ordered as in the profile."""

    name: str
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooldown:
    """An action on a service that may be taken only so often: `most` times within `hours`."""

    name: str
    most: int
    hours: float
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A style of memory."""

    name: str
    says: str
    categories: tuple[Category, ...]
    default_category: str | None
    limits: Limits
    policy: Policy
    block: BriefLayout
    tools: tuple[str, ...] = TOOLS  # for models, in this order
    levels: tuple[Level, ...] = ()  # of events; None = the space stores no events
    cooldowns: tuple[Cooldown, ...] = ()
    unsorted: str | None = None  # the category of files without one; not offered to agents

    @property
    def category_names(self) -> tuple[str, ...]:
        return tuple(category.name for category in self.categories)

    @property
    def rank_rules(self) -> str:
        """All that the ranks of briefs depend on; under other rules they have to be made again."""
        block, policy = self.block, self.policy
        order = (block.layout, block.shows_superseded, policy.floor)
        kinds = tuple(each.name for each in self.categories if each.rule)
        weighed = (policy.weighs_confidence, policy.weighs_importance)
        return repr((2, *order, *kinds, *weighed, policy.decay_by > 0, policy.decay_after_days))

    def holds_everywhere(self, category: str | None) -> bool:
        """Whether memories of this category belong to no project unless one is given."""
        wanted = category if category is not None else self.default_category
        return self.policy.space_wide or any(
            each.everywhere for each in self.categories if each.name == wanted
        )

    def is_rule(self, category: str) -> bool:
        """Whether memories of this category are instructions."""
        return any(each.rule for each in self.categories if each.name == category)

    def check_lengths(self, draft: Draft) -> None:
        """A cheap check before anything costly. Raises: TooLong."""
        self._fitting(clean(draft.content, one_line=self.limits.one_line).strip())
        self._line(draft.subject, "subject", self.limits.subject_max)
        self._line(draft.summary, "summary", self.limits.summary_max)
        self._line(draft.project, "project", self.limits.subject_max)
        self._tags(draft.tags)

    def checked(self, draft: Draft) -> Draft:
        """`draft`, cleaned, with defaults. Raises: Invalid, UnknownCategory, TooShort, TooLong."""
        category = self.checked_category(draft.category)
        return replace(
            draft,
            category=category,
            content=self.checked_content(draft.content),
            subject=self._subject(draft.subject, typed=draft.source.origin == "operator"),
            summary=self._line(draft.summary, "summary", self.limits.summary_max),
            project=self._line(draft.project, "project", self.limits.subject_max),
            tags=self._tags(draft.tags),
            confidence=self.checked_confidence(draft.confidence),
            importance=self.checked_importance(draft.importance),
        )

    def checked_category(self, category: str | None) -> str:
        if category is None and self.default_category is None:
            names = ", ".join(self.category_names)
            raise Invalid(f"category is required: use one of {names}", field="category")
        wanted = category if category is not None else self.default_category
        if wanted not in self.category_names and (wanted is None or wanted != self.unsorted):
            raise UnknownCategory(str(wanted), self.category_names)
        return str(wanted)

    def checked_content(self, content: str) -> str:
        text = clean(content, one_line=self.limits.one_line).strip()
        if not is_visible(text):
            raise TooShort("the text is empty: enter what to remember", field="content")
        least = self.limits.content_min
        if len(text) < least:
            raise TooShort(
                f"the text has {len(text)} characters: at least {least} are required", field="content"
            )
        return self._fitting(text)

    def _fitting(self, text: str) -> str:
        most = self.limits.content_max
        if len(text) > most:
            raise TooLong(f"the text has {len(text):,} characters: the limit is {most:,}", field="content")
        return text

    def checked_confidence(self, confidence: float | None) -> float:
        """Limited to 0 to 1; default: the policy's start value."""
        if confidence is None:
            return self.policy.confidence
        if confidence != confidence:  # NaN compares unequal to itself
            raise Invalid("confidence must be a number from 0 to 1", field="confidence")
        return round(min(max(confidence, 0.0), 1.0), 4)

    def checked_importance(self, importance: int | None) -> int:
        if importance is None:
            return self.policy.importance
        if not 1 <= importance <= 5:
            raise Invalid(f"importance must be 1 to 5, not {importance}", field="importance")
        return importance

    def _subject(self, subject: str | None, *, typed: bool) -> str | None:
        text = self._line(subject, "subject", self.limits.subject_max)
        if text is None or same_subject(text, self.block.general):
            return None  # the heading over general memories is not a subject: both spellings must meet
        if typed and self.limits.marker_subjects and not is_marker_name(text):
            raise Invalid(
                f"invalid subject {text!r}: use only a-z, 0-9, - and _, as in a marker",
                field="subject",
            )
        return text

    def _line(self, text: str | None, field: str, most: int) -> str | None:
        if text is None:
            return None
        line = clean(text, one_line=True).strip()
        if len(line) > most:
            raise TooLong(f"the {field} has {len(line):,} characters: the limit is {most:,}", field=field)
        return line or None

    def _tags(self, tags: tuple[str, ...]) -> tuple[str, ...]:
        lines = (self._line(tag, "tag", self.limits.tag_max) for tag in tags)
        unique = tuple(sorted({line for line in lines if line}))
        if len(unique) > self.limits.tags:
            raise TooLong(f"{len(unique)} tags are too many: the limit is {self.limits.tags}", field="tags")
        return unique
