"""The order of briefs and the next step of decay are kept by indexes; `migrate` fills them in."""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import Name, UtcTime

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("heads", sa.Column("ranked_by", sa.Text(), nullable=True))
    _create_tables()
    if op.get_bind().dialect.name == "postgresql":
        mine = "space = current_setting('holdfast.space', true)"
        for table in ("brief_ranks", "brief_totals"):
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(f"CREATE POLICY of_space ON {table} USING ({mine}) WITH CHECK ({mine})")


def _create_tables() -> None:
    op.create_table(
        "brief_ranks",
        sa.Column("space", Name, nullable=False),
        sa.Column("memory_id", Name, nullable=False),
        sa.Column("shown_in", Name, nullable=True),
        sa.Column("rank", Name, nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("subject", Name, nullable=False),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.Column("next_step_at", UtcTime, nullable=True),
        sa.ForeignKeyConstraint(
            ["space", "memory_id"],
            ["memories.space", "memories.id"],
            name="fk_brief_ranks_space_memory_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space", "memory_id", name="pk_brief_ranks"),
    )
    for columns in (
        ["space", "shown_in", "rank"],
        ["space", "shown_in", "size"],
        ["space", "subject", "created_at"],
        ["space", "next_step_at"],
    ):
        op.create_index(f"ix_brief_ranks_{'_'.join(columns)}", "brief_ranks", columns)
    op.create_table(
        "brief_totals",
        sa.Column("space", Name, nullable=False),
        sa.Column("project", Name, nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_brief_totals_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "project", name="pk_brief_totals"),
    )
