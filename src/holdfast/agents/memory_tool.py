"""Anthropic's memory tool for programs that use the vendor's SDK: /memories are the files of a space.

    from anthropic import Anthropic
    from holdfast import Memories
    from holdfast.agents.memory_tool import MemoryTool

    with Memories.open(space="notes") as memories:
        Anthropic().beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=4096,
            messages=[{"role": "user", "content": "Remember that I like coffee"}],
            tools=[MemoryTool(memories)],
        ).until_done()

Needs the extra `anthropic`, and is the only module outside of `models` that loads it. The commands are
implemented in `tools.anthropic_memory`.
"""

from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool

from holdfast.agents.tools.anthropic_memory import executed
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from anthropic.types.beta import BetaCacheControlEphemeralParam

    from holdfast.engine.memories import Memories


class MemoryTool(BetaAbstractMemoryTool):
    """Executes the model's commands, with the model as their origin, in `session`."""

    def __init__(
        self,
        memories: "Memories",
        *,
        session: str | None = None,
        cache_control: "BetaCacheControlEphemeralParam | None" = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memories = memories.speaking_as("assistant", session=session)

    def call(self, input: object) -> str:  # noqa: A002  # the SDK's own name
        """Answers a command as the model sent it, whole or not."""
        if not isinstance(input, dict):
            raise ToolError("The memory tool takes an object with `command` and its fields")
        try:
            return executed(self._memories, input)
        except HoldfastError as refused:
            raise ToolError(str(refused)) from None

    def _run(self, command: Any) -> str:
        return self.call(command.to_dict())

    # The SDK calls one method per command; all commands are executed in the same way.
    view = create = str_replace = insert = delete = rename = _run

    def clear_all_memory(self) -> str:
        """Deletes every file, softly."""
        for entry in self._memories.files():
            self._memories.delete_file(entry.path)
        return "All memory cleared"
