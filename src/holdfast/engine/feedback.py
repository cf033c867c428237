"""feedback: a memory did not help with a prompt; for prompts like that one it counts less from then on.

Kept with the line of the receipt, so that it goes with the prompt and can be taken back.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from holdfast.domain.history import Receipt
from holdfast.domain.memory import Memory
from holdfast.domain.text import normal_form
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery
from holdfast.engine.space_context import SpaceContext, existing
from holdfast.errors import Conflict, NotFound

ALIKE: Final = 0.75  # the cosine from which two prompts ask the same
MOST_PROMPTS: Final = 20  # earlier prompts that one is compared with; the latest


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was said about a memory, and the prompt that it holds for."""

    memory: Memory
    prompt: str
    receipt: str
    helpful: bool


def feedback(
    memory_id: str,
    *,
    helpful: bool,
    ctx: SpaceContext,
    receipt: str | None = None,
    session: str | None = None,
) -> Feedback:
    """Marks a memory as not helpful for the prompt of a receipt, or takes the mark back.

    Without a receipt: of the latest recall that showed it, or in which it is marked; in the session, if one
    is given.
    Raises: NotFound, Conflict.
    """
    back = helpful and receipt is None
    with ctx.write() as tx:
        memory = existing(tx, memory_id)
        shown = tx.receipts.recall_of(memory_id, receipt=receipt, session=session, marked=back)
        if shown is None:
            where = f"receipt {receipt}" if receipt else f"a recall of {'this' if session else 'a'} session"
            was = "is not marked as not helpful in" if back else "was not in"
            raise NotFound(
                f"memory {memory_id} {was} {where}: only what a recall gave to a session can be rated. "
                "Search again with a session id, then rate it"
            )
        prompt = _prompt(shown)
        tx.receipts.mark(shown.id, memory_id, None if helpful else ctx.now())
    return Feedback(memory, prompt, shown.id, helpful)


def _prompt(receipt: Receipt) -> str:
    if receipt.query is None:
        raise Conflict(
            f"the prompt of receipt {receipt.id} was not stored, so no other can be compared with it: "
            "revise or delete the memory instead"
        )
    return receipt.query


def unhelpful(asked: PreparedQuery, memory_ids: Collection[str], tx: Transaction) -> frozenset[str]:
    """Those of the memories that did not help with a prompt like this one."""
    marks = tx.receipts.unhelpful(memory_ids, MOST_PROMPTS)
    if not marks:
        return frozenset()
    prompts = list(dict.fromkeys(prompt for _, prompt in marks))
    cosines = asked.cosines_of(prompts) or [0.0] * len(prompts)
    same = normal_form(asked.question.text)
    alike = {
        prompt
        for prompt, cosine in zip(prompts, cosines, strict=True)
        if cosine >= ALIKE or normal_form(prompt) == same
    }
    return frozenset(memory_id for memory_id, prompt in marks if prompt in alike)
