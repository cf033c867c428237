"""The token of this machine's user, where it can be kept and where it can't."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from holdfast import Unavailable
from holdfast.app import paths, service_lock
from tests.requirements_ledger import requirement


@requirement("trust.durable")
def test_without_a_token_file_a_service_on_a_read_only_disk_keeps_its_token_in_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def read_only(path: str, content: bytes) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(paths, "write_private", read_only)

    own = service_lock.own_token()

    assert len(own) > 30
    assert "Read-only file system" in caplog.text
    assert own not in caplog.text
    with pytest.raises(Unavailable):
        service_lock.token()


def test_a_token_file_that_can_not_be_read_is_no_reason_for_another_token() -> None:
    Path(paths.token_file()).mkdir(parents=True)

    with pytest.raises(Unavailable, match="can't be read"):
        service_lock.own_token()


def test_a_service_keeps_its_token_where_it_can() -> None:
    assert service_lock.own_token() == service_lock.own_token() == service_lock.token()
