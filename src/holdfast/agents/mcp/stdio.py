"""`holdfast mcp`: the server on standard input and output, for clients that start it themselves."""

import sys

import anyio
from mcp.server.stdio import stdio_server

from holdfast.agents.mcp.server import Open, server


def serve(open_memories: Open) -> None:
    """Answers until the client closes its end. Standard output belongs to the protocol."""
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="holdfast: %(message)s")
    anyio.run(_serve, open_memories)


async def _serve(open_memories: Open) -> None:
    mcp = server(open_memories)
    async with stdio_server() as (incoming, outgoing):
        await mcp.run(incoming, outgoing, mcp.create_initialization_options())
