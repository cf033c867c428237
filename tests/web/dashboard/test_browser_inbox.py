"""The inbox, events and sessions in a real browser, while another process writes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from holdfast.domain.outcomes import settled
from tests.requirements_ledger import requirement
from tests.web.dashboard.browsing import Watched
from tests.web.dashboard.serving import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def waits(running: Running, *contents: str) -> list[str]:
    made = []
    with running.memories() as memories:
        for content in contents:
            subject = content.split()[0].lower()
            memory = settled(
                memories.speaking_as("tool").remember(
                    content, category="behavior", subject=subject, doubtful="a web page said so"
                )
            )
            assert memory is not None
            made.append(memory.id)
    return made


def states(running: Running, ids: list[str]) -> list[str]:
    with running.memories() as memories:
        return [memories.show(one).memory.state for one in ids]


@requirement("trust.inbox", "dash.browser")
def test_the_inbox_is_decided_by_keys_alone(watched: Watched, running: Running) -> None:
    ids = waits(
        running, "Caddy hums at night", "Redis naps at noon", "Loki sings", "Immich dances", "Tika sleeps"
    )
    page = watched.go("/inbox?space=ops")
    current = page.locator("[data-walk] .current")

    page.keyboard.press("j")
    expect(current).to_have_id(f"w-{ids[0]}")
    page.keyboard.press("a")
    expect(page.locator(f"#w-{ids[0]}")).to_have_count(0)
    expect(page.get_by_role("status").first).to_contain_text("Approved 1 memory.")
    expect(current).to_have_id(f"w-{ids[1]}")

    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(current).to_have_id(f"w-{ids[1]}")
    page.keyboard.press("r")
    expect(current).to_have_id(f"w-{ids[2]}")
    expect(page.locator(f"#w-{ids[1]}")).to_have_count(0)

    page.keyboard.press("e")
    field = page.get_by_label("Text")
    expect(field).to_be_focused()
    field.fill("Loki sings every Monday")
    page.get_by_role("button", name="Save and approve").press("Enter")
    expect(page.locator(f"#w-{ids[2]}")).to_have_count(0)

    expect(current).to_have_id(f"w-{ids[3]}")
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.get_by_role("group", name="Actions for the selection").get_by_role("button", name="Reject").press(
        "Enter"
    )
    expect(page.locator(f"#w-{ids[3]}")).to_have_count(0)

    assert states(running, ids) == ["active", "forgotten", "active", "forgotten", "waiting"]
    with running.memories() as memories:
        assert memories.show(ids[2]).memory.content == "Loki sings every Monday"

    page.get_by_role("button", name="Undo").click()
    expect(page.locator(f"#w-{ids[3]}")).to_be_visible()
    with running.memories() as memories:
        memories.reject(ids[3], ids[4])


@requirement("trust.inbox", "ops.events", "dash.live")
def test_what_another_process_leaves_appears_without_disturbing_a_selection(
    watched: Watched, running: Running
) -> None:
    [first] = waits(running, "Grafana paints")
    page = watched.go("/inbox?space=ops")
    page.locator(f"#w-{first}").get_by_role("checkbox").check()

    [second] = waits(running, "Vault yawns")
    expect(page.locator(f"#w-{second}")).to_be_visible()
    expect(page.locator(f"#w-{first}").get_by_role("checkbox")).to_be_checked()

    page = watched.go("/events?space=ops")
    with running.memories() as memories:
        memories.record_event("warning", "Disk at 86 percent", service="restic")
    expect(page.get_by_text("Disk at 86 percent")).to_be_visible()
    page.get_by_label("Critical", exact=True).check()
    expect(page.get_by_text("Disk at 86 percent")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"level=critical"))
    with running.memories() as memories:
        memories.reject(first, second)


@requirement("trust.undo-session", "dash.browser")
def test_a_session_is_undone_after_a_question_and_that_taken_back(watched: Watched, running: Running) -> None:
    with running.memories() as memories:
        agent = memories.speaking_as("assistant", session="night")
        agent.open_session("night", name="A night with a wrong idea")
        made = settled(agent.remember("Delete everything on Sundays", category="maintenance"))
        assert made is not None
    page = watched.go("/sessions?space=ops")
    page.get_by_role("link", name="A night with a wrong idea").click()
    page.wait_for_url("**/sessions/*")  # with its script: before that, the button opens a page of its own

    page.get_by_role("button", name="Undo its changes…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete everything on Sundays")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("Undone: 1 memory deleted.")
    assert states(running, [made.id]) == ["forgotten"]

    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("#said")).to_contain_text("reverted")
    assert states(running, [made.id]) == ["active"]
