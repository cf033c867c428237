"""Stored text never becomes a part of a page: 500 hostile texts in every field, on every page."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from urllib.parse import quote

import pytest

from holdfast.domain.outcomes import settled
from holdfast.engine.intake import safe
from holdfast.engine.sessions import NewMessage
from tests.requirements_ledger import requirement
from tests.web.dashboard.addresses import PAGES, VARYING, Example
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board, posted

AMOUNT = 500
IN_ONE_SPACE = 25  # half a page of them
PLAIN = "Restarts the tunnel when its lease ends"
_CORES = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>",
    "</td></tr></table>", "</textarea><b>", "</title><h1>", '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)", "{{ 7*7 }}", "{% include 'x' %}", "<a href=javascript:alert(1)>",
    "</script><script>", "<!-- ", "--> <p>", "<![CDATA[", "&lt;script&gt;", "&#60;b&#62;",
    "<form action=//evil.example>", "<base href=//evil.example>", "<meta http-equiv=refresh content=0>",
    "</option></select>", "<iframe srcdoc='<b>'>", '"><input name=key>', "hx-get=/logout",
    "<div hx-get=/x hx-trigger=load>",
)  # fmt: skip
_AROUND = (
    "{}", "it says {} here", '"{}"', "'{}'", "`{}`", "\u202e{}", "\u200b{}", "á{}", "{}\u2028{}",
    "<<{}>>", "ſ{}", "%3C{}", "\\u003c{}", "= {}", "[{}](x)", "# {}", "{} é漢字🙂", "&{};", "{}\x00",
    "\r\n{}",
)  # fmt: skip
HOSTILE = [around.replace("{}", core) for around, core in itertools.product(_AROUND, _CORES)]

#: Every core once, nearly each in another of the surroundings.
SOME = [HOSTILE[(place % len(_AROUND)) * len(_CORES) + place % len(_CORES)] for place in range(IN_ONE_SPACE)]


def test_there_are_as_many_hostile_texts_as_promised() -> None:
    assert len(set(HOSTILE)) == AMOUNT


@requirement("trust.block", "dash.browser")
@pytest.mark.parametrize(
    "texts", [pytest.param(SOME, id="some"), pytest.param(HOSTILE, id="all", marks=pytest.mark.faults)]
)
@pytest.mark.on_postgres(HOSTILE)
def test_no_hostile_text_makes_an_element_or_an_attribute(board: Board, texts: list[str]) -> None:
    peaceful = {
        False: haunted(board, "peace", lambda number: f"{PLAIN} {number}"),
        True: haunted(board, "lines", lambda number: f"\n{PLAIN} {number}"),  # has a paragraph in addition
    }
    spaces = [
        haunted(board, f"haunted-{start}", texts[start : start + IN_ONE_SPACE].__getitem__)
        for start in range(0, len(texts), IN_ONE_SPACE)
    ]
    browser = board.browser()
    shapes = {
        lines: {name: shape(browser.get(address(peace)).text) for name, address in PAGES.items()}
        for lines, peace in peaceful.items()
    }

    for known in spaces:
        ours = shapes["\n" in board.memories(known.space).show(known.memory).memory.content]
        for name, address in PAGES.items():
            answer = browser.get(address(known))
            assert answer.status_code == 200, (name, answer.text[:500])
            found = shape(answer.text)
            if name in VARYING:  # how much is found or alike is up to the texts
                assert found.keys() <= ours[name].keys(), name
            else:
                assert found == ours[name], name


@requirement("trust.block")
@pytest.mark.parametrize(
    "path", ["/search?space=ops&project=y&q", "/search?space=ops&q=y&project", "/files?q"]
)
def test_no_hostile_question_makes_an_element_or_an_attribute(board: Board, path: str) -> None:
    browser = board.browser()
    plain = shape(browser.get(f"{path}=x").text)

    for text in SOME:
        answer = browser.get(f"{path}={quote(text.encode())}")
        if answer.status_code != 422:  # a NUL
            assert shape(answer.text) == plain, text


@requirement("trust.block")
def test_no_hostile_name_of_a_token_makes_an_element_or_an_attribute(board: Board) -> None:
    def made(name: str) -> str:
        fields = {"scope": "read", "name": name}
        answer = posted(browser, "/settings/tokens?space=ops", fields, script=False)
        assert answer.status_code in (200, 422), answer.text
        return answer.text if answer.status_code == 200 else ""

    browser = board.browser()
    plain = shape(made("Plain"))

    for text in HOSTILE[::50]:
        assert shape(made(text)).keys() <= plain.keys(), text


@requirement("trust.block")
def test_no_hostile_address_makes_an_element_or_an_attribute(board: Board) -> None:
    browser = board.browser()
    choices = ("q", "subject", "tag", "session")
    plain = browser.get("/memories?space=ops&" + "&".join(f"{name}=x" for name in choices))

    for text in SOME:
        query = "&".join(f"{name}={quote(text.encode())}" for name in choices)
        answer = browser.get(f"/memories?space=ops&{query}")
        if answer.status_code == 422:  # a NUL, which no memory holds
            continue
        assert shape(answer.text) == shape(plain.text), text
        assert Page(browser.get(f"/login?next={quote(text.encode())}").text).by_id("token")


def shape(html: str) -> dict[tuple[str, frozenset[str]], int]:
    """What a page is made of. How many words differ between two wordings is up to the texts."""
    page = Page(html)
    for element in page.elements:
        for name, value in element.attributes.items():
            assert not name.startswith("on"), (element.tag, name)
            if name in ("href", "src", "action", "formaction", "hx-get", "hx-post"):
                assert value.startswith(("/", "#")), value
                assert not value.startswith("//"), value
    return {kind: count for kind, count in page.shape.items() if kind[0] not in ("ins", "del")}


def haunted(board: Board, space: str, text: Callable[[int], str]) -> Example:
    """A space with memories in which every field of the user's holds such a text."""
    board.make(space, "default")
    memories = board.memories(space)
    session = safe("".join(filter(str.isprintable, f"{space} {text(0)}"))).strip()[:180]
    made = ""
    agent = memories.speaking_as("assistant", session=session)
    agent.open_session(session, name=text(1), client=text(2), project=text(3), directory=text(4))
    said = agent.say_all(
        session, [NewMessage(role="user", content=f"{n} {text(n)}", speaker=text(n)[:60]) for n in range(5)]
    )
    for number in range(IN_ONE_SPACE):
        # A word of its own keeps each apart from the others, whatever the judge makes of the hostile part.
        outcome = agent.remember(
            f"zq{number}x{number}y {text(number)}",
            subject=f"q{number} {text(number)}"[:200],
            summary=f"s {text(number)}",
            tags=[f"t{number} {text(number)}"[:64]],
            message=said[2].id if number == 0 else None,
        )
        memory = settled(outcome)
        assert memory is not None, outcome
        made = made or memory.id
    memories.revise(made, f"other words {text(7)}")
    first, second = memories.find(limit=2, order="recent").memories
    memories.link(made, first.id if first.id != made else second.id)
    memories.speaking_as("assistant", session=session).recall(f"zq0x0y {text(0)}")
    subject = memories.show(made).memory.subject or ""
    return Example(memory=made, session=session, space=space, file=memories.files()[0].path, subject=subject)
