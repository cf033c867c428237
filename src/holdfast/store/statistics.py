"""What SQLite's planner is told about our tables: typical figures, written once when the tables are made.

Without figures it takes any index that saves a sort, and reads a whole space to find one subject. Figures
gathered from the rows (ANALYZE) would have to be gathered again and again, and may keep samples of texts.
"""

from sqlalchemy import Connection, text

#: By table and index: rows in all, then rows for each value of the index's first column, its first two ...
_TYPICAL = {
    "memories": {
        "sqlite_autoindex_memories_1": "100000 10000 1",
        "ix_memories_space_subject_state": "100000 10000 20 15",
        "ix_memories_space_confidence_state": "100000 10000 500 450",
        "ix_memories_space_category_created_at_id": "100000 10000 2000 1 1",
        "ix_memories_space_importance": "100000 10000 2000",
        "ix_memories_space_created_at": "100000 10000 1",
        "ix_memories_space_state_updated_at": "100000 10000 9000 1",
        "ix_memories_space_session_id": "100000 10000 20",
    },
}


def tell_planner(connection: Connection) -> None:
    """Writes the figures in place of those that are there."""
    connection.execute(text("ANALYZE sqlite_master"))  # makes the table of figures, and gathers none
    for table, indexes in _TYPICAL.items():
        connection.execute(text("DELETE FROM sqlite_stat1 WHERE tbl = :table"), {"table": table})
        for index, figures in indexes.items():
            connection.execute(
                text("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:table, :index, :figures)"),
                {"table": table, "index": index, "figures": figures},
            )
