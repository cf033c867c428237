"""promote: a memory of one project made global."""

from holdfast.domain.memory import Revision, Source
from holdfast.domain.outcomes import Waiting
from holdfast.engine.revise import Revised, revised
from holdfast.engine.space_context import SpaceContext, existing


def promote(memory_id: str, *, ctx: SpaceContext, source: Source) -> Revised | Waiting:
    """Lets a memory hold in every project; one that does already stays as it is.

    Raises: NotFound; Conflict, when a global memory has its name.
    """
    with ctx.store.write(ctx.space) as tx:
        known = existing(tx, memory_id)
        if known.project is None:
            return Revised(known, known)
        return revised(known, Revision(project=""), tx=tx, ctx=ctx, source=source, now=ctx.now())
