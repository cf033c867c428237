"""Queries over signed-in browsers and one-time links, which belong to no space."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from holdfast.domain.space import Browser
from holdfast.store.mapping import row_of, value_of
from holdfast.store.schema import browsers
from holdfast.store.spaces import Connected


class BrowserTable:
    """Who is signed in to the pages. Its callers are in no transaction: each call is one of its own."""

    def __init__(self, looking: Connected, changing: Connected) -> None:
        self._looking = looking
        self._changing = changing

    def get(self, secret_hash: str) -> Browser | None:
        with self._looking() as connection:
            row = connection.execute(
                select(browsers).where(browsers.c.hash == secret_hash, browsers.c.link.is_(False))
            ).one_or_none()
            return value_of(Browser, row) if row else None

    def add(self, browser: Browser, *, now: datetime, most: int) -> None:
        """Adds it; of the same token the `most` that last longest stay, and of others those in time."""
        alike = browsers.c.token == browser.token, browsers.c.link == browser.link
        kept = select(browsers.c.hash).where(*alike).order_by(browsers.c.until.desc()).limit(most)
        with self._changing() as connection:
            connection.execute(delete(browsers).where(browsers.c.until <= now))
            connection.execute(insert(browsers), row_of(browser))
            connection.execute(delete(browsers).where(*alike, browsers.c.hash.not_in(kept)))

    def use_link(self, secret_hash: str, token_hash: str, now: datetime) -> bool:
        """Removes a link of this token; false unless it was there, in time, and nobody else used it."""
        mine = browsers.c.hash == secret_hash, browsers.c.token == token_hash, browsers.c.link.is_(True)
        with self._changing() as connection:
            return bool(connection.execute(delete(browsers).where(*mine, browsers.c.until > now)).rowcount)

    def leave_notice(self, secret_hash: str, notice: Mapping[str, Any]) -> bool:
        """Stores what its next page shows; false for a browser that is not signed in."""
        one = update(browsers).where(browsers.c.hash == secret_hash).values(notice=notice)
        with self._changing() as connection:
            return bool(connection.execute(one).rowcount)

    def take_notice(self, secret_hash: str) -> Mapping[str, Any] | None:
        found = self.get(secret_hash)
        if found is None or found.notice is None:
            return None
        with self._changing() as connection:
            connection.execute(update(browsers).where(browsers.c.hash == secret_hash).values(notice=None))
        return found.notice

    def remove(self, secret_hash: str) -> None:
        with self._changing() as connection:
            connection.execute(delete(browsers).where(browsers.c.hash == secret_hash))
