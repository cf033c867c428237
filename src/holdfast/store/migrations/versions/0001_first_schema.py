"""The first schema: spaces, sessions, memories with their history, and what agents leave behind."""
# budget: a revision is a list of statements, frozen once it has landed.

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import JsonColumn, Name, UtcTime

revision = "0001"
down_revision = None

SQLITE_WORDS = (
    # FTS5 wants integers; VACUUM may renumber hidden row ids, so the numbers are a column of their own.
    """CREATE TABLE memory_docs (
        doc INTEGER PRIMARY KEY, space TEXT NOT NULL, memory_id TEXT NOT NULL,
        UNIQUE (space, memory_id),
        FOREIGN KEY (space) REFERENCES spaces (name) ON DELETE CASCADE)""",
    # The ascii tokenizer splits at spaces only: the words are ready when they arrive.
    "CREATE VIRTUAL TABLE memory_words USING fts5 (words, tokenize = 'ascii')",
    "CREATE VIRTUAL TABLE memory_terms USING fts5vocab ('memory_words', 'row')",
)
POSTGRES_WORDS = (
    """CREATE TABLE memory_words (
        space text COLLATE "C" NOT NULL, memory_id text COLLATE "C" NOT NULL, words tsvector NOT NULL,
        PRIMARY KEY (space, memory_id),
        FOREIGN KEY (space, memory_id) REFERENCES memories (space, id) ON DELETE CASCADE)""",
    "CREATE INDEX ix_memory_words_words ON memory_words USING gin (words)",
)
# PostgreSQL lets a plain view be written through; one over a WITH is for reading only.
OPERATIONAL_VIEW = """
    CREATE VIEW operational_memories AS
    WITH believed AS (SELECT * FROM memories WHERE state IN ('active', 'inactive'))
    SELECT space, id, subject AS service, category, content AS observation, confidence,
           CASE WHEN state = 'active' THEN 1 ELSE 0 END AS active,
           created_at, updated_at, session_id, tier
    FROM believed
"""


# budget: as above.
def upgrade() -> None:
    op.create_table(
        "spaces",
        sa.Column("name", Name, nullable=False),
        sa.Column("profile", Name, nullable=False),
        sa.Column("profile_text", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("has_work", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_spaces"),
    )
    op.create_table(
        "calls",
        sa.Column("space", Name, nullable=False),
        sa.Column("key", Name, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("outcome", JsonColumn, nullable=False),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_calls_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "key", name="pk_calls"),
    )
    op.create_table(
        "cooldowns",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("action", Name, nullable=False),
        sa.Column("service", Name, nullable=False),
        sa.Column("succeeded", sa.Boolean(), nullable=False),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_cooldowns_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_cooldowns"),
    )
    op.create_index(
        "ix_cooldowns_space_service_action_created_at",
        "cooldowns",
        ["space", "service", "action", "created_at"],
        unique=False,
    )
    op.create_table(
        "events",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("level", Name, nullable=False),
        sa.Column("service", Name, nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_events_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_events"),
    )
    op.create_index("ix_events_space_created_at", "events", ["space", "created_at"], unique=False)
    op.create_table(
        "heads",
        sa.Column("space", Name, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_heads_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", name="pk_heads"),
    )
    op.create_table(
        "jobs",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("kind", Name, nullable=False),
        sa.Column("payload", JsonColumn, nullable=False),
        sa.Column("state", Name, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("due_at", UtcTime, nullable=False),
        sa.Column("leased_until", UtcTime, nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_jobs_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_space_state_due_at", "jobs", ["space", "state", "due_at"], unique=False)
    op.create_table(
        "journal",
        sa.Column("space", Name, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("action", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=True),
        sa.Column("origin", Name, nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("before", JsonColumn, nullable=True),
        sa.Column("after", JsonColumn, nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_journal_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "seq", name="pk_journal"),
    )
    op.create_index("ix_journal_space_memory_id_seq", "journal", ["space", "memory_id", "seq"], unique=False)
    op.create_index(
        "ix_journal_space_session_id_seq", "journal", ["space", "session_id", "seq"], unique=False
    )
    op.create_table(
        "memories",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("category", Name, nullable=False),
        sa.Column("subject", Name, nullable=True),
        sa.Column("project", Name, nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("tags", JsonColumn, nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("state", Name, nullable=False),
        sa.Column("waiting_for", sa.Text(), nullable=True),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("origin", Name, nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("message_id", Name, nullable=True),
        sa.Column("tier", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.Column("updated_at", UtcTime, nullable=False),
        sa.Column("confirmed_at", UtcTime, nullable=False),
        sa.Column("decayed_weeks", sa.Integer(), nullable=False),
        sa.Column("accessed_at", UtcTime, nullable=True),
        sa.Column("accesses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_memories_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_memories"),
    )
    op.create_index(
        "ix_memories_space_category_created_at_id",
        "memories",
        ["space", "category", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "ix_memories_space_confidence_state", "memories", ["space", "confidence", "state"], unique=False
    )
    op.create_index("ix_memories_space_created_at", "memories", ["space", "created_at"], unique=False)
    op.create_index("ix_memories_space_importance", "memories", ["space", "importance"], unique=False)
    op.create_index("ix_memories_space_session_id", "memories", ["space", "session_id"], unique=False)
    op.create_index(
        "ix_memories_space_state_updated_at", "memories", ["space", "state", "updated_at"], unique=False
    )
    op.create_index(
        "ix_memories_space_subject_state", "memories", ["space", "subject", "state"], unique=False
    )
    op.create_table(
        "receipts",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("kind", Name, nullable=False),
        sa.Column("query", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_receipts_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_receipts"),
    )
    op.create_index(
        "ix_receipts_space_session_id_kind", "receipts", ["space", "session_id", "kind"], unique=False
    )
    op.create_table(
        "sessions",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("client", sa.Text(), nullable=True),
        sa.Column("directory", sa.Text(), nullable=True),
        sa.Column("project", Name, nullable=True),
        sa.Column("tier", sa.Integer(), nullable=True),
        sa.Column("started_at", UtcTime, nullable=False),
        sa.Column("ended_at", UtcTime, nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_sessions_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_space_started_at", "sessions", ["space", "started_at"], unique=False)
    op.create_table(
        "spend",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("purpose", Name, nullable=False),
        sa.Column("model", Name, nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_spend_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_spend"),
    )
    op.create_index("ix_spend_space_created_at", "spend", ["space", "created_at"], unique=False)
    op.create_table(
        "tombstones",
        sa.Column("space", Name, nullable=False),
        sa.Column("hash", Name, nullable=False),
        sa.Column("reason", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=True),
        sa.Column("category", Name, nullable=True),
        sa.Column("subject", Name, nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_tombstones_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "hash", name="pk_tombstones"),
    )
    op.create_index(
        "ix_tombstones_space_category_subject", "tombstones", ["space", "category", "subject"], unique=False
    )
    op.create_index("ix_tombstones_space_memory_id", "tombstones", ["space", "memory_id"], unique=False)
    op.create_table(
        "embeddings",
        sa.Column("space", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("model", Name, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(
            ["space", "memory_id"],
            ["memories.space", "memories.id"],
            name="fk_embeddings_space_memory_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space", "memory_id", "version", "model", name="pk_embeddings"),
    )
    op.create_table(
        "links",
        sa.Column("space", Name, nullable=False),
        sa.Column("from_id", Name, nullable=False),
        sa.Column("to_id", Name, nullable=False),
        sa.Column("kind", Name, nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(
            ["space", "from_id"],
            ["memories.space", "memories.id"],
            name="fk_links_space_from_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["space", "to_id"],
            ["memories.space", "memories.id"],
            name="fk_links_space_to_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space", "from_id", "to_id", "kind", name="pk_links"),
    )
    op.create_index("ix_links_space_to_id", "links", ["space", "to_id"], unique=False)
    op.create_table(
        "messages",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("session_id", Name, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("role", Name, nullable=False),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("said_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(
            ["space", "session_id"],
            ["sessions.space", "sessions.id"],
            name="fk_messages_space_session_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space", "id", name="pk_messages"),
        sa.UniqueConstraint("space", "session_id", "number", name="uq_messages_space_session_id_number"),
    )
    op.create_table(
        "receipt_items",
        sa.Column("space", Name, nullable=False),
        sa.Column("receipt_id", Name, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("memory_id", Name, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("parts", JsonColumn, nullable=True),
        sa.ForeignKeyConstraint(
            ["space", "receipt_id"],
            ["receipts.space", "receipts.id"],
            name="fk_receipt_items_space_receipt_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space", "receipt_id", "position", name="pk_receipt_items"),
    )
    op.create_index("ix_receipt_items_space_memory_id", "receipt_items", ["space", "memory_id"], unique=False)
    op.create_table(
        "versions",
        sa.Column("space", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("origin", Name, nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("message_id", Name, nullable=True),
        sa.Column("tier", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(
            ["space", "memory_id"],
            ["memories.space", "memories.id"],
            name="fk_versions_space_memory_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space", "memory_id", "number", name="pk_versions"),
    )
    for statement in POSTGRES_WORDS if op.get_bind().dialect.name == "postgresql" else SQLITE_WORDS:
        op.execute(statement)
    op.execute(OPERATIONAL_VIEW)
