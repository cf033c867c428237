"""What several services on one database share: a count of each space's writes, and who is signed in."""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import JsonColumn, Name, UtcTime

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("heads", sa.Column("writes", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "browsers",
        sa.Column("hash", Name, nullable=False),
        sa.Column("token", Name, nullable=False),
        sa.Column("link", sa.Boolean(), nullable=False),
        sa.Column("notice", JsonColumn),
        sa.Column("until", UtcTime, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_browsers"),
    )
