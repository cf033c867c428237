"""The service: one process that answers hooks, MCP and programs, and does the work in the background."""
