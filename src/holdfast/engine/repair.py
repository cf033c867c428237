"""repair: makes again what can be made from the texts of a space, and removes what belongs to nothing."""

from holdfast.domain.health import Damage
from holdfast.engine.embedding import embed_again, search_model
from holdfast.engine.space_context import SpaceContext


def repair(*, ctx: SpaceContext) -> Damage:
    """Mends the space; answers what was wrong with it before.

    Raises: Unavailable, when vectors are to be made and the embedder fails; the rest is mended then.
    """
    with ctx.store.write(ctx.space) as tx:
        found = tx.integrity.damage()
        tx.integrity.mend()
        embedder = search_model(ctx, tx)
    if embedder is not None:
        for kind, name in (("memories", "memory"), ("messages", "message")):
            with ctx.store.read(ctx.space) as tx:
                ids = tx.integrity.without_vector(name, embedder.name)
            embed_again(ctx, embedder, kind, ids)
    return found
