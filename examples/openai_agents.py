"""The OpenAI Agents SDK with Holdfast: memory tools as function tools, the brief in the instructions.

    pip install holdfast-memory openai-agents
    holdfast space create me --profile assistant
    OPENAI_API_KEY=... python examples/openai_agents.py "Alec is my boss. Remember that."

Any server with a chat completions API works: set OPENAI_BASE_URL and MODEL. The brief of a session never
changes, so that prompt caches work; each run of this program is a session.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.tool_context import ToolContext
from openai import AsyncOpenAI

from holdfast import Memories
from holdfast.agents.tools import Tool, call, guidance, offered

INSTRUCTIONS = "You are the user's personal assistant. Be brief and friendly."


def function_tool(memories: Memories, tool: Tool) -> FunctionTool:
    """A memory tool for the SDK. The engine is synchronous, so each call runs in a thread."""

    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            return "The arguments are not valid JSON: send an object."
        told = await asyncio.to_thread(call, memories, tool.name, given if isinstance(given, dict) else {})
        return told.text

    return FunctionTool(
        name=tool.name,
        description=tool.says,
        params_json_schema=tool.schema(),
        on_invoke_tool=invoke,
        strict_json_schema=False,  # strict schemas have no optional arguments and no limits; ours do
    )


def assistant(memories: Memories, client: AsyncOpenAI, *, model: str) -> Agent[Any]:
    """An agent whose `memories` belong to one session."""
    parts = [INSTRUCTIONS, guidance(memories.profile), memories.brief().text]
    return Agent(
        name="assistant",
        instructions="\n\n".join(part for part in parts if part),
        tools=[function_tool(memories, tool) for tool in offered(memories.profile)],
        model=OpenAIChatCompletionsModel(model, openai_client=client),
    )


async def ask(memories: Memories, said: str) -> str:
    """What the assistant answers, in a session of its own."""
    session = memories.open_session(client="openai-agents")
    speaking = memories.speaking_as("assistant", session=session.id)
    async with AsyncOpenAI() as client:
        agent = assistant(speaking, client, model=os.environ.get("MODEL", "gpt-5.5-mini"))
        run = await Runner.run(agent, said)
    spent = run.context_wrapper.usage
    usage = {
        "turns": spent.requests,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
    }
    memories.close_session(session.id, usage=usage)
    return str(run.final_output)


def main() -> None:
    set_tracing_disabled(True)  # no data of this conversation is sent to other servers
    with Memories.open(space=os.environ.get("HOLDFAST_SPACE", "me")) as memories:
        print(asyncio.run(ask(memories, " ".join(sys.argv[1:]) or "What do you know about me?")))


if __name__ == "__main__":
    main()
