"""The request bodies. Limits of texts come from the profile and are checked by the engine."""

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from holdfast.domain.access import SCOPES, Scope
from holdfast.domain.budget import CONTEXT_LINES, CONTEXT_TOKENS
from holdfast.domain.memory import LinkKind, Origin, State
from holdfast.domain.query import Filter

MAX_MESSAGES = 1_000  # in one request
MAX_DRAFTS = 1_000
MAX_IDS = 100
MOST_TEXT = 1_000_000

Text = Annotated[str, Field(max_length=MOST_TEXT)]
Name = Annotated[str, Field(max_length=1_000)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Moment = Annotated[AwareDatetime, Field(strict=False, description="With a time zone: 2026-03-01T12:00:00Z")]
Tags = Annotated[list[Name], Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1, strict=False)]
Belief = Annotated[
    float,
    Field(strict=False, allow_inf_nan=False, description="From 0 to 1; clamped to that range."),
]
Importance = Annotated[int, Field(ge=1, le=5)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000)]


class Body(BaseModel):
    """Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewDraft(Body):
    content: Text = Field(description="What to remember. The profile sets the length limits.")
    category: Name | None = Field(
        None, description="A category of the profile. Default: the profile's default category."
    )
    subject: Name | None = Field(None, description="The person or thing it is about.")
    summary: Name | None = None
    project: Name | None = None
    tags: Tags = []
    confidence: Belief | None = None
    importance: Importance | None = None
    private: bool = Field(False, description="Only tokens of the same person see it. Not for imports.")


class NewMemory(NewDraft):
    focus: Name | None = Field(
        None,
        description="The current project: used if `project` is not given, unless the category is global.",
    )
    origin: Origin | None = Field(None, description="Where it comes from. Default: the caller.")
    session: Id | None = None
    message: Id | None = Field(None, description="The ID of its source message.")
    doubtful: Name | None = Field(None, description="Why it needs review: sends it to the inbox.")
    anyway: bool = Field(False, description="Store it even if it was deleted before. Admin scope only.")


class Splitting(Body):
    number: int = Field(ge=1, le=2**31, description="Number of the wording, as in `why`.")


class Change(Body):
    """null leaves a field unchanged; an empty string clears subject, summary or project."""

    content: Text | None = None
    category: Name | None = None
    subject: Name | None = None
    summary: Name | None = None
    project: Name | None = None
    tags: Tags | None = Field(None, description="Replaces all tags.")
    add_tags: Tags = Field([], description="Tags to add.")
    drop_tags: Tags = Field([], description="Tags to remove.")
    confidence: Belief | None = None
    importance: Importance | None = None
    pinned: bool | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None, description="The number of an earlier version to go back to."
    )
    private: bool | None = Field(None, description="true: only tokens of its writer see it; false: all do.")
    origin: Origin | None = None
    session: Id | None = None


class NewLink(Body):
    to: Id
    kind: LinkKind = "related"


class Where(Body):
    """Filters; all given ones must match."""

    states: Annotated[list[State], Field(min_length=1, max_length=4)] = ["active"]
    category: Name | None = None
    subject: Name | None = None
    general: bool = Field(False, description="Only memories without a subject.")
    tags: Tags = Field([], description="All of these tags.")
    project: Name | None = None
    other_projects: bool = Field(True, description="false: only memories of `project` and global ones.")
    origin: Origin | None = None
    person: Name | None = Field(None, description="Who wrote it.")
    session: Id | None = None
    least_confidence: Share | None = None
    importance: Importance | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None

    def filter(self) -> Filter:
        given = self.model_dump()
        return Filter(**{**given, "states": tuple(self.states), "tags": tuple(self.tags)})


class Question(Body):
    query: Text
    limit: Annotated[int, Field(ge=1, le=100)] = 5
    threshold: Annotated[float, Field(strict=False, allow_inf_nan=False)] | None = None
    where: Where | None = None
    project: Name | None = Field(None, description="Only memories of this project and global ones.")
    session: Id | None = Field(None, description="The session that asks; a receipt is stored for it.")
    messages: bool = Field(True, description="Also search messages.")
    as_of: Moment | None = None
    asked_at: Moment | None = None


class SentMessage(Body):
    """A message. Messages with a known id are ignored."""

    role: Annotated[str, Field(min_length=1, max_length=40)] = Field(
        description="user (or human), assistant (or ai), system or tool."
    )
    content: Text
    speaker: Name | None = None
    id: Id | None = None
    said_at: Moment | None = None


class Messages(Body):
    messages: Annotated[list[SentMessage], Field(min_length=1, max_length=MAX_MESSAGES)]


class Posted(Messages):
    """Messages and the session they belong to."""

    session: Id


class Recent(Body):
    """The last messages, oldest first. Default: those stored for the session."""

    messages: Annotated[list[SentMessage], Field(max_length=20)] = []
    project: Name | None = None
    budget: Tokens = CONTEXT_TOKENS
    limit: Annotated[int, Field(ge=0, le=100)] = CONTEXT_LINES
    explain: bool = Field(False, description="Say why; nothing counts as shown to the session.")


class NewSession(Body):
    id: Id | None = None
    name: Name | None = None
    client: Name | None = None
    directory: Name | None = None
    project: Name | None = None
    tier: Annotated[int, Field(ge=1, le=3)] | None = None


class SessionEnd(Body):
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None = None
    usage: dict[str, Any] | None = Field(None, description="Tokens and cost reported by the agent.")


class Ids(Body):
    ids: Annotated[list[Id], Field(min_length=1, max_length=MAX_IDS)]


class NewEvent(Body):
    level: Name
    content: Text
    service: Name | None = None
    session: Id | None = None


class NewAttempt(Body):
    action: Name
    service: Name
    succeeded: bool
    content: Text | None = None
    session: Id | None = None


class Import(Body):
    """Either an archive written by `export`, or drafts."""

    archive: Annotated[str, Field(max_length=4 * 1024 * 1024)] | None = None
    drafts: Annotated[list[NewDraft], Field(max_length=MAX_DRAFTS)] | None = None
    review: bool = Field(False, description="Send all drafts to the inbox.")


class NewSpace(Body):
    name: Name
    profile: Name = "default"
    profile_text: Annotated[str, Field(max_length=100_000)] | None = Field(
        None, description="The TOML text of a custom profile."
    )
    keeps_messages: bool = True


Most = Annotated[int, Field(ge=0, le=2**53)]
Span = Annotated[str, Field(max_length=20)]


class QuotaFields(Body):
    """null: no limit."""

    max_memories: Most | None = None
    max_messages: Most | None = None
    max_bytes: Most | None = Field(None, description="Of text: every wording of a memory, every message.")


class SpaceChange(QuotaFields):
    """What is not named stays."""

    keeps_messages: bool | None = None
    access_log: bool | None = Field(None, description="Whether reads are recorded.")
    access_log_days: Annotated[int, Field(ge=1, le=3_650)] | None = None


class TokenChange(QuotaFields):
    """What is not named stays."""

    max_requests: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(None, description="A minute.")


class Rotation(Body):
    grace: Span = Field("0h", description="How long the old secret still works: 24h, 7d.")
    expires: Span | None = Field(None, description="90d, never. Default: after the same time as before.")


class NewToken(TokenChange):
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=len(SCOPES))]
    spaces: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = Field(
        None, description="null: all spaces, including future ones"
    )
    name: Name | None = None
    expires: Span | None = Field(None, description="24h, 90d, 8w, never. Default: 365d, or with your token.")
    person: Name | None = Field(
        None,
        description="Who uses it: what is written with it says so. A token creates those of its own person.",
    )
