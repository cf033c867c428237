"""Which tools a space offers, and the one way to call them.

A host program hands over a model's tool call as it came, and gives the answer back as it is.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.agents.tools import file_tools, memory_tools
from holdfast.agents.tools.definition import Answer, Tool
from holdfast.domain.profile import Profile
from holdfast.errors import HoldfastError, Invalid

if TYPE_CHECKING:
    from holdfast.engine.memories import Memories

# Under the names that profiles choose from.
_MAKERS: Mapping[str, Callable[[Profile], Tool]] = {
    # Where memories are files that are read by name, a search answers with those names.
    "memory_search": lambda profile: (
        file_tools.search(profile) if "memory_read" in profile.tools else memory_tools.search(profile)
    ),
    "memory_remember": memory_tools.remember,
    "memory_revise": memory_tools.revise,
    "memory_forget": memory_tools.forget,
    "memory_list": memory_tools.list_,
    "memory_why": memory_tools.why,
    "add_to_memory": lambda profile: memory_tools.remember(
        profile, name="add_to_memory", revise_with="update_memory"
    ),
    "update_memory": lambda profile: memory_tools.revise(profile, name="update_memory"),
    "memory_view": file_tools.view,
    "memory_read": file_tools.read,
    "memory_write": file_tools.write,
    "memory_update": file_tools.update,
    "memory_delete": file_tools.delete,
}


def offered(profile: Profile) -> tuple[Tool, ...]:
    """The tools of a space with this profile, in the profile's order.

    Raises: Invalid, for a profile of a user's own that names none of ours.
    """
    for name in profile.tools:
        if name not in _MAKERS:
            raise Invalid(
                f"profile {profile.name} names unknown tool {name!r}: use {', '.join(_MAKERS)}", field="tools"
            )
    return tuple(_MAKERS[name](profile) for name in profile.tools)


def call(memories: "Memories", name: str, arguments: Mapping[str, Any]) -> Answer:
    """What the tool `name` answers. What a model did wrong is said to the model, never raised."""
    tools = {tool.name: tool for tool in offered(memories.profile)}
    if name not in tools:
        return Answer(f"Unknown tool {name!r}: use {', '.join(tools)}.", failed=True)
    try:
        return tools[name].run(memories, tools[name].checked(arguments))
    except HoldfastError as error:
        return Answer(f"{error}", failed=True)
