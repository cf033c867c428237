"""What keeps a space in order: upkeep, background work, models, spend, events and cooldowns."""

from collections.abc import Callable, Iterator

from holdfast.app import wiring
from holdfast.domain.access import needs
from holdfast.domain.operations import Attempt, Event, Standing
from holdfast.domain.query import TimeCursor
from holdfast.domain.spend import GroupedBy, SpendReport
from holdfast.engine import audit as audits
from holdfast.engine import cooldowns as cooling
from holdfast.engine import embedding, jobs, meter, models_in_use, tend
from holdfast.engine import events as happenings
from holdfast.engine import stats as figuring
from holdfast.engine.embedding_progress import EmbeddingProgress
from holdfast.engine.ports import Job, JobState, TimeUp
from holdfast.engine.tend import Preview, Tended
from holdfast.engine.verbs.speaking import Speaking


class Tending(Speaking):
    """What keeps a space in order: upkeep, background work, models, spend, events and cooldowns."""

    @needs("read")
    def stats(self) -> figuring.Stats:
        """The space in figures: growth, kinds, belief, use, capture and jobs."""
        return figuring.stats(ctx=self._synced)

    @needs("read")
    def models(self) -> models_in_use.Models:
        """The models that the space works with, by name."""
        return models_in_use.models(ctx=self._synced)

    @needs("admin")
    def try_models(self) -> list[models_in_use.Trial]:
        """Asks the embedder and each language model something short, and tells which answered."""
        found = models_in_use.trials(ctx=self._synced)
        embedder = self._ctx.embedder
        if embedder is None:
            return found
        trial = models_in_use.Trial(embedder.name, "meaning", wiring.try_embedder(embedder))
        return [trial, *found]

    @needs("write")
    def tend(
        self,
        report: Callable[[EmbeddingProgress], None] | None = None,
        *,
        clock_is_right: bool = False,
    ) -> tend.Tended:
        """The upkeep: lets fade what nobody confirmed, and makes vectors; `report` hears how far they are.

        After a pause of more than 180 days nothing fades, unless somebody says that `clock_is_right`.
        """
        return tend.tend(ctx=self._synced, report=report, clock_is_right=clock_is_right)

    @needs("write")
    def upkeep(self) -> Iterator[Tended]:
        """The same without the vectors, in small steps: begin each when nothing more urgent is to be done."""
        return tend.upkeep(ctx=self._synced)

    @needs("read")
    def tend_preview(self) -> Preview:
        """What the upkeep would let fade, archive and propose now; nothing is changed."""
        return tend.preview(ctx=self._synced)

    @needs("read")
    def audit(self, seen: Callable[[int, int], None] = lambda done, total: None) -> audits.Audit:
        """What is junk or may become it, with ids and what to do; `seen` hears how far it is."""
        return audits.audit(ctx=self._synced, seen=seen)

    @needs("write")
    def embed(self, limit: int, *, time_up: TimeUp = lambda: False) -> int:
        """Gives up to `limit` texts that have none their vectors, until the time is up; answers how many.

        Raises: Unavailable, when the embedder fails.
        """
        return embedding.embed_missing(self._synced, limit=limit, changing=limit, time_up=time_up)

    @needs("read")
    def jobs(self, state: JobState = "queued", *, limit: int = 100) -> list[Job]:
        """The jobs in one state, oldest first."""
        return jobs.listed(state, ctx=self._synced, limit=limit)

    @needs("read")
    def spend(self, *, by: GroupedBy = "purpose", days: int | None = None) -> SpendReport:
        """What models cost the space, of the last days or ever, by one label, and what they may cost."""
        return meter.spend(ctx=self._synced, by=by, days=days)

    @needs("write")
    def record_event(self, level: str, content: str, *, service: str | None = None) -> Event:
        """Keeps what happened to a service, or in general."""
        return happenings.record_event(
            level, content, ctx=self._synced, service=service, session=self._session
        )

    @needs("read")
    def events(
        self,
        *,
        level: str | None = None,
        service: str | None = None,
        session: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        after: TimeCursor | None = None,
    ) -> list[Event]:
        """What happened, the latest first; `after` is where the last page ended."""
        return happenings.events(
            ctx=self._synced, level=level, service=service, session=session, limit=limit, offset=offset,
            after=after,
        )  # fmt: skip

    @needs("write")
    def record_attempt(
        self, action: str, service: str, succeeded: bool, *, content: str | None = None
    ) -> Attempt:
        """Keeps that an action was taken on a service, so that it is not taken too often."""
        return cooling.record_attempt(
            action, service, succeeded, ctx=self._synced, content=content, session=self._session
        )

    @needs("read")
    def cooldowns(self, *, service: str | None = None) -> list[Standing]:
        """The actions inside their window, by service, and whether another one is allowed."""
        return cooling.cooldowns(ctx=self._synced, service=service)
