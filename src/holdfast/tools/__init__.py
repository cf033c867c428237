"""Tools for models: `offered` describes them, `call` runs one; for MCP, model APIs and REST alike."""

from holdfast.tools.definition import Answer, Effect, Parameter, Tool
from holdfast.tools.dialects import for_messages_api, for_openai
from holdfast.tools.guidance import guidance
from holdfast.tools.offered import call, offered

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
