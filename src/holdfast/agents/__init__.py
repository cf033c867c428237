"""What agents touch: hooks, settings of clients, runs, importers, MCP, the proxy, and tools for models."""
