"""Who wrote a memory, beside its origin, and whether it is private to that person."""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import Name

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    for table in ("tokens", "sessions", "memories", "versions", "repetitions", "journal"):
        op.add_column(table, sa.Column("person", Name, nullable=True))
    op.add_column("memories", sa.Column("private", sa.Boolean(), nullable=False, server_default=sa.false()))
