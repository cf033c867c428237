"""The tools of most profiles: search, remember, revise, forget, list, why. The profile selects them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from holdfast.agents.tools import tool_text
from holdfast.agents.tools.definition import READS, Answer, Effect, Parameter, Tool
from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Waiting
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter
from holdfast.domain.render import inline
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.engine.memories import Memories

_WRITING = ("memory_remember", "memory_revise", "add_to_memory", "update_memory")
_MAX_LISTED = 200
_MAX_NAMED = 10  # that a model can choose from
_ID = Parameter(name="id", says="The memory's id, 8 characters, as shown in brackets.", least=1, most=200)


def search(_: Profile) -> Tool:
    return Tool(
        name="memory_search",
        title="Search memory",
        says="Search earlier sessions by meaning: facts, preferences, decisions, conversations.",
        parameters=(
            Parameter(name="query", says="What to look for, in plain words.", least=1, most=10_000),
            Parameter(
                name="limit", says="Maximum number of hits. Default: 5.", kind="integer", required=False,
                least=1, most=50,
            ),
        ),
        effect=READS,
        run=_search,
    )  # fmt: skip


def remember(profile: Profile, *, name: str = "memory_remember", revise_with: str = "memory_revise") -> Tool:
    def run(memories: "Memories", given: Mapping[str, Any]) -> Answer:
        outcome = memories.remember(
            given["content"],
            category=given.get("category"),
            subject=given.get("subject"),
            private=given.get("private", False),
        )
        return tool_text.remembered(outcome, revise=revise_with)

    return Tool(
        name=name,
        title="Add to memory",
        says="Remember one fact, preference, decision or lesson that later sessions should know.",
        parameters=(
            Parameter(
                name="content",
                says="One self-contained fact: names instead of pronouns, dates instead of 'tomorrow'.",
                least=profile.limits.content_min,
                most=profile.limits.content_max,
            ),
            _category(profile),
            Parameter(
                name="subject",
                says="What it is about: a person, a service, a topic.",
                required=False,
                most=profile.limits.subject_max,
            ),
        ),
        effect=Effect(repeatable=True),
        returns=tool_text.CHANGED,
        run=run,
    )


def revise(profile: Profile, *, name: str = "memory_revise") -> Tool:
    return Tool(
        name=name,
        title="Update memory",
        says="Correct or update a memory by its id or its subject; earlier versions are kept.",
        parameters=(
            replace(_ID, required=False),
            Parameter(name="memory_id", says="Alias of id.", required=False, least=1, most=200),
            Parameter(
                name="content",
                says="The complete new text, not only the change.",
                required=False,
                least=profile.limits.content_min,
                most=profile.limits.content_max,
            ),
            Parameter(
                name="subject",
                says="With an id: the new subject. Without: selects the only memory with this subject.",
                required=False,
                most=profile.limits.subject_max,
            ),
        ),
        effect=Effect(repeatable=True),
        returns=tool_text.CHANGED,
        run=_revise,
    )


def with_private(tool: Tool) -> Tool:
    """A tool that writes one memory, with the choice of keeping it private."""
    if tool.name not in _WRITING:
        return tool
    says = "true: only this person's tokens see it, nobody else in the space."
    return replace(
        tool,
        parameters=(
            *tool.parameters,
            Parameter(name="private", says=says, kind="boolean", required=False),
        ),
    )


def forget(_: Profile) -> Tool:
    return Tool(
        name="memory_forget",
        title="Delete memory",
        says="Delete a memory by its id, when the user asks or when it is wrong.",
        parameters=(_ID,),
        effect=Effect(destroys=True, repeatable=True),
        returns=tool_text.CHANGED,
        run=_forget,
    )


def list_(profile: Profile) -> Tool:
    return Tool(
        name="memory_list",
        title="List memory",
        says="List all memories by category. To find something, use memory_search.",
        parameters=(_category(profile, required=False, says="Only this category."),),
        effect=READS,
        returns=tool_text.LISTED,
        run=_list,
    )


def why(_: Profile) -> Tool:
    return Tool(
        name="memory_why",
        title="Explain memory",
        says="Show where a memory came from: who said it, when, and how it changed.",
        parameters=(_ID,),
        effect=READS,
        returns=tool_text.STORY,
        run=_why,
    )


def feedback(_: Profile) -> Tool:
    return Tool(
        name="memory_feedback",
        title="Rate a recalled memory",
        says="Say that a recalled memory did not help: it is shown less for prompts like this one.",
        parameters=(
            _ID,
            Parameter(
                name="verdict", says="Default: unhelpful; helpful removes the mark.", required=False,
                choices=("unhelpful", "helpful"),
            ),
        ),
        effect=Effect(repeatable=True),
        returns=tool_text.CHANGED,
        run=_feedback,
    )  # fmt: skip


def _category(profile: Profile, *, required: bool | None = None, says: str | None = None) -> Parameter:
    if says is None:
        says = " ".join(f"{each.name}: {each.says}" for each in profile.categories)
    needed = profile.default_category is None if required is None else required
    return Parameter(name="category", says=says, required=needed, choices=profile.category_names)


def _search(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    found = memories.recall(given["query"], limit=given.get("limit", 5))
    many = "match" if found.other_projects == 1 else "matches"
    rest = f"\n{found.other_projects:,} {many} in other projects." if found.other_projects else ""
    if not found.hits:
        return Answer(f"No matching memories.{rest}")
    return Answer(tool_text.hits(found.hits) + rest)


def _revise(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    named, content, subject = (
        given.get("id") or given.get("memory_id"),
        given.get("content"),
        given.get("subject"),
    )
    if named is not None:
        memory_id = _bare(named)
    else:
        memory_id, subject = _about(subject, memories), None
    private = given.get("private")
    if content is None and subject is None and private is None:
        raise Invalid(
            "content is missing: give the complete new text, or an id and a new subject", field="content"
        )
    result = memories.revise(memory_id, content, subject=subject, private=private)
    if isinstance(result, Waiting):
        return tool_text.remembered(result, revise="")
    before, after = result.previous, result.memory
    old, new = inline(before.content), inline(after.content)
    if before.subject != after.subject:
        about = f"{inline(before.subject or 'none')} -> {inline(after.subject or 'none')}"
        new = f"{new} (subject {about})"
    return tool_text.changed("revised", after.id, f"Updated {after.id}: {old} -> {new}", stored=after)


def _bare(named: str) -> str:
    """The id in what a model gives as one: `a1b2c3d4`, or `[id:a1b2c3d4]` as blocks write it."""
    return named.strip().removeprefix("[").removesuffix("]").strip().removeprefix("id:").strip()


def _about(subject: str | None, memories: "Memories") -> str:
    """The id of the one memory on a subject."""
    if not subject:
        raise Invalid("no memory selected: give its id, or a subject that only one memory has", field="id")
    found = memories.find(Filter(subject=subject), limit=_MAX_NAMED).memories
    if len(found) != 1:
        how = (
            f"several memories have the subject {subject!r}:\n{tool_text.lines(found)}\nGive"
            if found
            else f"no memory has the subject {subject!r}: give"
        )
        raise Invalid(f"{how} the id", field="subject")
    return found[0].id


def _forget(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    gone: Memory = memories.forget(_bare(given["id"])).memory
    return tool_text.changed("forgotten", gone.id, f"Deleted: {inline(gone.content)}")


def _feedback(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    told = memories.feedback(_bare(given["id"]), helpful=given.get("verdict") == "helpful")
    effect = "counts as usual again" if told.helpful else "is shown less"
    said = f"Noted: {told.memory.id} {effect} for prompts like: {inline(told.prompt[:200])}"
    return tool_text.changed("helpful" if told.helpful else "unhelpful", told.memory.id, said)


def _list(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    page = memories.find(Filter(category=given.get("category")), limit=_MAX_LISTED)
    if not page.memories:
        return Answer("No memories yet.", tool_text.listed((), 0))
    more = page.total - len(page.memories)
    rest = f"\n{more:,} more not shown: use memory_search." if more else ""
    return Answer(tool_text.lines(page.shown) + rest, tool_text.listed(page.shown, page.total))


def _why(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    story = memories.why(_bare(given["id"]))
    return Answer(tool_text.story(story), tool_text.story_values(story))
