"""`holdfast sync`: one person with two machines."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import client
from holdfast.client import Client
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served


@pytest.fixture
def desk(new_database: NewDatabase, clock: FixedClock) -> Shell:
    return Shell(new_database(), clock)


@pytest.fixture
def laptop(new_database: NewDatabase) -> Shell:
    """Its clock is a second behind."""
    behind = FixedClock()
    behind.advance(seconds=-1)
    return Shell(new_database(), behind)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shared"
    made.mkdir()
    return made


def texts(shell: Shell) -> set[str]:
    return {each["content"] for each in shell.json("list")["memories"]}


@requirement("trust.two-machines")
def test_two_machines_that_share_a_folder_know_the_same(desk: Shell, laptop: Shell, folder: Path) -> None:
    desk.remembers("The garage door opens on Fridays")
    laptop.remembers("The cellar key hangs in the hall")

    assert desk.says("sync", str(folder), "--as", "desk") == "Space default is in step\n"
    told = laptop.says("sync", str(folder), "--as", "laptop")
    desk.says("sync", str(folder), "--as", "desk")

    assert told == "Merged default.desk.jsonl.gz: 1 memory added, 0 updated\nSpace default is in step\n"
    assert (
        texts(desk)
        == texts(laptop)
        == {
            "The garage door opens on Fridays",
            "The cellar key hangs in the hall",
        }
    )


def test_a_conflict_is_named_and_waits_in_the_inbox(desk: Shell, laptop: Shell, folder: Path) -> None:
    key = desk.remembers("The key hangs in the hall")
    for shell in (desk, laptop):
        shell.says("sync", str(folder), "--as", "same-name")
    laptop.says("revise", key, "The key lies in the drawer")
    laptop.says("sync", str(folder), "--as", "laptop")
    desk.says("revise", key, "The key is under the mat")

    told = desk.json("sync", str(folder), "--as", "desk")

    [waiting] = [one for part in told["merged"] for one in part["waiting"]]
    assert waiting in desk.says("inbox")


def test_nothing_new_is_not_written_again(desk: Shell, folder: Path) -> None:
    desk.remembers("The garage door opens on Fridays")
    desk.says("sync", str(folder), "--as", "desk")
    file = folder / "default.desk.jsonl.gz"
    before = file.stat().st_ino

    desk.says("sync", str(folder), "--as", "desk")

    assert file.stat().st_ino == before


def test_an_archive_that_is_still_on_its_way_is_skipped(desk: Shell, laptop: Shell, folder: Path) -> None:
    laptop.remembers("The cellar key hangs in the hall")
    laptop.says("sync", str(folder), "--as", "laptop")
    file = folder / "default.laptop.jsonl.gz"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    desk.remembers("The garage door opens on Fridays")

    result = desk("sync", str(folder), "--as", "desk")

    assert result.exit_code == 1
    assert "Skipped default.laptop.jsonl.gz: " in result.stdout
    assert gzip.decompress((folder / "default.desk.jsonl.gz").read_bytes())
    file.write_bytes(whole)
    desk.says("sync", str(folder), "--as", "desk")
    assert len(texts(desk)) == 2


@pytest.fixture
def served(new_database: NewDatabase) -> Iterator[Served]:
    service = Served(new_database())
    yield service
    service.registry.close()


@requirement("trust.two-machines")
def test_a_machine_and_a_service_know_the_same(
    desk: Shell, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.make("default")
    token = served.token("admin", spaces=("default",))
    connected = client.Client.__init__

    def connect(one: Client, url: str, secret: str, **rest: str) -> None:
        connected(one, url, secret, **rest, http=served.caller(secret))

    monkeypatch.setattr(Client, "__init__", connect)
    there = Client("http://127.0.0.1:7437", token)
    there.remember("The cellar key hangs in the hall")
    desk.remembers("The garage door opens on Fridays")
    file = tmp_path / "token"
    file.write_text(f"{token}\n", encoding="utf-8")

    desk.says("sync", "http://127.0.0.1:7437", "--token-file", str(file))

    assert texts(desk) == {each.content for each in there.find().memories}
    assert len(texts(desk)) == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nowhere",), "is not a folder: create it"),
        (("http://127.0.0.1:1",), "a URL needs a token"),
        (("http://127.0.0.1:1", "--as", "desk"), "--as applies to a folder only"),
        ((".", "--token-file", "x"), "--token-file applies to a URL only"),
        (("http://127.0.0.1:1", "--token-file", "nowhere"), "can't be read"),
    ],
)
def test_what_can_not_be_synced_is_refused(
    sqlite_shell: Shell, arguments: tuple[str, ...], reason: str
) -> None:
    result = sqlite_shell("sync", *arguments)

    assert result.exit_code in (1, 2)
    assert reason in result.stderr
