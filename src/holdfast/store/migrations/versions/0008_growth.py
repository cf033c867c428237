"""The days on which memories came and went are kept as sums; the upkeep makes them."""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import Name

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("heads", sa.Column("counted_to", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "growth",
        sa.Column("space", Name, nullable=False),
        sa.Column("day", Name, nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["space"], ["spaces.name"], name="fk_growth_space", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("space", "day", name="pk_growth"),
    )
    if op.get_bind().dialect.name == "postgresql":
        mine = "space = current_setting('holdfast.space', true)"
        op.execute("ALTER TABLE growth ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE growth FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY of_space ON growth USING ({mine}) WITH CHECK ({mine})")
