"""What `holdfast serve` says when it starts."""

from __future__ import annotations

from holdfast.cli.serve import _where

LOGIN = "http://127.0.0.1:7437/login?code=secret"


def test_the_login_link_is_for_a_terminal_and_a_log_tells_how_to_get_one() -> None:
    shown, data = _where("http://127.0.0.1:7437", LOGIN, terminal=True)
    logged, logged_data = _where("http://127.0.0.1:7437", LOGIN, terminal=False)

    assert LOGIN in shown
    assert data["login"] == LOGIN
    assert "secret" not in f"{logged}{logged_data}"
    assert "`holdfast open`" in logged
