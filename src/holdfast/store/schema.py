"""The tables, one schema for SQLite and PostgreSQL.

The space comes first in every key, so that rows of a space live together and PostgreSQL can be sharded by it;
`spaces`, `tokens` and `browsers` are the reference tables. No triggers, no keys across spaces, ids made by
the client.
Full-text tables and the view operational_memories are plain SQL in the migrations. `holds` names the class
whose values are the rows of a table, `field` what a column of another name stands for: `mapping` reads both.
"""
# budget: the whole schema is one list; a reader looks for a table here and nowhere else.

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)
from sqlalchemy.schema import SchemaItem

from holdfast.store.types import JsonColumn, Name, UtcTime, Vector

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _in_space(
    name: str, *items: SchemaItem, key: tuple[str, ...] = ("id",), holds: str | None = None
) -> Table:
    """A table whose rows belong to spaces, and go with their space or with what another key of it names."""
    if not any(isinstance(item, ForeignKeyConstraint) for item in items):
        items = (*items, ForeignKeyConstraint(["space"], ["spaces.name"], ondelete="CASCADE"))
    space = Column("space", Name, nullable=False)
    info = {"holds": holds} if holds else {}
    return Table(name, metadata, space, *items, PrimaryKeyConstraint("space", *key), info=info)


def _of_memory(column: str = "memory_id") -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["space", column], ["memories.space", "memories.id"], ondelete="CASCADE")


def _quota() -> Iterator[Column[Any]]:
    """The columns of a `Quota`; none: no limit."""
    for name in ("max_memories", "max_messages", "max_bytes"):
        yield Column(name, BigInteger)


spaces = Table(
    "spaces",
    metadata,
    Column("name", Name, primary_key=True),
    Column("profile", Name, nullable=False),
    Column("profile_text", Text),  # a user's own TOML; built-in profiles come with the release
    Column("key", Text, nullable=False),  # keys the hashes of tombstones
    Column("has_work", Boolean, nullable=False),  # of older releases
    Column("keeps_messages", Boolean, nullable=False, server_default=true()),
    Column("created_at", UtcTime, nullable=False),
    *_quota(),
    Column("access_log", Boolean, nullable=False, server_default=false()),
    Column("access_log_days", Integer, nullable=False, server_default="90"),
    info={"holds": "Space"},
)

# Who may enter which spaces. Of a secret only its hash is kept; a space that is deleted goes out of the list.
tokens = Table(
    "tokens",
    metadata,
    Column("id", Name, primary_key=True),
    Column("name", Text),
    Column("hash", Name, nullable=False),
    Column("scopes", JsonColumn, nullable=False),
    Column("spaces", JsonColumn),  # none: all of them
    Column("created_at", UtcTime, nullable=False),
    Column("revoked_at", UtcTime),
    Column("used_at", UtcTime),
    Column("expires_at", UtcTime),
    Column("rotated_at", UtcTime),
    Column("old_hash", Name),  # of the secret before the last rotation
    Column("old_until", UtcTime),
    Column("max_requests", Integer),
    Column("person", Name),
    *_quota(),
    UniqueConstraint("hash"),
    Index(None, "old_hash"),
    info={"holds": "Token"},
)

# Who is signed in to the pages of any service, and the one-time links that sign in. Of secrets only hashes.
browsers = Table(
    "browsers",
    metadata,
    Column("hash", Name, primary_key=True),
    Column("token", Name, nullable=False),  # the hash of the token whose rights it has
    Column("link", Boolean, nullable=False),  # true: a link that nobody has used yet
    Column("notice", JsonColumn),  # to be shown on the next page
    Column("until", UtcTime, nullable=False),
    info={"holds": "Browser"},
)

# One row a space, locked by every writer: it orders the journal and makes compare-then-write safe. Its
# columns are the last numbers that were given out; those of vectors are never given out twice.
heads = _in_space(
    "heads",
    Column("seq", BigInteger, nullable=False),
    Column("messages", BigInteger, nullable=False, server_default="0"),
    Column("vectors", BigInteger, nullable=False, server_default="0"),
    Column("ranked_by", Text),  # the rules that `brief_ranks` were made by
    Column("counted_to", BigInteger, nullable=False, server_default="0"),  # by `growth`
    Column("writes", BigInteger, nullable=False, server_default="0"),  # on a server: a replica has to show it
    key=(),
)

# By day of UTC, how many more memories came into use than went out of it, up to some entry of the journal.
growth = _in_space(
    "growth",
    Column("day", Name, nullable=False),
    Column("change", BigInteger, nullable=False),
    key=("day",),
)

# What is stored in the space, under the empty name, and what each token has added to it.
usage = _in_space(
    "usage",
    Column("token", Name, nullable=False),
    Column("memories", BigInteger, nullable=False),
    Column("messages", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),  # of text: every wording and every message
    key=("token",),
)

# Who read what, where the space records it. Ids only, never texts.
access_log = _in_space(
    "access_log",
    Column("id", Name, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("token", Name),  # none: the user of the machine
    Column("door", Name, nullable=False),
    Column("verb", Name, nullable=False),
    Column("session_id", Name),
    Column("memories", JsonColumn, nullable=False),
    Column("messages", JsonColumn, nullable=False),
    Index(None, "space", "at"),
    holds="Access",
)

sessions = _in_space(
    "sessions",
    Column("id", Name, nullable=False),
    Column("name", Text),
    Column("client", Text),
    Column("directory", Text),
    Column("project", Name),
    Column("tier", Integer),
    Column("started_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("exit_code", Integer),
    Column("usage", JsonColumn),  # tokens and cost, as the agent reports them
    Column("person", Name),
    Index(None, "space", "started_at"),
    holds="Session",
)

messages = _in_space(
    "messages",
    Column("id", Name, nullable=False),
    Column("session_id", Name, nullable=False),
    Column("number", Integer, nullable=False),
    Column("role", Name, nullable=False),
    Column("speaker", Text),
    Column("content", Text),
    Column("said_at", UtcTime, nullable=False),
    Column("position", BigInteger, nullable=False),  # in the order of arrival
    Column("off_record", Boolean, nullable=False, server_default=false()),  # never searched or quoted
    UniqueConstraint("space", "session_id", "number"),
    UniqueConstraint("space", "position"),
    Index(None, "space", "speaker"),
    Index(None, "space", "said_at"),
    ForeignKeyConstraint(["space", "session_id"], ["sessions.space", "sessions.id"], ondelete="CASCADE"),
    holds="Message",
)

memories = _in_space(
    "memories",
    Column("id", Name, nullable=False),
    Column("category", Name, nullable=False),
    Column("subject", Name),
    Column("project", Name),
    Column("content", Text, nullable=False),
    Column("summary", Text),
    Column("tags", JsonColumn, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("importance", Integer, nullable=False),
    Column("state", Name, nullable=False),
    Column("waiting_for", Text),
    Column("pinned", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
    Column("origin", Name, nullable=False),
    Column("session_id", Name),
    Column("message_id", Name),
    Column("tier", Integer),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("confirmed_at", UtcTime, nullable=False),
    Column("decayed_weeks", Integer, nullable=False),
    Column("accessed_at", UtcTime),
    Column("accesses", Integer, nullable=False),
    Column("person", Name),
    Column("private", Boolean, nullable=False, server_default=false()),  # seen by that person alone
    Index(None, "space", "subject", "state"),
    Index(None, "space", "confidence", "state"),
    Index(None, "space", "category", "created_at", "id"),
    Index(None, "space", "importance"),
    Index(None, "space", "created_at"),
    Index(None, "space", "state", "updated_at"),
    Index(None, "space", "session_id"),
    holds="Memory",
)

# Where memories stand in briefs and when they fade next, made of memories, links and the profile.
brief_ranks = _in_space(
    "brief_ranks",
    Column("memory_id", Name, nullable=False),
    Column("shown_in", Name),  # its project, empty for none; none: no brief shows it
    Column("rank", Name, nullable=False),  # sorts as briefs take memories
    Column("size", Integer, nullable=False),  # tokens of its line
    Column("subject", Name, nullable=False),  # folded; empty for none
    Column("created_at", UtcTime, nullable=False),  # of the memory
    Column("next_step_at", UtcTime),  # when decay takes the next week off; none: it does not fade
    Index(None, "space", "shown_in", "rank"),
    Index(None, "space", "shown_in", "size"),
    Index(None, "space", "subject", "created_at"),
    Index(None, "space", "next_step_at"),
    _of_memory(),
    key=("memory_id",),
)

# How many memories the briefs of each project could show besides those of none, which have the empty name.
brief_totals = _in_space(
    "brief_totals",
    Column("project", Name, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("changes", BigInteger, nullable=False),  # grows with each change of one of them
    key=("project",),
)

versions = _in_space(
    "versions",
    Column("memory_id", Name, nullable=False),
    Column("number", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("summary", Text),
    Column("origin", Name, nullable=False),
    Column("session_id", Name),
    Column("message_id", Name),
    Column("tier", Integer),
    Column("checksum", Text),  # sha256 of the content, in hex
    Column("created_at", UtcTime, nullable=False),
    Column("person", Name),
    _of_memory(),
    key=("memory_id", "number"),
    holds="Version",
)

# Wordings that were counted as a repetition of a memory; each can be split off again.
repetitions = _in_space(
    "repetitions",
    Column("memory_id", Name, nullable=False),
    Column("number", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("category", Name, nullable=False),
    Column("subject", Name),
    Column("project", Name),
    Column("origin", Name, nullable=False),
    Column("session_id", Name),
    Column("message_id", Name),
    Column("tier", Integer),
    Column("created_at", UtcTime, nullable=False),
    Column("person", Name),
    _of_memory(),
    key=("memory_id", "number"),
    holds="Repetition",
)

# Which characters of which message a memory was taken from. The row outlives its memory, so that deleted
# words are not quoted from the message either; there is no key between them.
citations = _in_space(
    "citations",
    Column("message_id", Name, nullable=False),
    Column("memory_id", Name, nullable=False),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer),  # none: the whole message counts
    Column("reworded", Boolean, nullable=False, server_default=false()),  # found later, not the source itself
    Index(None, "space", "memory_id"),
    key=("message_id", "memory_id", "begins"),
    holds="Citation",
)

links = _in_space(
    "links",
    Column("from_id", Name, nullable=False),
    Column("to_id", Name, nullable=False),
    Column("kind", Name, nullable=False),
    Column("session_id", Name),
    Column("created_at", UtcTime, nullable=False),
    Index(None, "space", "to_id"),
    _of_memory("from_id"),
    _of_memory("to_id"),
    key=("from_id", "to_id", "kind"),
    holds="Link",
)

# Vectors are a cache of texts, and all of them can be made again. One row a part of a long text.
memory_vectors = _in_space(
    "memory_vectors",
    Column("memory_id", Name, nullable=False),
    Column("version", Integer, nullable=False),
    Column("model", Name, nullable=False),
    Column("part", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),  # in the order of writing
    Column("vector", Vector, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    UniqueConstraint("space", "model", "number"),
    _of_memory(),
    key=("memory_id", "model", "part"),
)

message_vectors = _in_space(
    "message_vectors",
    Column("message_id", Name, nullable=False),
    Column("model", Name, nullable=False),
    Column("part", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("vector", Vector, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    UniqueConstraint("space", "model", "number"),
    ForeignKeyConstraint(["space", "message_id"], ["messages.space", "messages.id"], ondelete="CASCADE"),
    key=("message_id", "model", "part"),
)

# What is embedded with which model, and up to where: a number of the journal, and a position of messages.
vector_models = _in_space(
    "vector_models",
    Column("model", Name, nullable=False),
    Column("memories_to", BigInteger, nullable=False),
    Column("messages_to", BigInteger, nullable=False),
    Column("ready", Boolean, nullable=False),
    Column("dimensions", Integer),
    Column("parts", Integer, nullable=False),  # the most that one text has
    Column("mark", Text, nullable=False),  # tells these vectors from earlier ones of the same name
    Column("dropped", BigInteger, nullable=False),  # how many vectors were taken out
    Column("memory_mean", LargeBinary),  # what the sign bits are centred on
    Column("message_mean", LargeBinary),
    Column("calibration", JsonColumn),
    Column("created_at", UtcTime, nullable=False),
    key=("model",),
)

# Sign bits of many vectors in one value, so that a search above some 50,000 need not read the vectors.
vector_blocks = _in_space(
    "vector_blocks",
    Column("model", Name, nullable=False),
    Column("kind", Name, nullable=False),
    Column("block", BigInteger, nullable=False),  # the number of its last vector
    Column("bits", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["space", "model"], ["vector_models.space", "vector_models.model"], ondelete="CASCADE"
    ),
    key=("model", "kind", "block"),
)

receipts = _in_space(
    "receipts",
    Column("id", Name, nullable=False),
    Column("session_id", Name),
    Column("kind", Name, nullable=False),
    Column("query", Text),
    Column("text", Text),  # none once something in it was erased
    Column("sha256", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("left_out", Integer, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Index(None, "space", "session_id", "kind"),
    holds="Receipt",
)

receipt_items = _in_space(
    "receipt_items",
    Column("receipt_id", Name, nullable=False),
    Column("position", Integer, nullable=False),
    Column("memory_id", Name),
    Column("version", Integer),
    Column("message_id", Name),
    Column("score", Float),
    Column("parts", JsonColumn),
    Column("unhelpful_at", UtcTime),  # when somebody said that it did not help with this prompt
    Index(None, "space", "memory_id", "unhelpful_at"),
    Index(None, "space", "message_id"),
    ForeignKeyConstraint(["space", "receipt_id"], ["receipts.space", "receipts.id"], ondelete="CASCADE"),
    key=("receipt_id", "position"),
    holds="ReceiptItem",
)

tombstones = _in_space(
    "tombstones",
    Column("hash", Name, nullable=False),
    Column("reason", Name, nullable=False),
    Column("memory_id", Name),
    Column("category", Name),
    Column("subject", Name),
    Column("content", Text),
    Column("created_at", UtcTime, nullable=False),
    Index(None, "space", "category", "subject"),
    Index(None, "space", "memory_id"),
    key=("hash",),
    holds="Tombstone",
)

events = _in_space(
    "events",
    Column("id", Name, nullable=False),
    Column("level", Name, nullable=False),
    Column("service", Name),
    Column("content", Text, nullable=False),
    Column("session_id", Name),
    Column("created_at", UtcTime, nullable=False),
    Index(None, "space", "created_at"),
    Index(None, "space", "session_id", "created_at"),
    holds="Event",
)

cooldowns = _in_space(
    "cooldowns",
    Column("id", Name, nullable=False),
    Column("action", Name, nullable=False),
    Column("service", Name, nullable=False),
    Column("succeeded", Boolean, nullable=False),
    Column("content", Text),
    Column("session_id", Name),
    Column("created_at", UtcTime, nullable=False),
    Index(None, "space", "service", "action", "created_at"),
    Index(None, "space", "created_at"),
    Index(None, "space", "session_id", "created_at"),
    holds="Attempt",
)

jobs = _in_space(
    "jobs",
    Column("id", Name, nullable=False),
    Column("kind", Name, nullable=False),
    Column("payload", JsonColumn, nullable=False),
    Column("state", Name, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("error", Text),
    Column("due_at", UtcTime, nullable=False),
    Column("leased_until", UtcTime),
    Column("created_at", UtcTime, nullable=False),
    Index(None, "space", "state", "due_at"),
    holds="Job",
)

# Calls of language models, one row each: written before a call, with the most that it can cost, then settled.
spend = _in_space(
    "spend",
    Column("id", Name, nullable=False),
    Column("purpose", Name, nullable=False),
    Column("model", Name, nullable=False),
    Column("input_tokens", Integer, info={"field": "usage.input"}, nullable=False),
    Column("output_tokens", Integer, info={"field": "usage.output"}, nullable=False),
    Column(
        "cached_tokens", Integer, info={"field": "usage.cached"}, nullable=False, server_default="0"
    ),  # of the input ones
    Column("micro_dollars", BigInteger),  # none: the model's price is not known
    Column("outcome", Name, nullable=False, server_default="answered"),
    Column("session_id", Name),
    Column("created_at", UtcTime, nullable=False),
    Index(None, "space", "created_at"),
    Index(None, "space", "session_id"),
    holds="ModelCall",
)

# Every change, in order. Belief and labels only, never wordings: those stand in `versions` alone.
journal = _in_space(
    "journal",
    Column("seq", BigInteger, nullable=False),
    Column("action", Name, nullable=False),
    Column("memory_id", Name),
    Column("origin", Name, nullable=False),
    Column("session_id", Name),
    Column("before", JsonColumn),
    Column("after", JsonColumn),
    Column("note", Text),
    Column("judged", Text),  # which model judged, what and how surely
    Column("created_at", UtcTime, nullable=False),
    Column("ordered_at", UtcTime),  # of an entry of another store: its place among the changes of both
    Column("person", Name),
    Index(None, "space", "memory_id", "seq"),
    Index(None, "space", "session_id", "seq"),
    key=("seq",),
    holds="Entry",
)

# A directory on some machine that shows the space and is read back. It never leaves with an archive.
directories = _in_space(
    "directories",
    Column("path", Text, nullable=False),
    Column("layout", Name, nullable=False),
    Column("index_hash", Text),  # of the index as it was last written
    Column("asks", Text),  # what a person has to decide before anything else is done
    Column("refused", JsonColumn, nullable=False),  # files that can't be taken: path to [state, reason]
    Column("bound_at", UtcTime, nullable=False),
    Column("agreed_at", UtcTime),
    key=(),
    holds="Bound",
)

# Where a memory stands as a file, in a bound directory or in name only. The row outlives its memory until
# the file is gone as well, so there is no key between them.
files = _in_space(
    "files",
    Column("path", Name, nullable=False),
    Column("memory_id", Name),  # none: a file that says nothing
    Column("given", Text),  # its text, where it is not what we would write
    Column("mark", Text),  # of the memory that the text was made of
    Column("hash", Text),  # of the bytes on disk when both sides last agreed; none: never there
    Column("stat", Text),  # what the file looked like then, for a quick check
    Index(None, "space", "memory_id"),
    key=("path",),
    holds="FileRow",
)

# Answers already given under an idempotency key.
calls = _in_space(
    "calls",
    Column("key", Name, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("outcome", JsonColumn, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    key=("key",),
)
