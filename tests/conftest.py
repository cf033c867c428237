"""Fixtures that all tests share: a clean environment, a clock that stands still, fresh databases."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pytest
from coverage import Coverage
from httpx._transports import default as httpx_transports
from httpx2._transports import default as httpx2_transports
from hypothesis import is_hypothesis_test, settings
from sqlalchemy import Connection, Engine, event, make_url
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

import holdfast
from holdfast.models import own_models
from holdfast.testing import FixedClock
from tests.citus import CITUS_FROM_ENVIRONMENT, CitusDatabases
from tests.postgres import (
    FAST,
    REPLICATED,
    SERVER_FROM_ENVIRONMENT,
    Databases,
    OwnServer,
    Reused,
    StreamingReplica,
    memory_disk,
)

TESTS = Path(__file__).parent
ON_BOTH = ("engine", "store", "scenarios")  # folders
UNCOVERED = ("faults", "quality", "bench")  # folders whose tests, like slow ones, repeat what others cover
ON_CITUS = ("store", "scenarios")
MARK_OF = {"sqlite": "sqlite", "postgresql": "postgres", "citus": "citus"}
TESTS_ON = pytest.StashKey[Counter[str]]()
COVERED = pytest.StashKey[set[str]]()
WITHOUT_POSTGRES = pytest.StashKey[str]()

# A busy machine is no failure; slowness is measured in bench/, and a hang ends by the timeout.
settings.register_profile(
    "holdfast", deadline=None, max_examples=15, derandomize=os.environ.get("CI") == "true"
)
settings.register_profile("faults", settings.get_profile("holdfast"), max_examples=1_000)
settings.load_profile("holdfast")


# What a shell or nohup starts in the background ignores these signals, and so would the programs of a test.
for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, signal.SIG_DFL)


# Without its bytecode kept, each of the some hundred programs that the tests start compiles the product anew:
# a third of a command's time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A commit is synced to the disk, and a test of a few commits waits for it as long as it works. What a killed
# process has written is in memory as safe as on a disk.
if memory := memory_disk():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))

# The tests keep every core busy already, and two threads that wait for each other take twice the time.
own_models.THREADS = 1

# A test opens a store of its own, and would compile all its statements anew: a third of its time.
COMPILED: LRUCache[Any, Any] = LRUCache(5_000)
for each in (SQLiteDialect_pysqlite, PGDialect_psycopg):
    each.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
    each.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]


@event.listens_for(Engine, "engine_connect")
def share_compiled_statements(connection: Connection) -> None:
    connection.engine._compiled_cache = COMPILED


# So would each of its HTTP clients read the certificates of all the authorities there are: 30 ms.
for transports in (httpx_transports, httpx2_transports):
    transports.create_ssl_context = cache(transports.create_ssl_context)  # type: ignore[attr-defined]


class NewDatabase(Protocol):
    """Makes databases of one kind for one test; each is gone after it."""

    def __call__(self, *, migrated: bool = True) -> str:
        """The URL of a new database without a row in it; unmigrated, without a table either."""


# -------------------------------------------------------------------------------------- environment and time


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the user reaches a test, and no test reaches the user's own store."""
    clean(tmp_path, monkeypatch)


def clean(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings, whose home lies in `folder`; for what several tests share too."""
    for name in list(os.environ):
        if name == "HOLDFAST_KEY_FILE":  # the whole run is on encrypted files
            continue
        if name.startswith("HOLDFAST_") or name == "CLAUDEOPS_MEMORY_BUDGET":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "none")  # by words, unless a test asks for meaning
    home = folder / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("DATA", "CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    # As in an active environment, so that commands are called by their name.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home / name.lower()))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a project, and the directory that commands are run in."""
    root = tmp_path / "website"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def no_umask() -> Iterator[None]:
    """The least careful setting: what a file may be opened for is as the product says."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def clock() -> FixedClock:
    """Stands at 2026-03-01T12:00:00Z until a test moves it."""
    return FixedClock()


# ------------------------------------------------------------------------------------------------- databases


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Elsewhere than in the folders that run on both, tests without a mark that asks for it run on SQLite."""
    if "dialect" not in metafunc.fixturenames:
        return
    marked = any(map(metafunc.definition.get_closest_marker, ("requirement", "smoke")))
    names = ["sqlite", "postgresql"] if marked or _on_both(metafunc.definition) else ["sqlite"]
    if CITUS_FROM_ENVIRONMENT and _on_citus(metafunc.definition):
        names.append("citus")
    params = [pytest.param(name, marks=getattr(pytest.mark, MARK_OF[name])) for name in names]
    metafunc.parametrize("dialect", params, indirect=True)


@pytest.fixture
def dialect(request: pytest.FixtureRequest) -> str:
    """The database that this run of the test is on: "sqlite", "postgresql" or "citus"."""
    return str(request.param)


@pytest.fixture
def database_url(new_database: NewDatabase) -> str:
    """A database with the current schema and no rows: the test runs once on SQLite and once on PostgreSQL."""
    return new_database()


@pytest.fixture
def empty_database_url(new_database: NewDatabase) -> str:
    """A database without tables (on SQLite: no file yet), on SQLite and on PostgreSQL."""
    return new_database(migrated=False)


@pytest.fixture
def new_database(dialect: str, request: pytest.FixtureRequest) -> NewDatabase:
    """For a test that needs several databases of the same kind."""
    made: NewDatabase = request.getfixturevalue(f"new_{dialect}_database")
    return made


@pytest.fixture
def new_sqlite_database(tmp_path: Path, request: pytest.FixtureRequest) -> NewDatabase:
    made = 0

    def new(*, migrated: bool = True) -> str:
        nonlocal made
        made += 1
        file = tmp_path / f"holdfast-{made}.db"
        if migrated:
            shutil.copyfile(request.getfixturevalue("sqlite_template"), file)
        return f"sqlite:///{file}"

    return new


@pytest.fixture
def new_postgresql_database(
    postgres_databases: Databases, request: pytest.FixtureRequest
) -> Iterator[NewDatabase]:
    made: list[str] = []
    taken: list[str] = []

    def new(*, migrated: bool = True) -> str:
        if migrated:
            taken.append(request.getfixturevalue("postgres_reused").take())
            return taken[-1]
        made.append(postgres_databases.create())
        return made[-1]

    yield new
    for url in made:
        postgres_databases.drop(url)
    for url in taken:
        request.getfixturevalue("postgres_reused").give_back(url)


@pytest.fixture
def new_citus_database(citus_databases: CitusDatabases) -> Iterator[NewDatabase]:
    taken: list[str] = []
    made: list[str] = []

    def new(*, migrated: bool = True) -> str:
        if migrated:
            taken.append(citus_databases.take())
            return taken[-1]
        made.append(citus_databases.take_bare())
        return made[-1]

    yield new
    for url in taken:
        citus_databases.give_back(url)
    for url in made:
        citus_databases.give_back_bare(url)


@pytest.fixture
def sqlite_url(new_sqlite_database: NewDatabase) -> str:
    """For a test of what only SQLite does."""
    return new_sqlite_database()


@pytest.fixture
def postgres_url(new_postgresql_database: NewDatabase) -> str:
    """For a test of what only PostgreSQL does."""
    return new_postgresql_database()


@pytest.fixture
def own_postgres() -> Iterator[OwnServer]:
    """A server that this test alone may stop, kill and restart; its databases are empty."""
    server = _server_or_skip()
    yield server
    server.close()


@pytest.fixture(scope="module")
def replicated() -> Iterator[tuple[OwnServer, StreamingReplica]]:
    """A server and a streaming replica of it, for the tests of one file."""
    primary = _server_or_skip(REPLICATED)
    replica = StreamingReplica(primary)
    yield primary, replica
    replica.close()
    primary.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the current schema, made once."""
    from holdfast.app.wiring import migrate
    from holdfast.store.sqlite_driver import connect

    file = tmp_path_factory.mktemp("template") / "template.db"
    migrate(f"sqlite:///{file}")
    connection = connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the file alone is the database
    connection.close()
    return file


@pytest.fixture(scope="session")
def postgres_databases() -> Iterator[Databases]:
    """The server that the tests share: started when the first of them asks for it."""
    if SERVER_FROM_ENVIRONMENT:
        databases = Databases(make_url(SERVER_FROM_ENVIRONMENT), strategy="WAL_LOG")
        yield databases
        databases.close()
        return
    server = _server_or_skip()
    databases = Databases(server.url, strategy="FILE_COPY")  # the quicker one where nothing is synced to disk
    yield databases
    databases.close()
    server.close()


@pytest.fixture(scope="session")
def citus_databases() -> Iterator[CitusDatabases]:
    """On the cluster that `HOLDFAST_TEST_CITUS` names."""
    if not CITUS_FROM_ENVIRONMENT:
        pytest.skip("HOLDFAST_TEST_CITUS is not set: nothing was tried on a Citus cluster")
    databases = CitusDatabases()
    yield databases
    databases.close()


@pytest.fixture(scope="session")
def postgres_template(postgres_databases: Databases) -> Iterator[str]:
    """A database with the current schema, made once and copied."""
    from holdfast.app.wiring import migrate

    url = postgres_databases.create()
    migrate(url)
    yield url
    postgres_databases.drop(url)


@pytest.fixture(scope="session")
def postgres_reused(postgres_databases: Databases, postgres_template: str) -> Iterator[Reused]:
    """Databases with the current schema and no rows, each for one test after another."""
    reused = Reused(postgres_databases, postgres_template)
    yield reused
    reused.close()


def _server_or_skip(settings: str = FAST) -> OwnServer:
    try:
        return OwnServer(settings)
    except ImportError as missing:
        reason = f"no PostgreSQL: {missing}. Run `make test`, or set HOLDFAST_TEST_DATABASE_URL"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)


# -------------------------------------------------------------------------------------------------- coverage


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    """The product is imported under coverage, and everything else without it, in half the time."""
    measuring = _measuring(session.config)
    if measuring and not session.config.pluginmanager.hasplugin("dsession"):
        for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
            if not module.name.endswith((".__main__", ".migrations.env")):
                importlib.import_module(module.name)
        measuring.pause()
        while (
            beneath := Coverage.current()
        ):  # where tests are shared out, each process has begun a second one
            beneath.stop()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Coverage is taken in a sixth of the tests, with their fixtures: each takes twice the time by it."""
    measuring = _measuring(item.config)
    wanted = item.nodeid in item.config.stash[COVERED]
    if measuring and measuring.started != wanted:
        measuring.resume() if wanted else measuring.pause()
    return (yield)


def _measuring(config: pytest.Config) -> Any:
    """What starts and stops coverage; none where it is not taken."""
    plugin: Any = config.pluginmanager.getplugin("_cov")
    return plugin and plugin.cov_controller


def _covered(items: list[pytest.Item]) -> set[str]:
    """Of each second test that takes no seconds, the first variant, on SQLite: others take the same lines."""
    first: dict[str, str] = {}
    for item in items:
        repeats = item.path.relative_to(TESTS).parts[0] in UNCOVERED
        if not repeats and not any(map(item.get_closest_marker, ("slow", "postgres", "citus"))):
            first.setdefault(item.nodeid.partition("[")[0], item.nodeid)
    return set(list(first.values())[::2])


# ----------------------------------------------------------------------------------------- marks and summary


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TESTS_ON] = Counter()
    if config.option.markexpr == "faults":
        settings.load_profile("faults")
    config.pluginmanager.register(Gathered(config))


def pytest_collection_finish() -> None:
    """What was loaded and collected stays: looking through it for garbage took an eighth of the time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whoever asks for a database gets its mark, so that `-m "not postgres"` leaves none behind."""
    for item in items:
        wanted = set(getattr(item, "fixturenames", ()))
        if wanted & {"postgres_databases", "own_postgres", "replicated"}:
            item.add_marker("postgres")
        if wanted & {"citus_databases"}:
            item.add_marker("citus")
        if wanted & {"new_sqlite_database"}:
            item.add_marker("sqlite")
        if config.option.markexpr == "faults" and is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("faults")  # with many more examples than usual
    _leave_out_variants(items)
    _leave_out_repeated_rows(items)
    config.stash[COVERED] = _covered(items)
    # Files that take long begin: at the end one of them would keep one process busy and leave the other idle.
    long = {item.path for item in items if any(map(item.get_closest_marker, ("slow", "browser", "agents")))}
    items.sort(key=lambda item: item.path not in long)


def _leave_out_repeated_rows(items: list[pytest.Item]) -> None:
    """Of the doors' tests on PostgreSQL: one for each row that nothing else proves there, and smoke tests."""
    on_postgres = [
        item
        for item in items
        if "dialect" in getattr(item, "fixturenames", ())
        and item.get_closest_marker("postgres")
        and not item.get_closest_marker("faults")
    ]
    proved = {row for item in on_postgres if _on_both(item) for row in _rows(item)}
    for item in on_postgres:
        if _on_both(item) or item.get_closest_marker("smoke") or not set(_rows(item)) <= proved:
            proved.update(_rows(item))
        else:
            items.remove(item)


def _leave_out_variants(items: list[pytest.Item]) -> None:
    """Where a mark names those that run on PostgreSQL, the others do so with the fault loops only."""
    for item in items:
        on_server = item.get_closest_marker("postgres") or item.get_closest_marker("citus")
        mark = item.get_closest_marker("on_postgres") if on_server else None
        variant = getattr(item, "callspec", None)
        if mark and variant and not any(value in mark.args for value in variant.params.values()):
            item.add_marker("faults")


def _on_both(item: pytest.Item) -> bool:
    return item.path.relative_to(TESTS).parts[0] in ON_BOTH


def _on_citus(item: pytest.Item) -> bool:
    return item.path.relative_to(TESTS).parts[0] in ON_CITUS and not item.get_closest_marker("not_on_citus")


def _rows(item: pytest.Item) -> list[str]:
    return [row for mark in item.iter_markers("requirement") for row in mark.args]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    for name, mark in MARK_OF.items():
        if item.get_closest_marker(mark):
            item.config.stash[TESTS_ON][name] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and "no PostgreSQL" in str(report.longrepr):
        item.config.stash[WITHOUT_POSTGRES] = str(report.longrepr)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the tests are shared out among processes, each tells what it ran."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        counts = session.config.stash[TESTS_ON]
        told["tests_on"] = dict(counts)
        told["without_postgres"] = session.config.stash.get(WITHOUT_POSTGRES, "")


class Gathered:
    """Adds up what the processes told."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {})  # a process that crashed told nothing
        counts = self._config.stash[TESTS_ON]
        counts.update(told.get("tests_on", {}))
        if told.get("without_postgres"):
            self._config.stash[WITHOUT_POSTGRES] = told["without_postgres"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash[TESTS_ON]
    on_each = ", ".join(f"{counts[name]} tests on {name}" for name in MARK_OF)
    terminalreporter.write_line(f"databases: {on_each}")
    if WITHOUT_POSTGRES in config.stash:
        terminalreporter.write_line("POSTGRESQL WAS NOT TESTED", red=True, bold=True)
