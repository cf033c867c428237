"""Where memories are kept: SQLAlchemy Core on SQLite and PostgreSQL, one schema, one set of queries."""
