"""The known memories that a chunk may be about, for a model to compare with: the nearest, and what the rules
have just made of it. Nothing is counted as used, for nobody reads them."""

from holdfast.domain.memory import Memory, Session
from holdfast.domain.query import Filter
from holdfast.engine.memory_search import search
from holdfast.engine.query_prepare import ask
from holdfast.engine.space_context import SpaceContext
from holdfast.language.chunks import Chunk
from holdfast.language.gate import PERSON
from holdfast.language.sentences import own_voice

MOST = 12
_OF_THE_CHUNK = 6
_OF_A_SESSION = 200  # memories among which those of the chunk are looked for
_ASKED = 1_200  # characters of the chunk that are searched with


def related(chunk: Chunk, session: Session, *, ctx: SpaceContext) -> list[Memory]:
    """At most 12 active memories of the session's project and of none."""
    spoken = [own_voice(message.content or "") for message in chunk.new if message.role == PERSON]
    text = "\n".join(spoken)[-_ASKED:] or own_voice(chunk.new[-1].content or "")[-_ASKED:]
    where = Filter(project=session.project, other_projects=False)
    [asked] = ask([text], ctx=ctx, asked_at=ctx.now(), messages=False)
    with ctx.store.read(ctx.space) as tx:
        near = [found.memory for found in search(asked, where, tx, MOST)]
        said = {message.id for message in chunk.messages}
        mine = tx.memories.find(Filter(session=session.id), order="recent", limit=_OF_A_SESSION)
    own = [memory for memory in mine if memory.source.message in said][:_OF_THE_CHUNK]
    both = {memory.id: memory for memory in (*own, *near)}
    return list(both.values())[:MOST]
