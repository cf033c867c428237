"""What a session reported and did is found by an index, and so is what was done lately."""

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for table in ("events", "cooldowns"):
        columns = ["space", "session_id", "created_at"]
        op.create_index(f"ix_{table}_space_session_id_created_at", table, columns)
    op.create_index("ix_cooldowns_space_created_at", "cooldowns", ["space", "created_at"])
