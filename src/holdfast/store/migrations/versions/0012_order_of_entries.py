"""The journal keeps the place of entries that came from another store."""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import UtcTime

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("journal", sa.Column("ordered_at", UtcTime(), nullable=True))
