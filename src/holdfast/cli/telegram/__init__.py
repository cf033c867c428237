"""The command `telegram`: a bot that answers `/memory` for allowed users, over one space."""

import os

import click

from holdfast.cli.call import Call, in_space, wrong_usage

TOKEN = "HOLDFAST_TELEGRAM_TOKEN"


@click.command()
@click.option(
    "--allow",
    "users",
    multiple=True,
    metavar="ID",
    envvar="HOLDFAST_TELEGRAM_USERS",
    help="Numeric id of an allowed user; repeatable.  [env: HOLDFAST_TELEGRAM_USERS]",
)
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False),
    envvar="HOLDFAST_TELEGRAM_TOKEN_FILE",
    help="File with the bot token.  [env: HOLDFAST_TELEGRAM_TOKEN_FILE]",
)
@click.option(
    "--api",
    metavar="URL",
    envvar="HOLDFAST_TELEGRAM_API",
    help="URL of your own Bot API server.  [env: HOLDFAST_TELEGRAM_API]",
)
@in_space
def telegram(call: Call, users: tuple[str, ...], token_file: str | None, api: str | None) -> None:
    """Run a Telegram bot that answers /memory.

    Answers allowed users in private chats and ignores everyone else. Allowed users can do everything that
    /memory offers: list, delete, restore, approve. The bot token is read from --token-file or from
    HOLDFAST_TELEGRAM_TOKEN. To find your id, write to the bot: it logs the ids of ignored users. Stop it with
    Ctrl-C.

    \b
        holdfast telegram --allow 123456789 --token-file ~/.config/holdfast/telegram
    """
    from holdfast.app.space_registry import SpaceRegistry
    from holdfast.cli import named_database
    from holdfast.cli.telegram import bot

    allowed = frozenset(_number(each) for given in users for each in given.replace(",", " ").split())
    if not allowed:
        raise wrong_usage("no allowed users: add --allow with a numeric user id")
    token, address = _token(token_file), _address(api) or bot.API

    def said(name: str) -> None:
        answers = {"bot": name, "allowed": sorted(allowed)}
        call.tell(f"Running as {name}; allowed users: {', '.join(map(str, sorted(allowed)))}", answers)

    named_database.check(call.db, creates=True)
    registry = SpaceRegistry(call.db, call.space, door="telegram")
    try:
        registry.memories()  # what is wrong with the database is said now, not in the first answer
        bot.serve(registry.memories, token=token, users=allowed, api=address, said=said)
    finally:
        registry.close()


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise click.BadParameter(
            f"{text!r} is not a numeric user id (user names are not supported)", param_hint="--allow"
        )
    return int(text)


def _address(text: str | None) -> str | None:
    if text is not None and not text.startswith(("https://", "http://")):
        raise click.BadParameter(
            f"{text!r} is not a URL: it must start with https:// or http://", param_hint="--api"
        )
    return text


def _token(file: str | None) -> str:
    found = os.environ.get(TOKEN, "")
    if file is not None:
        try:
            with open(os.path.expanduser(file), encoding="utf-8") as stored:
                found = stored.read(1_000)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a text file"
            raise click.BadParameter(f"{file} can't be read: {reason}", param_hint="--token-file") from None
    number, _, secret = found.strip().partition(":")
    if not found.strip():
        raise wrong_usage(f"no bot token: use --token-file, or set {TOKEN}")
    usual = secret.isascii() and secret.replace("-", "").replace("_", "").isalnum()
    if not (number.isascii() and number.isdigit() and usual):
        raise wrong_usage("invalid bot token: it should look like 123456:ABC-DEF, as given by @BotFather")
    return found.strip()
