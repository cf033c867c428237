"""Tokens expire, are rotated and have limits; spaces have quotas, sums of what they hold, and an access log.

`migrate` makes the sums.
"""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import JsonColumn, Name, UtcTime

revision = "0009"
down_revision = "0008"

_QUOTA = ("max_memories", "max_messages", "max_bytes")


def upgrade() -> None:
    for table in ("spaces", "tokens"):
        for name in _QUOTA:
            op.add_column(table, sa.Column(name, sa.BigInteger(), nullable=True))
    op.add_column("spaces", sa.Column("access_log", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("spaces", sa.Column("access_log_days", sa.Integer(), nullable=False, server_default="90"))
    for name in ("expires_at", "rotated_at", "old_until"):
        op.add_column("tokens", sa.Column(name, UtcTime, nullable=True))
    op.add_column("tokens", sa.Column("old_hash", Name, nullable=True))
    op.add_column("tokens", sa.Column("max_requests", sa.Integer(), nullable=True))
    op.create_index("ix_tokens_old_hash", "tokens", ["old_hash"])
    _create_tables()
    if op.get_bind().dialect.name == "postgresql":
        mine = "space = current_setting('holdfast.space', true)"
        for table in ("usage", "access_log"):
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(f"CREATE POLICY of_space ON {table} USING ({mine}) WITH CHECK ({mine})")


def _create_tables() -> None:
    op.create_table(
        "usage",
        sa.Column("space", Name, nullable=False),
        sa.Column("token", Name, nullable=False),
        sa.Column("memories", sa.BigInteger(), nullable=False),
        sa.Column("messages", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_usage_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "token", name="pk_usage"),
    )
    op.create_table(
        "access_log",
        sa.Column("space", Name, nullable=False),
        sa.Column("id", Name, nullable=False),
        sa.Column("at", UtcTime, nullable=False),
        sa.Column("token", Name, nullable=True),
        sa.Column("door", Name, nullable=False),
        sa.Column("verb", Name, nullable=False),
        sa.Column("session_id", Name, nullable=True),
        sa.Column("memories", JsonColumn, nullable=False),
        sa.Column("messages", JsonColumn, nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_access_log_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "id", name="pk_access_log"),
    )
    op.create_index("ix_access_log_space_at", "access_log", ["space", "at"])
