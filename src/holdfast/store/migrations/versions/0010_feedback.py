"""A line of a receipt can be marked as not helpful; the marks of a memory are found by the index."""

import sqlalchemy as sa
from alembic import op

from holdfast.store.types import UtcTime

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("receipt_items", sa.Column("unhelpful_at", UtcTime))
    op.drop_index("ix_receipt_items_space_memory_id", table_name="receipt_items")
    op.create_index(
        "ix_receipt_items_space_memory_id_unhelpful_at",
        "receipt_items",
        ["space", "memory_id", "unhelpful_at"],
    )
