"""The command that runs the Telegram bot."""

import os

import click

from holdfast.doors.cli.call import Call, in_space

TOKEN = "HOLDFAST_TELEGRAM_TOKEN"


@click.command()
@click.option(
    "--allow",
    "users",
    multiple=True,
    metavar="ID",
    envvar="HOLDFAST_TELEGRAM_USERS",
    help="The numeric id of a person to answer; may be repeated.  [env: HOLDFAST_TELEGRAM_USERS]",
)
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False),
    envvar="HOLDFAST_TELEGRAM_TOKEN_FILE",
    help="A file that holds the bot's token.  [env: HOLDFAST_TELEGRAM_TOKEN_FILE]",
)
@click.option(
    "--api",
    metavar="URL",
    envvar="HOLDFAST_TELEGRAM_API",
    help="A Bot API server of your own, in place of Telegram's.  [env: HOLDFAST_TELEGRAM_API]",
)
@in_space
@click.pass_context
def telegram(ctx: click.Context, users: tuple[str, ...], token_file: str | None, api: str | None) -> None:
    """Answer /memory on Telegram, for the people that you allow.

    In private chats with them; nobody else gets any answer. The token comes from a file or from the variable
    HOLDFAST_TELEGRAM_TOKEN, never from the command line, where others could see it. Whoever is allowed may do
    what you may: list, delete, restore, decide. The ids of others who write are logged: to learn your own,
    write to the bot. Ctrl-C ends it.

    \b
        holdfast telegram --allow 123456789 --token-file ~/.config/holdfast/telegram
    """
    from holdfast import telegram_bot

    call = ctx.ensure_object(Call)
    allowed = frozenset(_number(each) for given in users for each in given.replace(",", " ").split())
    if not allowed:
        raise click.UsageError("nobody is allowed: add --allow with the numeric id of a person", ctx)
    token = _token(token_file, ctx)

    def said(name: str) -> None:
        answers = {"bot": name, "allowed": sorted(allowed)}
        call.tell(f"{name} answers {', '.join(map(str, sorted(allowed)))} on Telegram", answers)

    telegram_bot.serve(call.db, call.space, token=token, users=allowed, api=_address(api), said=said)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise click.BadParameter(
            f"{text!r} is no numeric id of a person: names change hands, ids do not", param_hint="--allow"
        )
    return int(text)


def _address(text: str | None) -> str | None:
    if text is not None and not text.startswith(("https://", "http://")):
        raise click.BadParameter(
            f"{text!r} is no address: begin with https:// or http://", param_hint="--api"
        )
    return text


def _token(file: str | None, ctx: click.Context) -> str:
    found = os.environ.get(TOKEN, "")
    if file is not None:
        try:
            with open(os.path.expanduser(file), encoding="utf-8") as stored:
                found = stored.read(1_000)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise click.BadParameter(f"{file} can't be read: {reason}", param_hint="--token-file") from None
    number, _, secret = found.strip().partition(":")
    if not found.strip():
        raise click.UsageError(f"there is no token: name its file with --token-file, or set {TOKEN}", ctx)
    usual = secret.isascii() and secret.replace("-", "").replace("_", "").isalnum()
    if not (number.isascii() and number.isdigit() and usual):
        raise click.UsageError("that is no bot token: @BotFather gives one like 123456:ABC-DEF", ctx)
    return found.strip()
