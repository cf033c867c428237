"""The project of the directory in commands, and what they say where nothing of a project shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

PORT = "The staging database runs on port 5433"
QUESTION = "on which port does the staging database run"


@pytest.fixture
def site(shell: Shell) -> Shell:
    """A space with a memory of the project website, two of another, and a global one."""
    shell.remembers(PORT, "--project", "website")
    shell.remembers("Invoices are sent on Mondays", "--project", "billing")
    shell.remembers("Invoices are numbered by year", "--project", "billing")
    shell.remembers("Prefers tea")
    return shell


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.cli.briefs.on_terminal", lambda: True)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of no project."""
    monkeypatch.chdir(tmp_path)


@requirement("scope.project")
def test_brief_and_context_are_about_the_project_of_the_directory(site: Shell, project: Path) -> None:
    brief = site.says("brief")
    context = site.says("context", stdin=QUESTION)

    assert PORT in brief
    assert "Prefers tea" in brief
    assert "Invoices" not in brief
    assert PORT in context
    assert "Invoices" in site.says("brief", "--project", "billing")


@requirement("scope.project")
def test_in_no_project_a_person_is_told_how_many_memories_projects_have(
    site: Shell, nowhere: None, terminal: None
) -> None:
    hint = "3 more belong to projects: --project NAME\n"

    assert site.says("brief").endswith(hint)
    assert site.says("context", stdin=QUESTION) == hint
    assert "belong to projects" not in site.says("brief", "--project", "website")


def test_a_pipe_gets_the_block_alone(site: Shell, nowhere: None) -> None:
    assert "belong to projects" not in site.says("brief")
    assert site.says("context", stdin=QUESTION) == ""


def test_a_mistyped_project_or_category_is_answered_with_the_known_ones(site: Shell, terminal: None) -> None:
    unknown = "no memories in project 'websit': known projects: website, billing\n"

    assert site.says("list", "--project", "websit") == unknown
    assert site.says("brief", "--project", "websit").endswith(unknown)
    assert site.says("list", "-c", "feedbak").startswith(
        "no memories in category 'feedbak': the categories are feedback, "
    )
    assert site.says("list", "--project", "website", "-c", "person") == "No matching memories\n"


def test_where_no_project_has_memories_none_is_named(shell: Shell) -> None:
    assert shell.says("list", "--project", "websit") == (
        "no memories in project 'websit': no project has any\n"
    )


def test_list_shows_the_project_of_each_memory(site: Shell) -> None:
    assert f"{PORT} (confidence 0.7, project website)\n" in site.says("list")
    assert f"{PORT} (project website)" in site.says("list", "--wide")
    assert "Prefers tea (confidence 0.7)\n" in site.says("list")


def test_recall_says_first_that_other_projects_have_what_is_asked_for(site: Shell, nowhere: None) -> None:
    said = site("recall", "staging database")

    assert said.exit_code == 1
    assert said.stdout.startswith("Nothing found here, but 1 match in other projects (`")


def test_a_budget_that_is_too_small_for_any_memory_is_said(site: Shell, terminal: None) -> None:
    said = site.says("brief", "--budget", "3", "--project", "website")

    assert "A budget of 3 tokens is too small for any of 2 memories: give more with --budget" in said
    assert "empty" not in said
