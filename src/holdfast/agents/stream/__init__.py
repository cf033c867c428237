"""What agents print while they run, read line by line as it comes: who said what, and how it ended.

One reader for each agent's format. Only complete texts of the assistant in the main conversation count as
said; everything that came from elsewhere is told apart, because an agent may repeat it. Lines that can't be
read, or are of a kind that nobody knows yet, are passed over.
"""

from collections.abc import Callable, Mapping
from typing import Final

from holdfast.agents.stream.claude_code import ClaudeCodeStream
from holdfast.agents.stream.codex import CodexStream
from holdfast.agents.stream.gemini import GeminiStream
from holdfast.agents.stream.plain_text import PlainTextStream
from holdfast.domain.agent_events import Stream

__all__ = ["READERS", "ClaudeCodeStream", "CodexStream", "GeminiStream", "PlainTextStream"]

#: By the name of the agent.
READERS: Final[Mapping[str, Callable[[], Stream]]] = {
    "claude": ClaudeCodeStream,
    "codex": CodexStream,
    "gemini": GeminiStream,
    "plain": PlainTextStream,
}
