"""`holdfast up`: from a fresh machine to a first recall; every step is confirmed and safe to repeat."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli import say
from holdfast.cli.call import Call, NotConfirmed, in_space

if TYPE_CHECKING:
    from holdfast.agents.importers.transcript import TranscriptPart
    from holdfast.agents.transcripts import Tally, Transcript, Transcripts
    from holdfast.domain.ranking import Hit

    _Waiting = list[tuple[Transcripts, Transcript]]

STEPS: Final = ("transcripts", "service", "connect")
_MOST_SESSIONS: Final = 500  # that the first question is chosen from, and messages of each
_MOST_MESSAGES: Final = 20
_WIDTH: Final = 13  # of the column with the steps' names
_QUOTE: Final = 3  # of the quotation mark and what is before it
_SHOWN: Final = 240  # characters of what was said


@dataclass(slots=True)
class Guide:
    """The options, the output so far, and the user messages that the first question is chosen from."""

    call: Call
    yes: bool
    without: frozenset[str]
    answer: dict[str, Any] = field(default_factory=dict)
    failed: bool = False
    said: list[list[str]] = field(default_factory=list)  # by people, a list a session

    def tell(self, step: str, text: str, **told: Any) -> None:
        self.answer[step] = told
        if not self.call.json:
            indented = text.replace("\n", f"\n{'':{_WIDTH}}")
            click.echo(f"{click.style(f'{step:<{_WIDTH}}', bold=True)}{indented}")

    def fail(self, step: str, why: str) -> None:
        self.failed = True
        self.tell(step, click.style(say.one_line(why), fg="yellow"), done=False, reason=why)

    def agrees(self, question: str) -> bool:
        """Asks for confirmation on standard error, so that standard output holds results only."""
        return self.yes or click.confirm(question, default=True, err=True)

    def heard(self, reading: "TranscriptPart") -> None:
        for talk in reading.conversations:
            texts = [one.text for one in talk.messages if one.role == "user"]
            if texts:
                self.said.append(texts[-_MOST_MESSAGES:])
        del self.said[:-_MOST_SESSIONS]


@click.command()
@click.option("--yes", is_flag=True, help="Confirm every step.")
@click.option("--without", multiple=True, type=click.Choice(STEPS), help="A step to skip; repeatable.")
@in_space
def up(call: Call, yes: bool, without: tuple[str, ...]) -> None:
    """Set everything up: transcripts, service, agents, a first recall.

    Imports the transcripts of Claude Code, Codex, Gemini CLI and opencode on this machine, starts the service
    (as a systemd or launchd service where possible), connects the agents that it finds, and ends with a
    recall from your past sessions and the commands to go on with. Asks before every step; safe to repeat.

    \b
        holdfast up
        holdfast up --yes --without connect
    """
    if not yes and (sys.stdin is None or not sys.stdin.isatty()):
        raise NotConfirmed("not a terminal: add --yes to confirm")
    guide = Guide(call, yes, frozenset(without))
    _memories(guide)
    steps: dict[str, Callable[[Guide], None]] = {
        "transcripts": _transcripts,
        "service": _service,
        "connect": _connect,
    }
    for name, step in steps.items():
        if name not in guide.without:
            step(guide)
    _first_recall(guide)
    call.tell(_next_steps(guide), guide.answer)
    if guide.failed:
        raise click.exceptions.Exit(1)


def _memories(guide: Guide) -> None:
    with guide.call.memories(creates=True) as memories:
        where, space = memories.store.where(), memories.space
    guide.tell("memories", f"{say.one_line(where)}, space {say.one_line(space)}", place=where, space=space)


# ------------------------------------------------------------------------------------------------ transcripts


def _transcripts(guide: Guide) -> None:
    from holdfast.agents.transcripts import Tally, Transcripts, usual_places
    from holdfast.cli import import_files

    places = [Transcripts(place, form) for form, found in usual_places().items() for place in found]
    waiting = [(found, each) for found in places for each in found.unread()]
    counted = Tally()
    if waiting and not guide.yes:
        waiting = _new(guide, waiting, counted)
    if not waiting:
        nothing = "nothing new from Claude Code, Codex, Gemini CLI or opencode"
        return guide.tell("transcripts", nothing, done=True, found=0)
    if not guide.yes:
        amount = f"{say.count(len(counted.sessions), 'session')} with {say.count(counted.kept, 'message')}"
        if not guide.agrees(f"Found {amount} from {', '.join(counted.files)}. Import them?"):
            return guide.tell("transcripts", "skipped", done=False, sessions=len(counted.sessions))
    tally = Tally()
    with (
        guide.call.memories("import") as memories,
        guide.call.progress("Reading", total=_size(waiting), in_bytes=True) as bar,
    ):
        for found, transcript in waiting:
            reading = import_files.take_one(transcript, found, memories, tally)
            if reading is not None:
                guide.heard(reading)
            bar(advance=transcript.unread)
    text = "\n".join(import_files.told(tally))
    return guide.tell("transcripts", text, done=True, **import_files.as_json(tally))


def _size(waiting: "_Waiting") -> int:
    return sum(each.unread for _, each in waiting)


def _new(guide: Guide, waiting: "_Waiting", counted: "Tally") -> "_Waiting":
    """The transcripts with messages that were not imported yet; adds what is new to `counted`."""
    from holdfast.agents.transcripts import Tally, take
    from holdfast.errors import Invalid

    fresh = []
    with (
        guide.call.memories("import") as memories,
        guide.call.progress("Reading", total=_size(waiting), in_bytes=True) as bar,
    ):
        for found, transcript in waiting:
            bar(advance=transcript.unread)
            part = Tally()
            with suppress(Invalid):
                take(found.read(transcript), memories, part, dry_run=True)
            if part.kept:
                fresh.append((found, transcript))
                counted.files[transcript.format] += 1
                counted.sessions |= part.sessions
                counted.kept += part.kept
    return fresh


# ---------------------------------------------------------------------------------------------------- service


def _service(guide: Guide) -> None:
    from holdfast.cli import service_process, service_unit
    from holdfast.errors import Conflict, HoldfastError, Invalid
    from holdfast.settings import carried

    if found := service_process.running():
        guide.tell(
            "service", f"running at {found.url}", done=True, url=found.url, pid=found.pid, started=False
        )
        return
    by_manager = ""
    try:
        wanted = service_unit.unit(service_unit.own_kind(), carried(guide.call.db, guide.call.space))
        if service_unit.trouble(wanted) is None and guide.agrees(
            f"Start the service at login ({wanted.path})?"
        ):
            service_unit.install(wanted)
            by_manager = str(wanted.path)
    except (Conflict, Invalid) as why:
        click.echo(f"holdfast: {say.one_line(str(why))}", err=True)  # then without the service manager
    if not by_manager and not guide.agrees("Start the service in the background?"):
        guide.tell("service", "skipped", done=False)
        return
    try:
        if by_manager:
            found, started = service_process.waited_for(), True
        else:
            found, started = service_process.start(db=guide.call.db, space=guide.call.space)
    except HoldfastError as trouble:
        guide.fail("service", str(trouble))
        return
    how = f"installed as {by_manager}" if by_manager else "started in the background"
    text = f"running at {found.url}, {how}" if started else f"running at {found.url}"
    told = {"url": found.url, "pid": found.pid, "started": started, "unit": by_manager or None}
    guide.tell("service", say.one_line(text), done=True, **told)


# ---------------------------------------------------------------------------------------------------- clients


def _connect(guide: Guide) -> None:
    from holdfast.app import client_setup
    from holdfast.errors import HoldfastError

    connected: dict[str, list[str]] = {}
    lines, wrong = [], []
    for name in client_setup.clients_in_use():
        try:
            found = client_setup.connection(name, space=guide.call.space, db=guide.call.db)
            changed = [str(change.path) for change in found.connecting() if change.needed]
            if changed and not guide.agrees(f"Connect {found.client.title} ({', '.join(changed)})?"):
                lines.append(f"{found.client.title}: skipped")
                continue
            client_setup.connect(found, guide.call.db)
        except HoldfastError as trouble:
            wrong.append(f"{name}: {trouble}")
            continue
        connected[name] = changed
        lines.append(f"{found.client.title}: {'connected' if changed else 'already connected'}")
        lines += [found.client.then] if changed and found.client.then else []
    if wrong:
        guide.fail("connect", "; ".join(wrong))
        return
    text = "\n".join(lines) or say.hint("no agent found: `holdfast connect --help` lists the supported ones")
    guide.tell("connect", say.visible(text), done=True, connected=connected)


# ----------------------------------------------------------------------------------------------- first recall


def _first_recall(guide: Guide) -> None:
    from holdfast.domain.query import Filter
    from holdfast.language.demo_questions import questions
    from holdfast.wire.values import to_json

    with guide.call.memories() as memories:
        newest = memories.find(order="recent", limit=3)
        for question in [*questions(guide.said), *(memory.content for memory in newest.memories)]:
            found = memories.recall(question, where=Filter(), limit=3)
            if found.hits:
                shown = "\n".join([say.one_line(question), *map(_shown, found.hits)])
                guide.tell("recall", shown, question=question, **to_json(found))
                return
    hint = f"nothing to search yet: add a memory with {say.command('remember', 'TEXT')}, or start an agent"
    if guide.said or newest.total:
        hint = f"ask about something from your past sessions: {say.command('recall', 'QUESTION')}"
    guide.tell("recall", hint, question=None, hits=[])


def _next_steps(guide: Guide) -> str:
    """How to see what there is, how to stop capture, and how to get rid of all of it."""
    told = guide.answer
    title = "Ready."
    if guide.failed:
        title = say.hint("Not everything worked: `holdfast doctor` says why. Then run `holdfast up` again.")
    elif told.get("connect", {}).get("connected"):
        title = "Ready: every new session starts with what earlier ones learned."
    listed = "memories"
    if told.get("service", {}).get("done") and told.get("transcripts", {}).get("new"):
        listed = "memories; the service is reading the imported sessions now"
    steps = {
        "open": "dashboard: view, search, edit, approve, undo",
        "list": listed,
        "sessions": "past sessions",
        "status": "service, agents, last hook, cost",
        "undo-session last": "undo everything that the last session wrote",
        "quiet on": "stop capture in this project",
        "service stop": "stop the service; `up` starts it again",
        "uninstall": "disconnect the agents and stop the service; memories are kept",
    }
    commands = {f"{say.program()} {say.as_given(name, guide.call)}": what for name, what in steps.items()}
    width = max(map(len, commands))
    lines = (f"  {click.style(f'{name:<{width}}', fg='cyan')}  {what}" for name, what in commands.items())
    return "\n".join(["", click.style(title, bold=True), *lines])


def _shown(hit: "Hit") -> str:
    """A hit with its speaker and date, shortened to a line or two."""
    from holdfast.domain.ranking import MemoryHit

    if isinstance(hit, MemoryHit):
        return f"  {say.headline(hit.memory)}"
    text = say.one_line(hit.message.content or "")
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    if say.on_terminal():
        text = f"\n{'':{_QUOTE}}".join(wrap(text, max(say.width() - _WIDTH - _QUOTE, 20)))
    project = hit.session.project if hit.session else None
    notes = [
        "you" if hit.message.role == "user" else "the agent",
        say.moment(hit.message.said_at),
        *([f"in {say.one_line(project)}"] if project else []),
    ]
    return f"  “{text}”\n  {click.style(', '.join(notes), dim=True)}"
