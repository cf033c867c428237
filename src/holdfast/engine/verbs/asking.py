"""What finds memories and tells of them: lists, recall, briefs, where one came from."""

from collections.abc import Sequence
from datetime import datetime

from holdfast.domain.access import needs
from holdfast.domain.history import Story
from holdfast.domain.memory import Link, Memory, Message
from holdfast.domain.query import Filter, Group, MemoryCursor, Order
from holdfast.engine import brief as briefs
from holdfast.engine import context as contexts
from holdfast.engine import delta as deltas
from holdfast.engine import find as finding
from holdfast.engine import inbox as inboxes
from holdfast.engine import look as looking
from holdfast.engine import recall as recalling
from holdfast.engine import review as reviewing
from holdfast.engine import sessions
from holdfast.engine.sessions import NewMessage
from holdfast.engine.spaces import Overview, overview
from holdfast.engine.verbs.speaking import Speaking


class Asking(Speaking):
    """What finds memories and tells of them: lists, recall, briefs, where one came from."""

    @needs("read")
    def find(
        self,
        where: Filter | None = None,
        *,
        order: Order = "category",
        group: Group | None = None,
        limit: int | None = None,
        offset: int = 0,
        after: MemoryCursor | None = None,
        as_of: datetime | None = None,
        exact: bool = True,
    ) -> finding.Page:
        """The memories that `where` admits, now or as they were believed at a past moment.

        Without `exact`, a total that would take long to count may be 10,000 and `more`.
        """
        return finding.find(
            where or Filter(), ctx=self._synced, order=order, group=group, limit=limit, offset=offset,
            after=after, as_of=as_of, exact=exact,
        )  # fmt: skip

    @needs("read")
    def subjects(self, *, limit: int = 200) -> list[tuple[str | None, int]]:
        """What memories are about, and how many of each; none stands for general knowledge."""
        return finding.subjects(ctx=self._synced, limit=limit)

    @needs("read")
    def last_change(self) -> int:
        """The number of the newest change in this space: the same number, the same memories."""
        return finding.last_change(ctx=self._synced)

    @needs("read")
    def linked(self, memory_id: str) -> list[tuple[Link, Memory]]:
        """The links of a memory with what stands at their other ends."""
        return finding.linked(memory_id, ctx=self._synced)

    @needs("read")
    def around(self, message_id: str, *, reach: int = 2) -> list[Message]:
        """A message between those that were said before and after it."""
        return sessions.around(message_id, ctx=self._synced, reach=reach)

    @needs("read")
    def show(self, memory_id: str) -> finding.Details:
        """One memory with its wordings and links."""
        return finding.show(memory_id, ctx=self._synced)

    @needs("read")
    def why(self, memory_id: str) -> Story:
        """Where a memory came from, how its confidence came about, and which prompts it went into."""
        return finding.why(memory_id, ctx=self._synced, to_agent=self._origin == "assistant")

    @needs("read")
    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        threshold: float | None = None,
        where: Filter | None = None,
        project: str | None = None,
        as_of: datetime | None = None,
        asked_at: datetime | None = None,
        messages: bool = True,
    ) -> recalling.Recall:
        """What answers a question, remembered or said; of `project` and of none unless `where` says more.

        Days like "last week" are counted from `asked_at`, now if not said.
        """
        return recalling.recall(
            query,
            ctx=self._synced,
            where=where,
            project=project or self._project,
            limit=limit,
            threshold=threshold,
            as_of=as_of,
            asked_at=asked_at,
            session=self._session,
            messages=messages,
        )

    @needs("read")
    def look(
        self,
        query: str,
        *,
        limit: int = 5,
        project: str | None = None,
        as_of: datetime | None = None,
        budget: int = contexts.BUDGET,
    ) -> looking.Look:
        """What `recall` and `context` would bring up and what they nearly did; no access, no receipt.

        Of all projects, unless one is named.
        """
        return looking.look(
            query, ctx=self._synced, project=project or self._project, limit=limit, as_of=as_of, budget=budget
        )

    @needs("read")
    def brief(
        self, *, project: str | None = None, subject: str | None = None, budget: int | None = None
    ) -> briefs.Brief:
        """The block for a prompt, within its budget; in a session always the same one."""
        return briefs.brief(
            ctx=self._synced,
            session=self._session,
            project=project or self._project,
            subject=subject,
            budget=budget,
        )

    @needs("read")
    def context(
        self,
        said: Sequence[NewMessage | str],
        *,
        project: str | None = None,
        budget: int = contexts.BUDGET,
    ) -> contexts.Context:
        """What is relevant to the last messages and new to this session, as a block for a prompt."""
        return contexts.context(
            said, ctx=self._synced, session=self._session, project=project or self._project, budget=budget
        )

    @needs("read")
    def delta(self, *, budget: int = deltas.BUDGET) -> str:
        """What others added since this session's brief, once; empty when there is nothing."""
        if self._session is None:
            return ""
        return deltas.delta(self._session, ctx=self._synced, project=self._project, budget=budget)

    @needs("read")
    def inbox(self) -> list[inboxes.Item]:
        """What waits for a person, oldest first."""
        return inboxes.inbox(ctx=self._synced)

    @needs("read")
    def review(self, *, limit: int = 20, after: MemoryCursor | None = None) -> reviewing.Pile:
        """What waits for a person, oldest first, with its origin and the known ones beside it."""
        return reviewing.review(ctx=self._synced, limit=limit, after=after)

    @needs("read")
    def stakes(self, *memory_ids: str) -> list[reviewing.Waiter]:
        """What a decision about these waiting memories would change."""
        return reviewing.stakes(memory_ids, ctx=self._synced)

    @needs("read")
    def overview(self) -> Overview:
        """The space and how much is in it."""
        return overview(self.space, store=self._synced.store)
