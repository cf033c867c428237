"""The memories of a space page by page: no long read, and no transaction open between two pages."""

from collections.abc import Iterator, Sequence

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, MemoryCursor
from holdfast.engine.space_context import SpaceContext

_PAGE = 200


def memory_pages(ctx: SpaceContext, where: Filter) -> Iterator[Sequence[Memory]]:
    """What `where` admits, oldest first. A last page that is full is followed by an empty one."""
    after: MemoryCursor | None = None
    while True:
        with ctx.store.read(ctx.space) as tx:
            page = tx.memories.find(where, order="created", limit=_PAGE, after=after)
        yield page
        if len(page) < _PAGE:
            return
        after = MemoryCursor.of(page[-1])
