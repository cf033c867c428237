"""The models of a space: which are configured, whether they answer, and the progress of the vectors."""

from dataclasses import dataclass

from holdfast.domain.jobs import VectorModel
from holdfast.domain.spend import Caps, Purpose
from holdfast.engine import meter
from holdfast.engine.ports import LanguageModel, Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.model_call import ModelPrompt


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """The progress of a space's vectors for the configured embedder."""

    space: str
    wanted: str | None  # the configured embedder; None: search by words
    searched: str | None  # the one whose vectors are complete; None: search by words until then
    done: int  # changes of memories, and messages, that were processed
    total: int

    @property
    def changing(self) -> bool:
        """Whether another embedder was configured and its vectors are still being made."""
        return self.wanted is not None and self.searched not in (None, self.wanted)

    @property
    def complete(self) -> bool:
        return self.wanted is None or (self.done == self.total and not self.changing)


_TRIAL = ModelPrompt(
    name="trial",
    system="This is a connection test. Answer with the requested object.",
    user='Say "here".',
    schema={
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
    max_tokens=200,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The names of the models; None where none is configured."""

    embedder: str | None
    vectors: EmbeddingProgress
    readers: dict[Purpose, str | None]
    caps: Caps


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a test call of a model."""

    name: str
    used_for: str
    trouble: str | None  # None: it answered correctly


def models(*, ctx: SpaceContext) -> Models:
    """The configured models, and the progress of the vectors."""
    name = ctx.embedder.name if ctx.embedder else None
    with ctx.read() as tx:
        vectors = embedding_progress(name, tx)
    return Models(
        embedder=name,
        vectors=vectors,
        readers={purpose: model.name if model else None for purpose, model in _configured(ctx).items()},
        caps=ctx.language_models.caps if ctx.language_models else Caps(),
    )


def trials(*, ctx: SpaceContext) -> list[Trial]:
    """Asks each language model one short question, metered and limited like any other.

    Raises: Unavailable, if the store can't be used.
    """
    found: dict[str, Trial] = {}
    for purpose, model in _configured(ctx).items():
        if model is not None and model.name not in found:
            found[model.name] = Trial(model.name, purpose, _tried(model, purpose, ctx))
    return list(found.values())


def _tried(model: LanguageModel, purpose: Purpose, ctx: SpaceContext) -> str | None:
    try:
        meter.ask(_TRIAL, purpose, model, ctx=ctx, session=None)
    except Unavailable as trouble:  # no key, no server, no answer, a limit
        return str(trouble).strip().split("\n")[0]
    return None


def _configured(ctx: SpaceContext) -> dict[Purpose, LanguageModel | None]:
    none: dict[Purpose, LanguageModel | None] = {"gate": None, "extract": None, "judge": None}
    return ctx.language_models.by_purpose if ctx.language_models is not None else none


def embedding_progress(wanted: str | None, tx: Transaction) -> EmbeddingProgress:
    """The progress of the vectors of the embedder called `wanted`."""
    models = {model.name: model for model in tx.models.all()}
    ready = [model.name for model in models.values() if model.ready]
    mine = models.get(wanted) if wanted is not None else None
    searched = wanted if wanted in ready else (ready[-1] if ready and wanted is not None else None)
    done, total = _figures(mine, tx)
    return EmbeddingProgress(tx.space.name, wanted, searched, done, total)


def _figures(model: VectorModel | None, tx: Transaction) -> tuple[int, int]:
    keeps = tx.space.keeps_messages
    if model is None:
        return 0, tx.journal.last() + (tx.sessions.message_count() if keeps else 0)
    messages = (model.messages_to, model.last_message) if keeps else (0, 0)
    return model.memories_to + messages[0], model.last_change + messages[1]
