"""The tools that most styles of memory offer: search, remember, revise, forget, list, why.

Each is a thin call of one verb. Which of them a space offers, and under which names, its profile says.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Waiting
from holdfast.domain.profile import Profile
from holdfast.domain.render import inline
from holdfast.tools import told
from holdfast.tools.definition import READS, Answer, Effect, Parameter, Tool

if TYPE_CHECKING:
    from holdfast.memories import Memories

_MOST_LISTED = 200
_ID = Parameter(name="id", says="The memory's id, 8 characters, as shown in brackets.", least=1, most=200)


def search(_: Profile) -> Tool:
    return Tool(
        name="memory_search",
        title="Search memory",
        says="Search what earlier sessions learned, by meaning: facts, preferences, decisions, talks.",
        parameters=(
            Parameter(name="query", says="What to look for, in plain words.", least=1, most=10_000),
            Parameter(
                name="limit", says="At most so many hits; 5 if not given.", kind="integer", required=False,
                least=1, most=50,
            ),
        ),
        effect=READS,
        run=_search,
    )  # fmt: skip


def remember(profile: Profile, *, name: str = "memory_remember", revise_with: str = "memory_revise") -> Tool:
    def run(memories: "Memories", given: Mapping[str, Any]) -> Answer:
        outcome = memories.remember(
            given["content"], category=given.get("category"), subject=given.get("subject")
        )
        return told.remembered(outcome, revise=revise_with)

    return Tool(
        name=name,
        title="Add to memory",
        says="Remember one fact, preference, decision or lesson that later sessions should know.",
        parameters=(
            Parameter(
                name="content",
                says="One fact that stands alone: names instead of pronouns, dates instead of 'tomorrow'.",
                least=profile.limits.content_min,
                most=profile.limits.content_max,
            ),
            _category(profile),
            Parameter(
                name="subject",
                says="Whom or what it is about: a person, a service, a topic.",
                required=False,
                most=profile.limits.subject_max,
            ),
        ),
        effect=Effect(repeatable=True),
        returns=told.CHANGED,
        run=run,
    )


def revise(profile: Profile, *, name: str = "memory_revise") -> Tool:
    return Tool(
        name=name,
        title="Update memory",
        says="Correct or update a memory by its id; earlier wordings are kept.",
        parameters=(
            _ID,
            Parameter(
                name="content",
                says="The whole new text, not only what changed.",
                least=profile.limits.content_min,
                most=profile.limits.content_max,
            ),
        ),
        effect=Effect(repeatable=True),
        returns=told.CHANGED,
        run=_revise,
    )


def forget(_: Profile) -> Tool:
    return Tool(
        name="memory_forget",
        title="Forget",
        says="Forget a memory by its id, when the user asks for it or when it is wrong.",
        parameters=(_ID,),
        effect=Effect(destroys=True, repeatable=True),
        returns=told.CHANGED,
        run=_forget,
    )


def list_(profile: Profile) -> Tool:
    return Tool(
        name="memory_list",
        title="List memory",
        says="List what is remembered, by category; for an overview. To find something, search.",
        parameters=(_category(profile, required=False, says="Only this category."),),
        effect=READS,
        run=_list,
    )


def why(_: Profile) -> Tool:
    return Tool(
        name="memory_why",
        title="Why is it remembered",
        says="Tell where a memory came from: who said it, when, and how it changed.",
        parameters=(_ID,),
        effect=READS,
        run=_why,
    )


def _category(profile: Profile, *, required: bool | None = None, says: str | None = None) -> Parameter:
    if says is None:
        says = " ".join(f"{each.name}: {each.says}" for each in profile.categories)
    needed = profile.default_category is None if required is None else required
    return Parameter(name="category", says=says, required=needed, choices=profile.category_names)


def _search(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    found = memories.recall(given["query"], limit=given.get("limit", 5))
    many = "match is" if found.other_projects == 1 else "matches are"
    rest = f"\n{found.other_projects:,} {many} in other projects." if found.other_projects else ""
    if not found.hits:
        return Answer(f"Nothing in memory answers that.{rest}")
    return Answer(told.hits(found.hits) + rest)


def _revise(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    result = memories.revise(given["id"], given["content"])
    if isinstance(result, Waiting):
        return told.remembered(result, revise="")
    old, new = inline(result.previous.content), inline(result.memory.content)
    return told.changed("revised", result.memory.id, f"Updated {result.memory.id}: {old} -> {new}")


def _forget(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    gone: Memory = memories.forget(given["id"]).memory
    return told.changed("forgotten", gone.id, f"Forgotten: {inline(gone.content)}")


def _list(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    from holdfast.domain.query import Filter

    page = memories.find(Filter(category=given.get("category")), limit=_MOST_LISTED)
    if not page.memories:
        return Answer("Nothing is remembered yet.")
    more = page.total - len(page.memories)
    rest = f"\n{more:,} more are not shown: use memory_search." if more else ""
    return Answer(told.lines(page.shown) + rest)


def _why(memories: "Memories", given: Mapping[str, Any]) -> Answer:
    return Answer(told.story(memories.why(given["id"])))
