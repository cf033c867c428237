"""The bot: polls Telegram, answers allowed updates, and retries when the network fails.

One loop, one update after the other. Logs name ignored users and failures; never a text, nor the token.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from holdfast.app.installation import install_command
from holdfast.cli.telegram import replies
from holdfast.cli.telegram.access import Pressed, Typed, admitted, stranger
from holdfast.engine.memories import Memories
from holdfast.errors import HoldfastError, Invalid, Unavailable

if TYPE_CHECKING:
    import telegram
    from telegram.request import HTTPXRequest

API = "https://api.telegram.org"
_WAITS = 50  # seconds that Telegram holds a question for updates
_SLACK = 10.0  # seconds that an answer may take beyond that
_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)  # between tries; the last one again and again
_TRIES = 4  # of sending one message
_LONGEST_WAIT = 120.0  # seconds, whatever Telegram asks for: others are waiting too
_MOST_STRANGERS = 100  # that are named in the log
_KINDS = '["message","callback_query"]'
_log = logging.getLogger(__name__)

Pause = Callable[[float], Awaitable[object]]


def serve(
    memories: Callable[[], Memories],
    *,
    token: str,
    users: Collection[int],
    api: str = API,
    said: Callable[[str], None] = lambda _: None,
) -> None:
    """Answers `users` until a signal ends it; `said` gets the bot's name once it listens.

    Raises: Invalid, for a token that Telegram does not know; Unavailable, without the package.
    """
    try:
        import telegram  # noqa: F401
    except ImportError:
        raise Unavailable(
            f"python-telegram-bot is not installed: run `{install_command('telegram')}`"
        ) from None
    # What the library is to give for a span of time; without it, it complains about itself.
    os.environ.setdefault("PTB_TIMEDELTA", "true")
    asyncio.run(_until_a_signal(Bot(memories, token=token, users=users, api=api).run(said)))


async def _until_a_signal(work: Awaitable[None]) -> None:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows, where Ctrl-C cancels the task by itself
            loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


class Bot:
    """One bot, its allowed users, and their memories."""

    def __init__(
        self,
        memories: Callable[[], Memories],
        *,
        token: str,
        users: Collection[int],
        api: str = API,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._memories = memories
        self._token = token
        self._users = frozenset(users)
        self._base = f"{api.rstrip('/')}/bot"
        self._pause = pause
        self._next = 0  # everything before it was handled
        self._strangers: set[int] = set()

    async def run(self, said: Callable[[str], None] = lambda _: None) -> None:
        """Listens and answers until it is cancelled."""
        from telegram import Bot as Line
        from telegram.request import HTTPXRequest

        for name in ("httpx", "httpcore", "telegram"):  # they log addresses, which hold the token, and texts
            logging.getLogger(name).setLevel(logging.CRITICAL)
        line = Line(self._token, base_url=self._base, request=HTTPXRequest(read_timeout=_SLACK))
        mail = HTTPXRequest(read_timeout=_WAITS + _SLACK)
        try:
            await self._begin(line)
            await mail.initialize()
            said(f"@{line.username}")
            await self._listen(line, mail)
        finally:
            await self._end(line, mail)

    async def _begin(self, line: "telegram.Bot") -> None:
        """Waits for the network, and learns the bot's own name.

        Raises: Invalid.
        """
        from telegram.error import InvalidToken, TelegramError

        for tries in count():
            try:
                await line.initialize()
                await line.delete_webhook()  # while one is set, nothing can be asked for
                return
            except InvalidToken:  # its message holds the token
                raise Invalid(
                    "Telegram rejected the bot token: get a valid one from @BotFather", field="token"
                ) from None
            except TelegramError as error:
                await self._rest(tries, error)

    async def _listen(self, line: "telegram.Bot", mail: "HTTPXRequest") -> None:
        from telegram.error import TelegramError

        failed = 0
        while True:
            try:
                updates = await self._ask(line, mail, wait=_WAITS)
                failed = 0
            except (TelegramError, KeyError, TypeError) as error:  # the last two: an answer that is none
                await self._rest(failed, error)
                failed += 1
                continue
            for update in updates:
                await self._handle(line, update)

    async def _ask(self, line: "telegram.Bot", mail: "HTTPXRequest", *, wait: int) -> list[dict[str, Any]]:
        """The new updates, unparsed.

        Not by the library's own call, which parses all updates at once: one invalid update would end the
        polling, with the texts of the others in the log.
        """
        query = urlencode({"offset": self._next, "timeout": wait, "allowed_updates": _KINDS})
        found: Any = await mail.post(f"{line.base_url}/getUpdates?{query}")
        if not isinstance(found, list):
            raise TypeError("no list of updates")
        return [each for each in found if isinstance(each, dict) and isinstance(each.get("update_id"), int)]

    async def _handle(self, line: "telegram.Bot", update: dict[str, Any]) -> None:
        # Before it is done: what can't be handled at all must not be tried again for ever.
        self._next = max(self._next, update["update_id"] + 1)
        match admitted(update, self._users):
            case Typed(chat, text):
                await self._send(line, chat, await self._answer(replies.to_text, text, name=line.username))
            case Pressed() as pressed:
                await self._decide(line, pressed)
            case None:
                self._ignored(stranger(update))

    async def _decide(self, line: "telegram.Bot", pressed: Pressed) -> None:
        told = await self._answer(replies.to_button, pressed.data)
        await self._insist(lambda: line.answer_callback_query(pressed.query))
        if told:
            # The buttons have done their work.
            await self._insist(lambda: line.edit_message_reply_markup(pressed.chat, pressed.message))
        await self._send(line, pressed.chat, told)

    async def _answer(self, work: Callable[..., list[replies.ReplyMessage]], *args: str, **named: str) -> Any:
        try:
            return await asyncio.to_thread(lambda: work(self._memories(), *args, **named))
        except HoldfastError as error:  # the space itself can't be opened
            _log.warning("the store is unavailable: %s", type(error).__name__)
            return [replies.ReplyMessage("The store is unavailable. Nothing was changed; try again later.")]

    async def _send(self, line: "telegram.Bot", chat: int, messages: Sequence[replies.ReplyMessage]) -> None:
        from telegram import InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions

        for message in messages:
            row = [InlineKeyboardButton(each.label, callback_data=each.data) for each in message.buttons]
            sending = partial(
                line.send_message,
                chat,
                message.text,
                reply_markup=InlineKeyboardMarkup([row]) if row else None,
                # Nobody is to fetch an address because it stands in a memory.
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
            if not await self._insist(sending):
                return

    async def _insist(self, call: Callable[[], Awaitable[object]]) -> bool:
        """Retries a call a few times; false when it does not succeed."""
        from telegram.error import BadRequest, Forbidden, RetryAfter, TelegramError

        for tries in range(_TRIES):
            try:
                await call()
                return True
            except RetryAfter as error:
                # The library gives seconds or a span, as it is set.
                seconds = getattr(error.retry_after, "total_seconds", lambda: 1.0)()
                await self._pause(min(seconds, _LONGEST_WAIT))
            except (BadRequest, Forbidden) as error:
                _log.warning("Telegram refused the request: %s", type(error).__name__)
                return False
            except TelegramError as error:
                await self._rest(tries, error)
        return False

    async def _rest(self, tries: int, error: Exception) -> None:
        if tries == 0:
            _log.warning("Telegram is unreachable (%s): retrying", type(error).__name__)
        await self._pause(_PAUSES[min(tries, len(_PAUSES) - 1)])

    async def _end(self, line: "telegram.Bot", mail: "HTTPXRequest") -> None:
        """Confirms the handled updates, so that nothing is done twice after a restart."""
        from telegram.error import TelegramError

        with suppress(TelegramError, KeyError, TypeError, RuntimeError):
            if self._next:
                await self._ask(line, mail, wait=0)
        await mail.shutdown()
        await line.shutdown()

    def _ignored(self, sender: int | None) -> None:
        if sender is None or sender in self._users or sender in self._strangers:
            return
        if len(self._strangers) < _MOST_STRANGERS:
            self._strangers.add(sender)
            _log.warning("ignored: user %d is not allowed", sender)
