"""repair: makes again what can be made from the texts of a space, and removes what belongs to nothing."""

from holdfast.domain.damage import Damage
from holdfast.engine.embedding import embed_again, search_model
from holdfast.engine.space_context import Desk


def repair(*, desk: Desk) -> Damage:
    """Mends the space; answers what was wrong with it before.

    Raises: Unavailable, when vectors are to be made and the embedder fails; the rest is mended then.
    """
    with desk.store.write(desk.space) as tx:
        found = tx.integrity.damage()
        tx.integrity.mend()
        embedder = search_model(desk, tx)
    if embedder is not None:
        for kind, name in (("memories", "memory"), ("messages", "message")):
            with desk.store.read(desk.space) as tx:
                ids = tx.integrity.without_vector(name, embedder.name)
            embed_again(desk, embedder, kind, ids)
    return found
