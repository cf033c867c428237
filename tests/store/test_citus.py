"""A real Citus cluster: its tables are distributed, upgraded and looked at, and every verb works on it.

`make citus` runs these with the rest of the store's tests; `HOLDFAST_TEST_CITUS` names the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, NullPool, create_engine, make_url, text

from holdfast import Memories
from holdfast.app.checkup import checkup
from holdfast.app.wiring import distribute, open_store
from holdfast.app.wiring import migrate as migrate_store
from holdfast.engine.administration import Administration
from holdfast.engine.backup import backup_lines
from holdfast.engine.spaces import create_space
from holdfast.errors import Invalid, Unavailable
from holdfast.store import citus, migrate, postgres
from holdfast.store.schema import metadata
from holdfast.testing import FixedClock
from tests.citus import ROLE, SHARDS, CitusDatabases, grant
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement
from tests.store.full_space import fill
from tests.store.make_fixture import load
from tests.store.some_vectors import Hashing
from tests.store.test_killed_migrations import BETWEEN, FIRST, with_the_fault_loops
from tests.store.test_row_security import INSIDE, WORDS
from tests.store.test_searchable_messages import older_server

TABLES = sorted([*INSIDE, *WORDS])


@pytest.fixture
def citus_url(citus_databases: CitusDatabases) -> Iterator[str]:
    """A distributed database without rows, for the service's role."""
    url = citus_databases.take()
    yield url
    citus_databases.give_back(url)


@pytest.fixture
def owner_url(citus_databases: CitusDatabases) -> Iterator[str]:
    """A database without tables on all nodes of the cluster, for a superuser."""
    url = citus_databases.take_bare()
    yield url
    citus_databases.give_back_bare(url)


@pytest.fixture
def owner(owner_url: str) -> Iterator[Engine]:
    engine = create_engine(make_url(owner_url).set(drivername="postgresql+psycopg"), poolclass=NullPool)
    yield engine
    engine.dispose()


def as_role(url: str, role: str = ROLE) -> str:
    return make_url(url).set(username=role).render_as_string(hide_password=False)


def all_rows(engine: Engine) -> dict[str, list[str]]:
    with engine.connect() as connection:
        names = [*citus_tables(connection), "spaces", "tokens"]
        return {
            name: sorted(map(repr, connection.execute(text(f'SELECT * FROM "{name}"')))) for name in names
        }


def citus_tables(connection: Connection, *, spread: bool | None = None) -> list[str]:
    """The tables with a space, or of them those that are on the workers or are not."""
    found = set(connection.execute(citus._SPREAD).scalars()), set(connection.execute(citus._LEFT).scalars())
    return sorted(found[0] | found[1] if spread is None else found[0] if spread else found[1])


def keys(engine: Engine) -> set[tuple[str, str]]:
    with engine.connect() as connection:
        rows = connection.execute(citus._KEYS, {"tables": TABLES}).all()
    return {(row[0], row[2]) for row in rows}


def keys_of_head() -> set[tuple[str, str]]:
    """The foreign keys of this release, as the server words them."""
    found = set()
    for table in metadata.sorted_tables:
        for key in table.foreign_key_constraints:
            ours = ", ".join(each.parent.name for each in key.elements)
            theirs = ", ".join(each.column.name for each in key.elements)
            to = f"{key.referred_table.name}({theirs})"
            found.add((table.name, f"FOREIGN KEY ({ours}) REFERENCES {to} ON DELETE CASCADE"))
    for name, many in (("memory", "memories"), ("message", "messages")):
        to = f"{many}(space, id)"
        found.add((f"{name}_words", f"FOREIGN KEY (space, {name}_id) REFERENCES {to} ON DELETE CASCADE"))
    return found


def kept_here(engine: Engine) -> int:
    """Bytes of rows that this node still has of the tables that are on the workers."""
    with engine.connect() as connection:
        names = citus_tables(connection, spread=True)
        sizes = (
            connection.execute(text("SELECT pg_relation_size(CAST(:name AS regclass))"), {"name": name})
            for name in names
        )
        return sum(size.scalar_one() for size in sizes)


def row_security(engine: Engine) -> set[str]:
    """What the shards of all tables on the workers say of row-level security."""
    query = text(
        "SELECT DISTINCT result FROM pg_dist_partition CROSS JOIN LATERAL "
        "run_command_on_shards(logicalrelid, "
        "'SELECT relrowsecurity AND NOT relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy WHERE "
        "polrelid = pg_class.oid) FROM pg_class WHERE oid = ''%s''::regclass') WHERE partmethod = 'h'"
    )
    with engine.connect() as connection:
        return set(connection.execute(query).scalars())


def dying_at(sign: str, owner: Engine) -> Callable[[Connection, str], None]:
    """As `citus._run`, but the server's process is ended before the statement with that sign."""
    run = citus._run

    def dying(connection: Connection, statement: str) -> None:
        if sign in statement:
            with owner.begin() as other:
                pid = {"pid": connection.connection.driver_connection.info.backend_pid}  # type: ignore[union-attr]
                other.execute(text("SELECT pg_terminate_backend(:pid)"), pid)
        run(connection, statement)

    return dying


# ----------------------------------------------------------------------------------------------------- verbs


@requirement("scale.citus")
def test_every_verb_works_on_a_cluster_behind_row_level_security(citus_url: str, clock: FixedClock) -> None:
    fill(citus_url)
    store = open_store(citus_url)
    create_space("other", store=store, clock=clock)
    other = Memories.of(store, "other", clock=clock, embedder=Hashing())
    other.remember("The router stands in the cellar", subject="router")
    other.say("s1", "user", "Where did I put the marzipan?")
    other.tend()

    found = other.recall("router cellar").memories
    brief = other.speaking_as("assistant", session="s1").brief()
    archive = list(other.export())
    [again] = other.import_archive(archive)
    erased = other.erase(found[0].memory.id)

    assert [hit.memory.subject for hit in found] == ["router"]
    assert "The router stands in the cellar" in brief.text
    assert again.known == 1
    assert len(erased.memories) == 1
    assert Memories.of(store, "default").find().total > 2
    assert sum('"table":"memories"' in line for line in backup_lines(store)) > 2
    Administration(store).delete_space("other")
    assert [space.name for space in store.spaces()] == ["default"]
    store.close()


def test_a_backup_fails_when_the_workers_do_not_know_the_space(
    citus_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(citus_url)
    monkeypatch.setattr(postgres, "_CITUS", text("SELECT false"))
    store = open_store(citus_url)

    with pytest.raises(Unavailable, match="row-level security hides the rows"):
        list(backup_lines(store))

    store.close()


# ----------------------------------------------------------------------------------------------- distributing


@requirement("scale.citus")
def test_a_filled_database_is_distributed_with_all_that_is_in_it_while_a_service_has_it_open(
    owner_url: str, owner: Engine
) -> None:
    migrate_store(owner_url)
    fill(owner_url)
    grant(owner_url)
    store = open_store(as_role(owner_url))
    memories = Memories.of(store, "default")
    asked = memories.find().total
    before, had = all_rows(owner), keys(owner)

    distributed = distribute(owner_url, SHARDS)
    again = distribute(owner_url)

    with owner.connect() as connection:
        left, parts = citus_tables(connection, spread=False), citus.shards(connection)
    assert sorted(distributed) == TABLES
    assert (again, left, parts) == ([], [], SHARDS)
    assert all_rows(owner) == before
    assert keys(owner) == had
    assert kept_here(owner) == 0
    assert row_security(owner) == {"t"}
    assert memories.find().total == asked
    memories.remember("Written after the tables were moved", subject="later")
    assert [hit.memory.subject for hit in memories.recall("written tables moved").memories] == ["later"]
    with store.read("default") as tx:
        assert tx.integrity.damage().words == 0
    store.close()


@requirement("scale.citus")
def test_an_owner_without_special_rights_distributes_every_row_and_others_are_refused(
    owner_url: str, owner: Engine
) -> None:
    name = make_url(owner_url).database
    with owner.begin() as connection:
        if not connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = 'holdfast_owner'")).scalar():
            connection.execute(text("CREATE ROLE holdfast_owner LOGIN NOSUPERUSER NOBYPASSRLS"))
        connection.execute(text(f"ALTER DATABASE {name} OWNER TO holdfast_owner"))
    mine = as_role(owner_url, "holdfast_owner")
    migrate_store(mine)
    fill(mine)
    grant(owner_url)
    before = all_rows(owner)

    with pytest.raises(
        Unavailable, match="only the owner of the tables, holdfast_owner, can distribute them"
    ):
        distribute(as_role(owner_url))
    distribute(mine, SHARDS)

    assert all_rows(owner) == before
    assert kept_here(owner) == 0
    assert row_security(owner) == {"t"}
    with Memories.open(mine) as memories:
        assert memories.find().total > 2
    assert any("or owns the tables" in finding.says for finding in checkup(mine, None).findings)


@requirement("scale.citus")
def test_where_distributing_breaks_off_nothing_is_changed_and_the_next_run_does_all_of_it(
    owner_url: str, owner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate_store(owner_url)
    fill(owner_url)
    before, had = all_rows(owner), keys(owner)
    for sign in ("'journal'", "truncate_local", "links ADD CONSTRAINT"):
        with monkeypatch.context() as patched:
            patched.setattr(citus, "_run", dying_at(sign, owner))
            with pytest.raises(Unavailable):
                distribute(owner_url, SHARDS)
        with owner.connect() as connection:
            assert citus_tables(connection, spread=True) == []
    assert (all_rows(owner), keys(owner)) == (before, had)

    distribute(owner_url, SHARDS)

    assert (all_rows(owner), keys(owner)) == (before, had)
    assert row_security(owner) == {"t"}


# -------------------------------------------------------------------------------------------------- upgrades


@requirement("scale.citus")
@pytest.mark.parametrize("revision", [FIRST, *map(with_the_fault_loops, BETWEEN[:-1]), BETWEEN[-1]])
def test_a_database_that_was_distributed_at_any_revision_is_upgraded_and_stays_distributed(
    owner_url: str, owner: Engine, tmp_path: Path, revision: str
) -> None:
    load(revision, tmp_path / "older.db")
    older_server(owner_url, str(tmp_path / "older.db"), revision)
    citus.spread(owner, SHARDS)
    grant(owner_url)
    with owner.connect() as connection:
        spread = citus_tables(connection, spread=True)

    migrate_store(owner_url)

    with owner.connect() as connection:
        found = migrate.revision(connection)
        left = citus_tables(connection, spread=False)
        now = citus_tables(connection, spread=True)
    assert (found, left, now) == (migrate.HEAD, [], TABLES)
    assert "journal" in spread
    assert row_security(owner) == {"t"}
    assert keys(owner) == keys_of_head()
    grant(owner_url)  # of the new tables
    with Memories.open(as_role(owner_url)) as memories:
        contents = {memory.id: memory.content for memory in memories.find().memories}
        assert contents["Id000002"] == "Ada likes green tea without milk 茶 🫖"
        assert memories.find().total == 3
        assert memories.why("Id000002").versions
        assert "green tea" in memories.brief().text
        with memories.store.read("default") as tx:
            assert tx.words.matching(["tea"], 9) == ["Id000002"]
            assert tx.integrity.damage().texts == ()
        memories.remember("Written after the upgrade", subject="later")


@requirement("scale.citus")
def test_a_table_that_was_taken_back_is_told_and_distributed_again(owner_url: str, owner: Engine) -> None:
    distribute(owner_url, SHARDS)
    with owner.begin() as connection:
        connection.execute(text("ALTER TABLE growth DROP CONSTRAINT fk_growth_space"))
        connection.execute(text("SELECT undistribute_table('growth')"))

    told = checkup(owner_url, None)
    distributed = distribute(owner_url)

    assert "not distributed: growth" in [finding.says for finding in told.findings]
    assert distributed == ["growth"]


# -------------------------------------------------------------------------------------- what is told


def test_what_can_not_be_distributed_is_told_what_it_takes(
    postgres_url: str, owner_url: str, owner: Engine, tmp_path: Path
) -> None:
    with pytest.raises(Unavailable, match="has no Citus extension: install it on every node"):
        distribute(postgres_url)
    with pytest.raises(Invalid, match="a SQLite file can't be distributed"):
        distribute(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()
    distribute(owner_url, SHARDS)
    with pytest.raises(Invalid, match=f"the tables have {SHARDS} shards already"):
        distribute(owner_url, SHARDS + 1)


@requirement("scale.citus")
def test_doctor_shows_the_nodes_the_shards_and_where_the_largest_spaces_are(
    citus_url: str, clock: FixedClock
) -> None:
    fill(citus_url)
    store = open_store(citus_url)
    for number in range(7):
        create_space(f"space-{number}", store=store, clock=clock)
    store.close()
    shell = Shell(citus_url, clock)

    said = shell("doctor").stdout
    seen = shell.json("doctor")["database"]["cluster"]

    assert f"citus  {SHARDS} shards a table, 3 nodes" in said
    assert said.count(": coordinator, no spaces") == 1
    assert "largest  default: 3 memories, on 127.0.0.1:" in said
    assert len(seen["places"]) == 8
    assert set(seen["places"].values()) < {node["name"] for node in seen["nodes"]}
    assert "not distributed" not in said
