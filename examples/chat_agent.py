"""A chat agent with memory in one file: the loop of `holdfast chat` for your own program.

    pip install "holdfast-memory[anthropic]"
    ANTHROPIC_API_KEY=... python examples/chat_agent.py .memory

The memory is synced with the given directory: files that you can read, edit and commit. Ctrl-D ends the chat.
"""

import sys
from typing import Any

from anthropic import Anthropic

from holdfast import Memories
from holdfast.agents.memory_command import answer as memory_command
from holdfast.agents.memory_command import asked as asks_for_memory
from holdfast.agents.tools import call, for_messages_api, guidance
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration

MODEL = "claude-sonnet-5-5"


def main(directory: str, space: str = "example") -> None:
    store = open_store()  # ~/.local/share/holdfast, or HOLDFAST_DB
    administration = Administration(store)
    if space not in administration.names():
        administration.create_space(space, profile="files")
    owner = Memories.of(store, space)  # you
    if owner.directory() is None:
        owner.bind_directory(directory)

    session = owner.open_session(client="chat_agent").id
    model = owner.speaking_as("assistant", session=session)  # what it writes has the origin "assistant"
    try:
        chat(owner, model, session)
    finally:
        owner.close_session(session)
        store.close()


def chat(owner: Memories, model: Memories, session: str) -> None:
    client = Anthropic()
    # The same text for the whole session, so that it can be cached: how to use the memory, and its index.
    system = f"You talk with one person in a terminal.\n\n{guidance(model.profile)}\n{model.brief().text}"
    messages: list[dict[str, Any]] = []
    for line in prompts():
        if asks_for_memory(line):
            print(memory_command(owner, line))
            continue
        messages.append({"role": "user", "content": line})
        said = answered(client, system, messages, model)
        owner.say(session, "user", line)  # stored, so that later sessions can find it
        if said:
            owner.say(session, "assistant", said)


def answered(client: Anthropic, system: str, messages: list[dict[str, Any]], model: Memories) -> str:
    """Calls the model and runs its tool calls until it makes none."""
    said = ""
    while True:
        with client.messages.stream(
            model=MODEL,
            max_tokens=4096,
            system=[{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            tools=for_messages_api(model.profile),  # type: ignore[arg-type]
            messages=messages,  # type: ignore[arg-type]
        ) as stream:
            for piece in stream.text_stream:
                said += piece
                print(piece, end="", flush=True)
            message = stream.get_final_message()
        print()
        messages.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
        results: list[dict[str, Any]] = []
        for block in message.content:
            if block.type == "tool_use":
                print(f"[{block.name}]", file=sys.stderr)
                answer = call(model, block.name, block.input)
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": answer.text,
                        "is_error": answer.failed,
                    }
                )
        if not results:
            return said
        messages.append({"role": "user", "content": results})


def prompts() -> Any:
    while True:
        try:
            line = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if line:
            yield line


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".memory")
