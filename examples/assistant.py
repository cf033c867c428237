"""An assistant with memory on the Messages API: a complete host program.

    pip install 'holdfast-memory[anthropic]'
    holdfast space create me --profile assistant
    ANTHROPIC_API_KEY=... python examples/assistant.py

The brief is part of the system prompt and stays the same, byte for byte, for the whole conversation, so that
the prompt cache works; what others add later is appended to the user's message; the model calls the tools;
`/memory` is answered without a model.
"""

from __future__ import annotations

import os
from typing import Any

import anthropic

from holdfast import Memories
from holdfast.agents import memory_command
from holdfast.agents.tools import call, for_messages_api, guidance

MODEL = "claude-haiku-5-5"
INSTRUCTIONS = "You are the user's personal assistant. Be brief and friendly."
MOST_CALLS = 10  # of tools per user message


class Conversation:
    """One conversation: a session and its messages."""

    def __init__(self, memories: Memories, client: anthropic.Anthropic, *, model: str = MODEL) -> None:
        self.session = memories.open_session(client="example").id
        self._person = memories  # acts as the user, for /memory
        self._memories = memories.speaking_as("assistant", session=self.session)
        self._client, self._model = client, model
        self._tools: Any = for_messages_api(memories.profile)
        self.brief = self._memories.brief()
        texts = [f"{INSTRUCTIONS}\n\n{guidance(memories.profile)}", self.brief.text]
        self._system: Any = [{"type": "text", "text": text} for text in texts if text]
        self._system[-1]["cache_control"] = {"type": "ephemeral"}
        self._messages: list[Any] = []
        self._usage = {"turns": 0, "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0}

    def say(self, text: str) -> str:
        """What the assistant answers."""
        if memory_command.asked(text):
            return memory_command.answer(self._person, text)
        said = [{"type": "text", "text": text}]
        if new := self._memories.delta():
            said.append({"type": "text", "text": f"New in memory:\n\n{new}"})
        self._messages.append({"role": "user", "content": said})
        for _ in range(MOST_CALLS):
            answer = self._asked()
            self._messages.append({"role": "assistant", "content": answer.content})
            results = [self._called(block) for block in answer.content if block.type == "tool_use"]
            if not results:
                return "".join(block.text for block in answer.content if block.type == "text")
            self._messages.append({"role": "user", "content": results})
        return "I stopped: that took too many steps."

    def close(self) -> None:
        """Ends the session and records its usage for `holdfast cache-report`."""
        self._person.close_session(self.session, usage=self._usage)

    def _asked(self) -> anthropic.types.Message:
        answer = self._client.messages.create(
            model=self._model,
            max_tokens=1_000,
            system=self._system,
            tools=self._tools,
            messages=self._messages,
        )
        self._usage["turns"] += 1
        self._usage["input_tokens"] += answer.usage.input_tokens
        self._usage["output_tokens"] += answer.usage.output_tokens
        self._usage["cache_read_tokens"] += answer.usage.cache_read_input_tokens or 0
        return answer

    def _called(self, block: anthropic.types.ToolUseBlock) -> dict[str, Any]:
        told = call(self._memories, block.name, block.input)
        return {
            "type": "tool_result",
            "tool_use_id": block.id,
            "content": told.text,
            "is_error": told.failed,
        }


def main() -> None:
    with Memories.open(space=os.environ.get("HOLDFAST_SPACE", "me")) as memories:
        conversation = Conversation(memories, anthropic.Anthropic())
        try:
            while True:
                print(conversation.say(input("> ")))
        except (EOFError, KeyboardInterrupt):
            print()
        finally:
            conversation.close()


if __name__ == "__main__":
    main()
