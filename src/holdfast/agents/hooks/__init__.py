"""Hooks of agents: the command that an agent runs (`command`), and what the service answers (`responses`)."""
