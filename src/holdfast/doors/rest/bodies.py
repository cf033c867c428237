"""What callers send, field by field. Limits on texts are the profile's, which the engine knows."""

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from holdfast.domain.grant import Scope
from holdfast.domain.memory import LinkKind, Origin, State
from holdfast.domain.query import Filter

MOST_MESSAGES = 1_000  # in one request
MOST_DRAFTS = 1_000
MOST_IDS = 100
MOST_TEXT = 1_000_000

Text = Annotated[str, Field(max_length=MOST_TEXT)]
Name = Annotated[str, Field(max_length=1_000)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Moment = Annotated[AwareDatetime, Field(strict=False, description="With its zone: 2026-03-01T12:00:00Z")]
Tags = Annotated[list[Name], Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1, strict=False)]
Belief = Annotated[
    float,
    Field(strict=False, allow_inf_nan=False, description="From 0 to 1; what lies beyond counts as its end."),
]
Importance = Annotated[int, Field(ge=1, le=5)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000)]


class Body(BaseModel):
    """A field that is not known is an error, not a silent loss."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewMemory(Body):
    content: Text = Field(description="What to remember; the profile says how long it may be.")
    category: Name | None = Field(None, description="One of the profile's; the usual one if it has any.")
    subject: Name | None = Field(None, description="Whom or what it is about.")
    summary: Name | None = None
    project: Name | None = None
    focus: Name | None = Field(
        None, description="The project at hand: taken where none is named, unless the category is for all."
    )
    tags: Tags = []
    confidence: Belief | None = None
    importance: Importance | None = None
    origin: Origin | None = Field(None, description="Where it comes from, when it is not the caller's word.")
    session: Id | None = None
    message: Id | None = Field(None, description="The message that it was taken from.")
    doubtful: Name | None = Field(None, description="Why a person should look first: sends it to the inbox.")
    anyway: bool = Field(False, description="Bring back what was deleted; for people only.")


class Splitting(Body):
    number: int = Field(ge=1, le=2**31, description="Of the wording, as why tells it.")


class Change(Body):
    """What is null stays; an empty text takes subject, summary or project away."""

    content: Text | None = None
    category: Name | None = None
    subject: Name | None = None
    summary: Name | None = None
    project: Name | None = None
    tags: Tags | None = Field(None, description="These in place of all that it has.")
    add_tags: Tags = Field([], description="Besides those that it has.")
    drop_tags: Tags = []
    confidence: Belief | None = None
    importance: Importance | None = None
    pinned: bool | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None, description="The number of an earlier wording to go back to."
    )
    origin: Origin | None = None
    session: Id | None = None


class NewLink(Body):
    to: Id
    kind: LinkKind = "related"


class Where(Body):
    """Every given part must hold; what is left out does not matter."""

    states: Annotated[list[State], Field(min_length=1, max_length=4)] = ["active"]
    category: Name | None = None
    subject: Name | None = None
    general: bool = Field(False, description="Only memories without a subject.")
    tags: Tags = Field([], description="All of them.")
    project: Name | None = None
    other_projects: bool = Field(True, description="false: only `project`'s memories and those of none.")
    origin: Origin | None = None
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
    project: Name | None = Field(None, description="This project's memories and those of none.")
    session: Id | None = Field(None, description="The session that asks: it gets a receipt.")
    messages: bool = Field(True, description="Among what was said, too.")
    as_of: Moment | None = None
    asked_at: Moment | None = None


class Message(Body):
    """Something said. The same id again is kept once, as it was said first."""

    role: Annotated[str, Field(min_length=1, max_length=40)] = Field(
        description="user (or human), assistant (or ai), system or tool."
    )
    content: Text
    speaker: Name | None = None
    id: Id | None = None
    said_at: Moment | None = None


class Messages(Body):
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]


class Posted(Messages):
    """What a webhook sends: messages with the session that they belong to."""

    session: Id


class Recent(Body):
    """The last messages, oldest first; none: the session's own last ones."""

    messages: Annotated[list[Message], Field(max_length=20)] = []
    project: Name | None = None
    budget: Tokens = 500


class NewSession(Body):
    id: Id | None = None
    name: Name | None = None
    client: Name | None = None
    directory: Name | None = None
    project: Name | None = None
    tier: Annotated[int, Field(ge=1, le=3)] | None = None


class SessionEnd(Body):
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None = None
    usage: dict[str, Any] | None = Field(None, description="Tokens and cost, as the agent reports them.")


class Ids(Body):
    ids: Annotated[list[Id], Field(min_length=1, max_length=MOST_IDS)]


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


class NewDraft(Body):
    content: Text
    category: Name | None = None
    subject: Name | None = None
    summary: Name | None = None
    project: Name | None = None
    tags: Tags = []
    confidence: Belief | None = None
    importance: Importance | None = None


class Import(Body):
    """Either an archive, as `export` writes it, or drafts from elsewhere."""

    archive: Annotated[str, Field(max_length=4 * 1024 * 1024)] | None = None
    drafts: Annotated[list[NewDraft], Field(max_length=MOST_DRAFTS)] | None = None
    review: bool = Field(False, description="Send all drafts to the inbox first.")


class NewSpace(Body):
    name: Name
    profile: Name = "default"
    profile_text: Annotated[str, Field(max_length=100_000)] | None = Field(
        None, description="TOML of your own."
    )
    keeps_messages: bool = True


class SpaceChange(Body):
    keeps_messages: bool


class NewToken(Body):
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)]
    spaces: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = Field(
        None, description="null: all spaces, those to come as well"
    )
    name: Name | None = None
