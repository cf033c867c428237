"""The session runner: starts an agent with what is known, and keeps what it records while it runs.

The agent comes first: whatever is wrong with the memory, the agent runs, its output passes through and its
exit code is kept.
"""

from holdfast.doors.run.agents import AGENTS
from holdfast.doors.run.recorder import Ends
from holdfast.doors.run.runner import Plan, run

__all__ = ["AGENTS", "Ends", "Plan", "run"]
