"""Brings a database to the schema of this release, or says why it can't.

Alembic is imported only when there is something to do: asking for the revision is one plain query.
"""

import logging
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from holdfast.errors import NewerSchema
from holdfast.store.queries import queries_of
from holdfast.store.ranks import RankTable
from holdfast.store.spaces import SpaceTable
from holdfast.store.sqlite import APPLICATION_ID
from holdfast.store.types import DamagedValue
from holdfast.store.usage import UsageTable

#: The newest revision under migrations/versions; a test keeps the two in step.
HEAD = "0013"
_HERE = Path(__file__).parent / "migrations"


def revision(connection: Connection) -> str | None:
    """The revision that the database is at; none for one without our tables."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return str(found) if found is not None else None


def refuse_unknown(found: str | None, where: str) -> None:
    """Raises NewerSchema when `found` comes from a later release than this one, DamagedValue from none."""
    if found is not None and found > HEAD:
        from holdfast.app.installation import install_command

        raise NewerSchema(
            f"{where} was written by a newer Holdfast (schema {found}, this release knows {HEAD}): "
            f"upgrade with `{install_command()}`; nothing was changed"
        )
    if found is not None and not found.isdecimal():
        raise DamagedValue


def upgrade(engine: Engine, to: str = "head") -> None:
    """Runs the missing revisions, all of them or none; ranks and sums are made with the newest tables."""
    from alembic import command
    from alembic.config import Config

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    with engine.connect().execution_options(holdfast_write=True) as connection, connection.begin():
        queries = queries_of(connection)
        config.attributes["connection"] = connection
        with queries.migrating(APPLICATION_ID):
            command.upgrade(config, to)
        for space in SpaceTable(connection).all() if to == "head" else ():
            queries.enter(space.name)
            if not (ranks := RankTable(connection, space)).is_current():
                ranks.rank_all()
            if not (usage := UsageTable(connection, space.name)).is_counted():
                usage.recount()
