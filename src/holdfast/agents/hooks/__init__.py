"""Hooks of agents: the command that an agent runs (`command`), and the service's side (`responses`)."""
