"""Memories cite the words that they were taken from, repetitions keep their wording, versions get checksums.

Messages can be off the record.
"""

import hashlib

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import Name, UtcTime

revision = "0005"
down_revision = "0004"

_CITED = (
    "INSERT INTO citations (space, message_id, memory_id, begins) "
    "SELECT space, message_id, id, 0 FROM memories WHERE message_id IS NOT NULL UNION "
    "SELECT space, message_id, memory_id, 0 FROM versions WHERE message_id IS NOT NULL"
)


def upgrade() -> None:
    op.add_column(
        "messages", sa.Column("off_record", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("versions", sa.Column("checksum", sa.Text(), nullable=True))
    _create_tables()
    if op.get_bind().dialect.name == "postgresql":
        _fill_postgres()
    else:
        driver = op.get_bind().connection.driver_connection
        assert driver is not None
        driver.create_function("holdfast_sha256", 1, _sha256, deterministic=True)
        op.execute("UPDATE versions SET checksum = holdfast_sha256(content)")
        op.execute(_CITED)


def _create_tables() -> None:
    op.create_table(
        "repetitions",
        sa.Column("space", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("category", Name, nullable=False),
        sa.Column("subject", Name, nullable=True),
        sa.Column("project", Name, nullable=True),
        sa.Column("origin", Name, nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("message_id", Name, nullable=True),
        sa.Column("tier", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.ForeignKeyConstraint(
            ["space", "memory_id"],
            ["memories.space", "memories.id"],
            name="fk_repetitions_space_memory_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space", "memory_id", "number", name="pk_repetitions"),
    )
    op.create_table(
        "citations",
        sa.Column("space", Name, nullable=False),
        sa.Column("message_id", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=False),
        sa.Column("begins", sa.Integer(), nullable=False),
        sa.Column("ends", sa.Integer(), nullable=True),
        sa.Column("reworded", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_citations_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "message_id", "memory_id", "begins", name="pk_citations"),
    )
    op.create_index("ix_citations_space_memory_id", "citations", ["space", "memory_id"])


def _fill_postgres() -> None:
    """Row security would hide all rows from this role, even as the owner; it is put back in the same step."""
    for table in ("memories", "versions"):
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE versions SET checksum = encode(sha256(convert_to(content, 'UTF8')), 'hex')")
    op.execute(_CITED)
    mine = "space = current_setting('holdfast.space', true)"
    for table in ("repetitions", "citations"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY of_space ON {table} USING ({mine}) WITH CHECK ({mine})")
    for table in ("memories", "versions", "repetitions", "citations"):
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _sha256(content: str | None) -> str | None:
    return None if content is None else hashlib.sha256(content.encode()).hexdigest()
