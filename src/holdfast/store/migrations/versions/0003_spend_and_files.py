"""What models cost is counted in whole millionths of a dollar, with what came of each call.

And a memory may be a file: at a path, in a directory that a space is bound to.
"""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import JsonColumn, Name, UtcTime

revision = "0003"
down_revision = "0002"

#: A change of type reads every row, whatever space it is of; an UPDATE would be kept from them.
POSTGRES = (
    "ALTER TABLE spend ALTER COLUMN cost DROP NOT NULL",
    "ALTER TABLE spend ALTER COLUMN cost TYPE bigint USING round(cost * 1000000)",
    "ALTER TABLE spend RENAME COLUMN cost TO micro_dollars",
)


def upgrade() -> None:
    _meter_calls()
    _keep_files()


def _meter_calls() -> None:
    op.add_column("spend", sa.Column("cached_tokens", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("spend", sa.Column("outcome", Name, nullable=False, server_default="answered"))
    if op.get_bind().dialect.name == "postgresql":
        for statement in POSTGRES:
            op.execute(statement)
    else:
        op.add_column("spend", sa.Column("micro_dollars", sa.BigInteger(), nullable=True))
        op.execute("UPDATE spend SET micro_dollars = CAST(round(cost * 1000000) AS INTEGER)")
        with op.batch_alter_table("spend") as spend:
            spend.drop_column("cost")
    op.create_index("ix_spend_space_session_id", "spend", ["space", "session_id"])


def _keep_files() -> None:
    op.create_table(
        "directories",
        sa.Column("space", Name, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("layout", Name, nullable=False),
        sa.Column("index_hash", sa.Text(), nullable=True),
        sa.Column("asks", sa.Text(), nullable=True),
        sa.Column("refused", JsonColumn, nullable=False),
        sa.Column("bound_at", UtcTime, nullable=False),
        sa.Column("agreed_at", UtcTime, nullable=True),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_directories_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", name="pk_directories"),
    )
    op.create_table(
        "files",
        sa.Column("space", Name, nullable=False),
        sa.Column("path", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=True),
        sa.Column("given", sa.Text(), nullable=True),
        sa.Column("mark", sa.Text(), nullable=True),
        sa.Column("hash", sa.Text(), nullable=True),
        sa.Column("stat", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_files_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "path", name="pk_files"),
    )
    op.create_index("ix_files_space_memory_id", "files", ["space", "memory_id"])
    if op.get_bind().dialect.name == "postgresql":
        mine = "space = current_setting('holdfast.space', true)"
        for table in ("directories", "files"):
            op.execute(f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY')
            op.execute(f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY')
            op.execute(f'CREATE POLICY of_space ON "{table}" USING ({mine}) WITH CHECK ({mine})')
