"""The session runner: starts an agent with what is known, and keeps what it records while it runs.

The agent comes first: whatever is wrong with the memory, the agent runs, its output passes through and its
exit code is kept.
"""

from holdfast.agents.run.agents import AGENTS
from holdfast.agents.run.recorder import Ends
from holdfast.agents.run.runner import Plan, run

__all__ = ["AGENTS", "Ends", "Plan", "run"]
