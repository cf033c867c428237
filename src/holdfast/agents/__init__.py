"""Everything for agents: hooks, client settings, runs, importers, MCP, the proxy, and tools for models."""
