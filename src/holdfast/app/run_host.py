"""Builds the session runner from the agents' formats, the prompts and the memories of a space."""

import os
import platform
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.agents import capture_off
from holdfast.app import paths, wiring
from holdfast.engine.intake import checked_tier
from holdfast.errors import Unavailable

if TYPE_CHECKING:
    from holdfast.agents.run.recorder import Occasion
    from holdfast.engine.memories import Memories
    from holdfast.engine.ports import Clock

PROMPTS = "HOLDFAST_PROMPTS"  # a folder with a person's own texts


def run_agent(
    command: Sequence[str],
    *,
    say: Callable[[str], None],
    agent: str | None = None,
    prompts: str | None = None,
    db: str | None = None,
    space: str | None = None,
    clock: "Clock | None" = None,
    **about: Any,
) -> int:
    """Runs an agent as a session and returns its exit code; `say` gets lines for the user.

    `about` is passed to `_occasion`. Raises: Invalid and Unavailable, before anything is started.
    """
    if not hasattr(os, "killpg"):
        raise Unavailable("agents can't be run on Windows, which has no process groups: connect them instead")
    from holdfast.agents.hooks import captures
    from holdfast.agents.run import Ends, Plan, run
    from holdfast.agents.stream import READERS
    from holdfast.prompts import Prompts

    words = tuple(command) if command and not command[0].startswith("-") else ("claude", *command)
    occasion = _occasion(words, agent, say, **about)
    plan = Plan(
        command=words,
        agent=agent,
        occasion=occasion,
        prompts=Prompts.in_folder(prompts or os.environ.get(PROMPTS)),
        facts=_facts(occasion.directory, occasion.service),
        environment=_for_the_agent(db, space),
    )
    return run(
        plan,
        readers=READERS,
        open_memories=lambda: _memories(db, space, clock),
        say=say,
        ends=Ends(later=captures.end_later, noted=captures.end_noted),
    )


def _occasion(
    words: tuple[str, ...],
    agent: str | None,
    say: Callable[[str], None],
    *,
    tier: int | None = None,
    service: str | None = None,
    name: str | None = None,
    project: str | None = None,
    captures: bool = True,
) -> "Occasion":
    from holdfast.agents.run.agents import AGENTS, Arguments, name_of
    from holdfast.agents.run.recorder import Occasion

    arguments = Arguments(words)
    directory = os.getcwd()
    project = project or paths.project_of(directory)
    # The host's own id where the caller chose one, so that hooks and transcripts mean the same session.
    session = arguments.value("--session-id") or str(uuid.uuid4())
    silence = capture_off.reason(project, session) if captures else None
    if silence:
        say(f"nothing is recorded: {silence}")
    return Occasion(
        session=session,
        name=name,
        client=AGENTS[name_of(arguments, agent)].client,
        directory=directory,
        project=project,
        tier=checked_tier(tier),
        service=service,
        captures=captures and not silence,
    )


def _memories(db: str | None, space: str | None, clock: "Clock | None") -> "Memories":
    from holdfast.engine.memories import Memories

    return Memories.open(db, space, clock=clock or wiring.utc_now)


def _facts(directory: str, service: str | None) -> tuple[tuple[str, str], ...]:
    """Nothing that changes from run to run: prompts that stay the same are cached."""
    facts = [("Host", platform.node() or "unknown"), ("Directory", directory)]
    if service:
        facts.append(("Service to look at first", service))
    return tuple(facts)


def _for_the_agent(db: str | None, space: str | None) -> dict[str, str]:
    """So that commands and hooks inside of the run use the same memory."""
    named = {"HOLDFAST_DB": db, "HOLDFAST_SPACE": space}
    return {name: value for name, value in named.items() if value}
