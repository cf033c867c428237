"""Where memories and the Telegram bot are put together: one bot over one space."""

from collections.abc import Callable, Collection

from holdfast.app.space_registry import SpaceRegistry


def serve(
    db: str | None,
    space: str | None,
    *,
    token: str,
    users: Collection[int],
    api: str | None = None,
    said: Callable[[str], None] = lambda _: None,
) -> None:
    """Answers these people on Telegram until a signal ends it; `said` is told the bot's name.

    Raises: Invalid, NotFound, Unavailable.
    """
    from holdfast.cli.telegram import bot

    registry = SpaceRegistry(db, space)
    try:
        registry.memories()  # what is wrong with the database is said now, not in the first answer
        bot.serve(registry.memories, token=token, users=users, api=api or bot.API, said=said)
    finally:
        registry.close()
