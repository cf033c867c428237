"""The benchmarks of recall over what was said, in a throw-away store: LoCoMo, LongMemEval, and our own."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bench.commands.figures import answer, progress, unusable, with_result_file
from holdfast.cli.tables import Table, TableColumn
from holdfast.errors import Unavailable

if TYPE_CHECKING:
    from bench.conversations import (
        Ask,
        Conversation,
        ConversationsReport,
        Loaded,
        Meeting,
        Question,
    )
    from holdfast.domain.ranking import Hit
    from holdfast.engine.ports import Embedder, Store
    from holdfast.engine.sessions import NewMessage

_AT_ONCE = 512  # messages that are embedded at a time

Command = TypeVar("Command", bound=Callable[..., Any])


def _on_public_data(command: Command) -> Command:
    data = click.option(
        "--data", type=click.Path(path_type=Path), required=True, help="The benchmark's file."
    )
    first = click.option("--first", type=click.IntRange(min=1), metavar="N", help="Only the first N of it.")
    says = "Read the conversations in as transcripts are, and capture what is worth keeping, before asking."
    tapped = click.option("--through-tap", "tapped", is_flag=True, help=says)
    return data(first(tapped(with_result_file(command))))


@click.command()
@_on_public_data
@click.pass_context
def locomo(ctx: click.Context, data: Path, first: int | None, tapped: bool, file: str | None) -> None:
    """Measure recall on LoCoMo: talks of two people over months.

    Expects locomo10.json from github.com/snap-research/locomo as it is, gzipped or not. Each conversation is
    said into a space of its own; each question searches its conversation only, with no language model.
    Sessions are ranked by their best message. Adversarial questions are reported apart, and questions without
    evidence are left out. With --through-tap memories are captured from the talks first; a memory that is
    found stands for the message that it was taken from.

    \b
        python -m bench locomo --data locomo10.json
        python -m bench locomo --data locomo10.json --through-tap
        python -m bench locomo --data locomo10.json --first 1 --json figures.json
    """
    from bench.locomo import load

    _measured(ctx, load, data, first, tapped, file)


@click.command()
@_on_public_data
@click.pass_context
def longmemeval(ctx: click.Context, data: Path, first: int | None, tapped: bool, file: str | None) -> None:
    """Measure recall on LongMemEval: one question to some fifty chats.

    Expects longmemeval_s.json (or _m, or _oracle) from github.com/xiaowu0162/LongMemEval as it is, or one
    case a line, gzipped or not. Each case is said into a space of its own and asked at its question's date,
    with no language model. Sessions are ranked by their best message. Questions that nothing answers are
    reported apart.

    \b
        python -m bench longmemeval --data longmemeval_s.json
        python -m bench longmemeval --data longmemeval_s.json --first 20 --json figures.json
    """
    from bench.longmemeval import load

    _measured(ctx, load, data, first, tapped, file)


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="A file, or a folder of months_*.jsonl; the test part if not said.",
)
@with_result_file
@click.pass_context
def months(ctx: click.Context, data: Path | None, file: str | None) -> None:
    """Measure recall on what one user and an assistant said over months.

    On our own data, in which topics come back and many messages sound alike; with no language model.

    \b
        python -m bench months
        python -m bench months --data folder --json figures.json
    """
    from bench.months import load
    from bench.relations import TEST

    _measured(ctx, load, data or TEST, None, False, file)


def _measured(
    ctx: click.Context,
    load: "Callable[[Path], Loaded]",
    data: Path,
    first: int | None,
    tapped: bool,
    file: str | None,
) -> None:
    import tempfile
    from dataclasses import replace
    from functools import partial

    from bench.conversations import measure
    from holdfast.app import wiring

    try:
        loaded = load(data)
    except (ValueError, OSError) as error:
        raise unusable(data, error) from None
    if first is not None:
        loaded = replace(loaded, conversations=loaded.conversations[:first])
    embedder = wiring.open_embedder()
    captured = Counter[str]()
    with tempfile.TemporaryDirectory() as folder, progress(loaded.bench, loaded.questions) as bar:
        store = wiring.open_store(f"{folder}/bench.db")
        try:
            hold = partial(_told, store=store, embedder=embedder, captured=captured if tapped else None)
            report = measure(loaded, hold, bar.done)
        finally:
            store.close()
    figures = {**report.as_json(), "embedder": embedder.name if embedder else None}
    if tapped:
        figures["captured"] = captured["memories"]
    answer(ctx, figures, file, lambda: _show(report, captured["memories"] if tapped else None))


@contextmanager
def _told(
    conversation: "Conversation",
    *,
    store: "Store",
    embedder: "Embedder | None",
    captured: "Counter[str] | None",
) -> "Iterator[Ask]":
    """The conversation in a space of its own, as long as its questions are asked; `captured` counts memories
    where it goes through the tap."""
    from bench.conversations import DEPTH
    from holdfast.engine.memories import Memories
    from holdfast.engine.spaces import create_space

    now = conversation.meetings[0].at
    space = create_space("conversation", store=store, clock=lambda: now)
    memories = Memories.of(store, space.name, clock=lambda: now, embedder=embedder)
    turn_of: dict[str, str] = {}
    for number, meeting in enumerate(conversation.meetings, start=1):
        said = _said(number, meeting, turn_of)
        if captured is None:
            memories.say_all(f"s{number}", said)
            continue
        now = meeting.at
        memories.take_session(f"s{number}", said, started_at=now, ended_at=now)
        memories.capture()
    if captured is not None:
        captured["memories"] += memories.overview().active
    while memories.embed(_AT_ONCE):
        pass

    def ask(question: "Question") -> Sequence[str]:
        nonlocal now
        now = question.at
        found = memories.recall(question.text, limit=DEPTH, threshold=0.0)
        if embedder is not None and found.matched != "meaning":
            raise Unavailable(f"the embedder {embedder.name} fails: what words alone find would be measured")
        return _turns(found.hits, turn_of)

    yield ask
    store.delete_space(space.name)


def _turns(hits: "Sequence[Hit]", turn_of: "Mapping[str, str]") -> list[str]:
    """The turns in the order of the hits: a memory shows the one that it was taken from."""
    from holdfast.domain.ranking import MessageHit

    shown = [hit.message if isinstance(hit, MessageHit) else hit.cites for hit in hits]
    return list(dict.fromkeys(turn_of[message.id] for message in shown if message is not None))


def _said(number: int, meeting: "Meeting", turn_of: dict[str, str]) -> "list[NewMessage]":
    """The turns of a meeting, each noted under the message that it is."""
    from holdfast.engine.sessions import NewMessage

    said = []
    for count, turn in enumerate(meeting.turns, start=1):
        message_id = f"s{number}m{count}"
        turn_of[message_id] = turn.id
        said.append(
            NewMessage(
                role=turn.role,
                content=turn.text,
                speaker=turn.speaker,
                message_id=message_id,
                said_at=meeting.at,
            )
        )
    return said


def _show(report: "ConversationsReport", captured: int | None) -> None:
    """One table: a line for all questions, one for each category, and those that are counted apart."""
    names = [name for name in _TITLES if name in report.metrics]
    apart = [name for name in report.counts if f"{name}.session.hit@5" in report.metrics]
    asked = sum(count for name, count in report.counts.items() if name not in apart)
    click.echo(f"{report.bench}, {report.conversations:,} conversations, {asked:,} questions\n")
    titles = [TableColumn(title=_TITLES[name], justify="right") for name in names]
    table = Table([TableColumn(title="questions"), TableColumn(title="count", justify="right"), *titles])
    table.rows.append(["all", f"{asked:,}", *_shares(report, names, "{}")])
    for category, count in sorted(report.counts.items(), key=lambda entry: (entry[0] in apart, entry[0])):
        form = f"{category}.{{}}" if category in apart else f"{{}}.{category}"
        label = f"{category}, apart" if category in apart else category
        table.rows.append([label, f"{count:,}", *_shares(report, names, form)])
    table.show()
    if captured is not None:
        click.echo(f"\nread in through the tap: {captured:,} memories were captured beside the messages")
    if report.left_out:
        click.echo(f"\n{report.left_out:,} questions without evidence were left out")


_TITLES = {
    "turn.R@5": "turn R@5",
    "turn.R@10": "turn R@10",
    "turn.NDCG@10": "turn NDCG@10",
    "session.hit@5": "session hit@5",
    "session.all@5": "session all@5",
}


def _shares(report: "ConversationsReport", names: Sequence[str], form: str) -> list[str]:
    """The figures of one line; empty where the data says too little for one."""
    found = []
    for name in names:
        inner = name if form == "{}" or form.startswith("{}") else name.removeprefix("turn.")
        share = report.metrics.get(form.format(inner))
        found.append("" if share is None else f"{share:.1%}")
    return found
