"""Tools for models: `offered` describes them, `call` runs one; for MCP, model APIs and REST alike."""

from holdfast.agents.tools.catalogue import call, offered
from holdfast.agents.tools.definition import Answer, Effect, Parameter, Tool
from holdfast.agents.tools.dialects import for_messages_api, for_openai
from holdfast.agents.tools.guidance import guidance

__all__ = [
    "Answer",
    "Effect",
    "Parameter",
    "Tool",
    "call",
    "for_messages_api",
    "for_openai",
    "guidance",
    "offered",
]
