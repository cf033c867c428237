"""Tools in the words of the model APIs: the Messages API, and the shape that OpenAI-style servers take."""

from typing import Any

from holdfast.agents.tools.catalogue import offered
from holdfast.domain.profile import Profile


def for_messages_api(profile: Profile) -> list[dict[str, Any]]:
    """The space's tools for the `tools` field of a Messages API request."""
    return [
        {"name": tool.name, "description": tool.says, "input_schema": tool.schema()}
        for tool in offered(profile)
    ]


def for_openai(profile: Profile) -> list[dict[str, Any]]:
    """The space's tools for the `tools` field of a chat-completions request."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.says, "parameters": tool.schema()},
        }
        for tool in offered(profile)
    ]
