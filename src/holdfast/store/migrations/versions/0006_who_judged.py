"""The journal names the model that judged, and how surely."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("journal", sa.Column("judged", sa.Text(), nullable=True))
