"""The role that the guide on PostgreSQL makes for services."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import create_engine, make_url, text

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "postgres.md"


@contextmanager
def service_role(owner_url: str) -> Iterator[str]:
    """The URL of the same database for such a role, which is dropped afterwards."""
    role = f"holdfast_service_{uuid4().hex[:8]}"
    found = re.search(r"^ *```sql\n *(CREATE ROLE.*?)^ *```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    owner = create_engine(make_url(owner_url).set(drivername="postgresql+psycopg"))
    with owner.begin() as connection:
        for statement in found.group(1).replace("holdfast_service", role).split(";\n"):
            if statement.strip():
                connection.execute(text(statement))
    yield make_url(owner_url).set(username=role).render_as_string(hide_password=False)
    with owner.begin() as connection:
        connection.execute(text(f"DROP OWNED BY {role}"))
        connection.execute(text(f"DROP ROLE {role}"))
    owner.dispose()
