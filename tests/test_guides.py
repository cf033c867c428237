"""What people copy from the documentation: every command exists, and those that can run do, page by page.

The commands of a page run in order, in a home of its own, with the installed program. What needs a key, a
registry, another program, or values of the reader's own is only looked up: its subcommand and options exist.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest

from holdfast.app.wiring import open_store
from holdfast.cli import cli
from holdfast.engine.administration import Administration
from tests.agents.importers.test_exports import chatgpt, node

REPOSITORY = Path(__file__).parents[1]
SAMPLES = Path(__file__).parent / "agents" / "importers" / "samples"
PAGES = {
    str(page.relative_to(REPOSITORY)): page.read_text(encoding="utf-8")
    for place in (
        "*.md",
        "docs/**/*.md",
        "docker/*.md",
        "deploy/**/*.md",
        "plugin/**/*.md",
        "examples/*.py",
        "training/*.md",
    )
    for page in sorted(REPOSITORY.glob(place))
    if page.name != "CHANGELOG.md"  # commands of earlier releases
}
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(holdfast [^`\n]+)`")
_IN_CODE = re.compile(r"(?:^|[;&|($`!]|-- )\s*(?:\w+=\S*\s+)*(holdfast [^\n]+)", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"$]*\"")
_OPERATOR = re.compile(r"[;|&()<>`]+")

#: Commands that need another program, a key, a server, or a person; or that stay until they are stopped.
_NOT_RUN = re.compile(
    r"""
    ^(?!holdfast\b|export\b|cat\b|mkdir\b|sqlite3\b|cd\b|grep\b|unset\b)  # of other programs
    | \b(?!ID\b)[A-Z]{2,}\b(?![=_./"])|\blast$|--session\ ID  # of the reader's own: TOKEN, the last session
    | \.\.\.|…|://|\$\(
    | ^holdfast\ (serve|up|open|chat|telegram|service\ install|uninstall)\b
    | ^holdfast\ inbox\ (approve|reject)
    | --\ (claude|codex|gemini)\b|--follow
    """,
    re.VERBOSE,
)
_CHECK = """#!/bin/sh
echo All services are up.
echo '[MEMORY:timing:jellyfin] Takes 60s to start after a restart'
echo '[EVENT:warning:caddy] Answers slowly'
"""
_MAY_FAIL = re.compile(r"^holdfast (audit|doctor)")  # exit code 1 says that there is something to do
#: `ID` on a page stands for the id of a memory: here, of the one that was changed last.
_ID = """id() {
  holdfast list --state all --sort recent --limit 1 --json |
    python -c 'import json, sys; print(json.load(sys.stdin)["memories"][0]["id"])'
}
"""


def _steps(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a page's blocks, each with the output that the page shows below it."""
    for _, language, block in _BLOCK.findall(text):
        joined = re.sub(r"\\\n\s*", "", block)
        if language == "console":
            for command, output in re.findall(r"^ *\$ (.+)\n((?:(?! *\$ ).*\n)*)", joined, re.MULTILINE):
                yield re.sub(r"\s+#\s.*", "", command), output
        elif language in ("sh", "bash"):
            yield from (
                (re.sub(r"\s+#\s.*", "", line).strip(), "") for line in joined.splitlines() if line.strip()
            )


def _mentions(text: str) -> Iterator[str]:
    """Every call of holdfast in a text: in its blocks, in inline code, and in the examples of help texts."""
    yield from _INLINE.findall(text)
    for _, language, block in _BLOCK.findall(text):
        if language in ("console", "sh", "bash", "text", ""):
            yield from _IN_CODE.findall(re.sub(r"^ *\$ ", "", block.replace("\\\n", " "), flags=re.MULTILINE))


def _words(call: str) -> list[str]:
    """The words of a call up to what a shell or a reader takes from there."""
    lexer = shlex.shlex(call, posix=True, punctuation_chars=";|&()<>`")
    lexer.wordchars += ":@%+,~*?[]{}$!^…·"
    words: list[str] = []
    try:
        for word in lexer:
            if _OPERATOR.fullmatch(word) or "…" in word or word == "...":
                break
            words.append(word)
    except ValueError:  # a text that goes on in the next line
        pass
    return words


def _wrong(words: list[str]) -> str | None:
    """What the program would not know of a call."""
    command: click.Command = cli
    context = click.Context(cli, info_name="holdfast")
    rest = words[1:]
    while True:
        try:
            given, rest, _ = command.make_parser(context).parse_args(rest)
        except click.UsageError as error:
            return None if "requires an argument" in error.message else error.message
        for parameter in command.params:
            value = given.get(str(parameter.name))
            known = parameter.type.choices if isinstance(parameter.type, click.Choice) else (value,)
            if isinstance(value, str) and value not in known and not value.isupper():
                return f"{value!r} is none of {', '.join(map(str, known))}"
        if not isinstance(command, click.Group):
            return f"unexpected {rest}" if rest and not context.allow_extra_args else None
        if not rest or rest[0].isupper():
            return None
        found = command.get_command(context, rest[0])
        if found is None:
            return f"no command {rest[0]!r}"
        command, context = found, click.Context(found, info_name=rest[0], parent=context)
        rest = rest[1:]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_exists(page: str) -> None:
    wrong = {call: reason for call in _mentions(PAGES[page]) if (reason := _wrong(_words(call)))}

    assert wrong == {}


def test_the_tasks_of_make_that_pages_name_exist() -> None:
    tasks = set(
        re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )

    named = {
        task for text in PAGES.values() for task in re.findall(r"^\$? ?make ([a-z-]+)", text, re.MULTILINE)
    }
    named |= {task for text in PAGES.values() for task in re.findall(r"`make ([a-z-]+)`", text)}

    assert named - tasks == set()


def test_the_extras_that_pages_install_exist() -> None:
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    found = (re.findall(r"(?:holdfast-memory|\.)\[([a-z,]+)\]", text) for text in PAGES.values())

    named = {extra for lists in found for one in lists for extra in one.split(",")}
    assert named
    assert named <= set(declared["optional-dependencies"])


def _runnable(page: str) -> list[tuple[str, str]]:
    bare = ((step, _QUOTED.sub("", step[0])) for step in _steps(PAGES[page]))
    return [step for step, words in bare if not _NOT_RUN.search(words) and not _shows_trouble(*step)]


def _shows_trouble(command: str, shown: str) -> bool:
    """Whether a page shows what `doctor` finds on a machine that is not as it should be."""
    return command == "holdfast doctor" and shown != ""


RUN = [
    page
    for page in PAGES
    if page != "docs/guides/rest.md"  # runs as a whole, against a service: tests/web/rest/test_guide.py
    and any(command.startswith("holdfast") for command, _ in _runnable(page))
]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="a page uses sqlite3")
@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_run_in_order_and_print_what_it_shows(page: str, tmp_path: Path) -> None:
    steps = _runnable(page)
    commands = (re.sub(r"\bID\b", "$(id)", command) for command, _ in steps)
    script = _ID + "\n".join(f"{command}\necho @@ $?" for command in commands)

    done = subprocess.run(
        ["bash", "-c", script],
        cwd=_project(tmp_path),
        env=_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
    )

    printed = re.split(r"^@@ (\d+)\n", done.stdout, flags=re.MULTILINE)
    for (command, shown), output, code in zip(steps, printed[::2], printed[1::2], strict=False):
        assert code == "0" or _MAY_FAIL.search(command), f"{command}\n{output}{done.stderr}"
        assert _as_shown(shown, output), f"{command} printed\n{output}instead of\n{shown}"
    assert len(printed) == 2 * len(steps) + 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def _as_shown(shown: str, output: str) -> bool:
    """Whether a page shows what was printed: `…` stands for anything, and ids differ."""
    pattern = re.sub(r"(\\\s)*…(\\\s)*", ".*", re.escape(shown.strip()))
    pattern = re.sub(r"(?<![\w-])(?=[\w-]*[A-Z0-9])[\w-]{8}(?![\w-])", r"[\\w-]{8}", pattern)
    return re.search(pattern, output, re.DOTALL) is not None


def _environment(home: Path) -> dict[str, str]:
    programs = Path(sys.executable).parent
    return {"HOME": str(home), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8"}


def _project(home: Path) -> Path:
    """A project in a home with what other programs left there: the files that pages import."""
    project = home / "shop"
    transcripts = home / ".claude" / "projects" / "-home-me-shop"
    for folder in (project / ".git", transcripts, home / ".claude-mem", home / "basic-memory"):
        folder.mkdir(parents=True)
    (project / "check.sh").write_text(_CHECK)
    (project / "check.sh").chmod(0o755)
    (project / "CLAUDE.md").write_text("# Shop\n\n- Always run make quick before a push\n- Use tabs\n")
    (project / "mem0.json").write_text(
        json.dumps({"results": [{"memory": "Prefers tea", "user_id": "alex"}]})
    )
    (project / "facts.csv").write_text("content,subject\nIs the boss,Alec\n")
    shutil.copy(SAMPLES / "mcp_memory.jsonl", project / "memory.jsonl")
    shutil.copy(SAMPLES / "claude_code_with_subagent.jsonl", transcripts / "session.jsonl")
    (home / "basic-memory" / "tea.md").write_text(
        "---\ntitle: Tea\n---\n\n- [preference] Green tea in the morning\n"
    )
    with zipfile.ZipFile(project / "chatgpt-export.zip", "w") as export:
        export.writestr(
            "conversations.json", json.dumps([chatgpt(node("a", None, "user", "I prefer tea."), at="a")])
        )
    with closing(sqlite3.connect(home / ".claude-mem" / "claude-mem.db")) as database:
        database.execute("CREATE TABLE observations (project TEXT, title TEXT, facts TEXT)")
        fact = json.dumps(["The payment webhook is retried five times"])
        database.execute("INSERT INTO observations VALUES ('shop', 'Webhooks', ?)", (fact,))
        database.commit()
    return project


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("README.md", r"Takes 60s to start after a restart 0\.\d"),
        (
            "docs/guides/assistants.md",
            r"False Remembered as (\w{8})\.\nYour memories \(1\):\n\nPerson\n• \[\1\] Alec",
        ),
    ],
)
def test_the_program_of_a_page_does_what_it_says(page: str, printed: str, sqlite_url: str) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)
    store = open_store(sqlite_url)
    Administration(store).create_space("me", profile="assistant")
    store.close()

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "HOLDFAST_DB": sqlite_url},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert re.match(printed, done.stdout)
