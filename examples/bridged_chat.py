"""A chat program that uses the service: it posts its messages and gets relevant memories back.

    pip install 'holdfast-memory[anthropic]'
    holdfast serve &
    holdfast space create chat --profile semantic
    export HOLDFAST_TOKEN=$(holdfast token create --space chat --scope write --json | jq -r .token)
    ANTHROPIC_API_KEY=... python examples/bridged_chat.py

Messages are posted with their own ids, so that a repeated post counts once. They are on disk when the call
returns, and memories are extracted in the background. The brief and what is recalled go into the prompt. If
the service is unreachable, the chat continues, and missed messages are posted with the next one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any, TypeVar

import anthropic

from holdfast import Client, HoldfastError

MODEL = "claude-haiku-5-5"
URL = "http://127.0.0.1:7437"
INSTRUCTIONS = "You are a friendly assistant. Be brief."

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class Bridge:
    """One conversation: the chat loop of the host, and a session."""

    def __init__(
        self, memories: Client, model: anthropic.Anthropic, *, session: str, name: str = MODEL
    ) -> None:
        self.session = session
        self._memories = memories.speaking_as("assistant", session=session)
        self._model, self._name = model, name
        self._messages: list[Any] = []
        self._unposted: list[tuple[str, str, str, str | None]] = []
        self._number = 0
        # Once, at the start: the same instructions at every turn keep the prompt cache valid.
        brief = self._unless_away(lambda: self._memories.brief().text, "")
        self._system = f"{INSTRUCTIONS}\n\n{brief}".strip()

    def say(self, text: str, speaker: str | None = None) -> str:
        """What the model answers to somebody."""
        self._heard("user", text, speaker)
        known = self._unless_away(lambda: self._memories.context([text]).text, "")
        new = self._unless_away(self._memories.delta, "")
        told = "\n\n".join(part for part in (text, known, new) if part)
        self._messages.append({"role": "user", "content": told})
        answer = self._model.messages.create(
            model=self._name, max_tokens=1_000, system=self._system, messages=self._messages
        )
        said = "".join(block.text for block in answer.content if block.type == "text")
        self._messages.append({"role": "assistant", "content": said})
        self._heard("assistant", said)
        return said

    def close(self) -> None:
        """Ends the session, so that its memories are extracted now."""
        self._unless_away(lambda: self._memories.close_session(self.session), None)

    def _heard(self, role: str, text: str, speaker: str | None = None) -> None:
        """Stores a message, after those that could not be stored before."""
        self._number += 1
        self._unposted.append((f"{self.session}-{self._number}", role, text, speaker))
        while self._unposted:
            if not self._unless_away(self._posted, False):
                return
            del self._unposted[0]

    def _posted(self) -> bool:
        """Posts the oldest message that is not stored yet; when this returns, it is on disk."""
        message_id, role, text, speaker = self._unposted[0]
        self._memories.say(self.session, role, text, speaker=speaker, message_id=message_id)
        return True

    def _unless_away(self, ask: Callable[[], Result], otherwise: Result) -> Result:
        """The chat continues if the memory fails."""
        try:
            return ask()
        except HoldfastError as trouble:
            _log.warning("the memory is not used now: %s", trouble)
            return otherwise


def main() -> None:
    token = os.environ["HOLDFAST_TOKEN"]
    with Client(os.environ.get("HOLDFAST_URL", URL), token) as memories:
        bridge = Bridge(memories, anthropic.Anthropic(), session=f"chat-{os.getpid()}")
        try:
            while True:
                print(bridge.say(input("> ")))
        except (EOFError, KeyboardInterrupt):
            bridge.close()


if __name__ == "__main__":
    main()
