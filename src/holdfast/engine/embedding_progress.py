"""How far a space's vectors are: with which model it is searched, and what is still to be embedded."""

from dataclasses import dataclass

from holdfast.engine.ports import Transaction, VectorModel


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """The vectors of one space, seen from the embedder that is configured."""

    space: str
    wanted: str | None  # the configured embedder; none: words alone
    searched: str | None  # the one whose vectors are complete; none: words alone until then
    done: int  # changes of memories, and messages, that were looked at
    total: int

    @property
    def changing(self) -> bool:
        """Whether another embedder was configured and its vectors are still being made."""
        return self.wanted is not None and self.searched not in (None, self.wanted)

    @property
    def complete(self) -> bool:
        return self.wanted is None or (self.done == self.total and not self.changing)


def embedding_progress(wanted: str | None, tx: Transaction) -> EmbeddingProgress:
    """How far the vectors of the embedder called `wanted` are."""
    models = {model.name: model for model in tx.models.all()}
    ready = [model.name for model in models.values() if model.ready]
    mine = models.get(wanted) if wanted is not None else None
    searched = wanted if wanted in ready else (ready[-1] if ready and wanted is not None else None)
    done, total = _figures(mine, tx)
    return EmbeddingProgress(tx.space.name, wanted, searched, done, total)


def _figures(model: VectorModel | None, tx: Transaction) -> tuple[int, int]:
    keeps = tx.space.keeps_messages
    if model is None:
        return 0, tx.dump.last_seq() + (tx.sessions.message_count() if keeps else 0)
    messages = (model.messages_to, model.last_message) if keeps else (0, 0)
    return model.memories_to + messages[0], model.last_change + messages[1]
