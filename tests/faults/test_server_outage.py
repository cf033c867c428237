"""PostgreSQL stopped or killed in the middle of a series of writes, and started again."""

from __future__ import annotations

import threading

import pytest

from holdfast import Memories, Unavailable
from holdfast.app.wiring import migrate
from holdfast.domain.outcomes import settled
from tests.postgres import OwnServer
from tests.requirements_ledger import requirement

PATIENCE = 60.0


class Series:
    """Writes one note after another in a thread, until it is told to end; waits while the server is away."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self.acked: dict[str, str] = {}
        self.troubles: list[str] = []
        self._ended = threading.Event()
        self._progress = threading.Condition()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def wait_for(self, acked: int = 0, troubles: int = 0) -> None:
        with self._progress:
            came = self._progress.wait_for(
                lambda: len(self.acked) >= acked and len(self.troubles) >= troubles, PATIENCE
            )
        assert came, f"{len(self.acked)} acknowledged, {len(self.troubles)} refused: {self.troubles[-1:]}"

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._ended.is_set():
            key = f"k{number}"
            try:
                memory = settled(self._memories.remember(f"Note number {number}", subject=key, key=key))
            except Unavailable as trouble:
                with self._progress:
                    self.troubles.append(str(trouble))
                    self._progress.notify_all()
                continue  # the same key again: whether the last try was stored is not known
            assert memory is not None
            with self._progress:
                self.acked[memory.id] = f"Note number {number}"
                self._progress.notify_all()
            number += 1


def outlast(server: OwnServer, outages: int, url: str) -> Series:
    with Memories.open(url) as memories:
        series = Series(memories)
        for outage in range(outages):
            series.wait_for(acked=len(series.acked) + 10)
            if outage % 2:
                server.stop()
            else:
                server.kill()
            series.wait_for(troubles=len(series.troubles) + 1)
            with pytest.raises(Unavailable, match="start it, then try again"):
                Memories.open(url)
            server.restart()
            series.wait_for(acked=len(series.acked) + 10)
        series.end()
    return series


def check(url: str, series: Series, outages: int) -> None:
    with Memories.open(url) as memories:
        found = {memory.id: memory.content for memory in memories.find().memories}
        versions = [len(memories.show(memory_id).versions) for memory_id in found]
    assert series.acked.items() <= found.items()
    assert len(found) <= len(series.acked) + 1  # the last one may be stored without having been acknowledged
    assert len(set(found.values())) == len(found)
    assert set(versions) == {1}
    assert len(series.acked) >= 20 * outages
    assert len(series.troubles) >= outages
    for trouble in series.troubles:
        assert trouble.count("\n") == 0
        assert "start it, then try again; saved data is safe" in trouble


@pytest.mark.slow
@requirement("trust.durable", "asst.postgres")
def test_a_server_that_goes_away_twice_loses_nothing_acknowledged(own_postgres: OwnServer) -> None:
    url = own_postgres.url.render_as_string(hide_password=False)
    migrate(url)

    series = outlast(own_postgres, 2, url)

    check(url, series, 2)


@pytest.mark.faults
@requirement("trust.durable", "asst.postgres")
def test_a_server_that_goes_away_100_times_loses_nothing_acknowledged(own_postgres: OwnServer) -> None:
    url = own_postgres.url.render_as_string(hide_password=False)
    migrate(url)

    series = outlast(own_postgres, 100, url)

    check(url, series, 100)


@requirement("asst.postgres")
def test_a_server_without_the_schema_says_which_command_makes_it(
    empty_database_url: str, dialect: str
) -> None:
    if dialect == "sqlite":
        Memories.open(empty_database_url).close()  # a file is brought up to date by itself
        return

    with pytest.raises(Unavailable, match="is not at this release's schema") as refused:
        Memories.open(empty_database_url)
    assert refused.value.command == "run `holdfast migrate`"


def test_a_server_of_which_the_password_is_wrong_is_told_without_the_password(postgres_url: str) -> None:
    with pytest.raises(Unavailable) as caught:
        Memories.open("postgresql://ada:sesame@localhost:1/holdfast")

    assert "sesame" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(Unavailable, match="the database, user or table of the URL does not exist"):
        Memories.open(postgres_url.replace("/holdfast_test", "/no_such_database"))
