"""The service: one process for hooks, MCP, REST, the dashboard and background tasks."""
