"""The MCP door: the space's tools, its brief and its memories for any MCP client."""
