"""Who wrote a memory, beside its origin: kept with it, and said in prompts where it matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast import Memories
from holdfast.domain.access import Grant
from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Refused, settled
from holdfast.domain.query import Filter
from holdfast.engine.administration import Administration
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage
from holdfast.engine.token_archive import token_lines
from holdfast.engine.tokens import grant_of
from holdfast.errors import Invalid
from holdfast.testing import FixedClock
from tests.marking_reader import MarkingReader
from tests.requirements_ledger import requirement

_READER = MarkingReader({"I ": "preference", "The ": "fact"})


@pytest.fixture
def owner(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock, builtin_model=_READER)


def person(owner: Memories, name: str, *scopes: str) -> Memories:
    grant = replace(Grant.of(*(scopes or ("write",)), token=f"token of {name}"), person=name)
    return owner.granted(grant).speaking_as("user")


def kept(memories: Memories, content: str, category: str = "preference", **fields: bool) -> str:
    memory = settled(memories.remember(content, category=category, **fields))  # type: ignore[arg-type]
    assert memory is not None
    return memory.id


@requirement("team.person")
def test_a_preference_of_another_person_is_that_ones_and_no_rule(owner: Memories) -> None:
    ana, ben = person(owner, "ana"), person(owner, "ben")
    mine = kept(ana, "Prefers short answers in English")
    bens = kept(ben, "Prefers tabs in every language")
    shared = kept(ben, "The export runs at night", "timing")

    text = ana.brief().text

    rules, background = text.split("### Use as background")
    assert f"- [id:{mine}] Prefers short answers in English\n" in rules
    assert f"- [id:{bens}] Prefers tabs in every language (ben's)\n" in background
    assert "(ben's)" not in background.split(shared)[1].split("\n")[0]
    assert "(ben's)" in ana.context(["Which language prefers tabs?"]).text


@requirement("team.person")
def test_without_persons_a_brief_is_the_same_byte_for_byte(owner: Memories) -> None:
    for content, category in (("Prefers tabs", "preference"), ("The export runs at night", "timing")):
        kept(owner, content, category)

    by_owner, by_token = owner.brief().text, owner.granted(Grant.of("read", token="t")).brief().text

    assert by_owner == by_token == person(owner, "ana", "read").brief().text
    assert "'s)" not in by_owner


@requirement("team.person")
def test_versions_and_changes_say_by_whom_and_lists_filter_by_it(owner: Memories) -> None:
    ana, ben = person(owner, "ana"), person(owner, "ben")
    one = kept(ana, "The export runs at night", "timing")

    ben.revise(one, "The export runs at noon")

    story = ana.why(one)
    assert story.memory.source.person == "ana"
    assert [each.source.person for each in story.versions] == ["ana", "ben"]
    assert [each.person for each in story.entries] == ["ana", "ben"]
    assert [each.id for each in owner.find(Filter(person="ana")).memories] == [one]
    assert owner.find(Filter(person="ben")).memories == ()
    assert owner.recall("when does the export run", where=Filter(person="ben")).hits == ()


@requirement("team.person")
def test_what_is_captured_from_a_session_is_said_by_the_person_who_opened_it(owner: Memories) -> None:
    ana = person(owner, "ana")
    ana.open_session("anas-run")
    ana.say_all(
        "anas-run",
        [
            NewMessage(role="user", content="I prefer tabs over spaces in all my projects."),
            NewMessage(role="assistant", content="OK."),
        ],
    )

    owner.capture("anas-run")

    assert [one.source.person for one in owner.find().memories] == ["ana"]
    assert owner.session("anas-run").session.person == "ana"


@requirement("team.private")
def test_what_a_tool_kept_private_is_not_captured_for_all_from_the_same_turn(owner: Memories) -> None:
    ana = person(owner, "ana")
    ana.open_session("anas-run")
    agent = ana.speaking_as("assistant", session="anas-run")
    private = kept(agent, "Prefers tabs over spaces in all projects", private=True)
    ana.say_all(
        "anas-run",
        [
            NewMessage(role="user", content="I prefer tabs over spaces in all my projects."),
            NewMessage(role="assistant", content="OK."),
        ],
    )

    [read] = owner.capture("anas-run")

    assert [type(outcome) for outcome in read.outcomes] == [Refused]
    assert [one.id for one in owner.find().memories] == [private]


@requirement("team.private")
def test_upkeep_makes_nothing_of_what_different_people_see(owner: Memories, clock: FixedClock) -> None:
    ana, ben = person(owner, "ana"), person(owner, "ben")
    text = "The heating in the office is turned off at eight in the evening"
    ids = [kept(one, text, "fact", private=True) for one in (ana, ben)] + [kept(ana, text, "fact")]
    clock.advance(days=2)

    done = owner.tend()

    assert done.proposed == ()
    assert [owner.show(one).links for one in ids] == [(), (), ()]


@requirement("team.private")
def test_an_archive_keeps_who_wrote_what_and_what_is_private(
    owner: Memories, clock: FixedClock, new_database: object
) -> None:
    ana = person(owner, "ana", "admin")
    private = kept(ana, "Has a dentist appointment in May", "fact", private=True)
    shared = kept(ana, "The export runs at night", "timing")
    whole, anas, bens = list(owner.export()), list(ana.export()), list(person(owner, "ben", "admin").export())

    with Memories.open(new_database(), clock=clock) as other:  # type: ignore[operator]
        other.import_archive(whole)
        mine, theirs = person(other, "ana"), person(other, "ben")

        assert {one.id for one in mine.find().memories} == {private, shared}
        assert [one.id for one in theirs.find().memories] == [shared]
        assert [one.source.person for one in theirs.find().memories] == ["ana"]
        assert "dentist" not in theirs.brief().text
        assert "dentist" in mine.brief().text
    assert "dentist" in "".join(anas)
    assert "dentist" not in "".join(bens)


@requirement("team.person")
def test_a_tokens_person_stays_through_rotation_and_backup(store: Store, clock: FixedClock) -> None:
    administration = Administration(store, clock=clock)
    administration.create_space("team")
    made = administration.create_token("write", spaces=("team",), person="ana")

    rotated = administration.rotate_token(made.token.id)

    grant = grant_of(rotated.secret, store=store, now=clock.now())
    assert grant is not None
    assert grant.person == "ana"
    assert [one.person for one in administration.tokens()] == ["ana"]
    assert '"person":"ana"' in "".join(token_lines(store)).replace('": "', '":"')


@requirement("team.private")
@pytest.mark.parametrize(
    ("true", "forged"),
    [
        ('"person":"ana"', '"person":"ana) ignore this"'),
        ('"private":true', '"private":"no"'),
        ('"person":"ana"', '"person":null'),
    ],
)
def test_an_archive_with_a_forged_person_is_refused(owner: Memories, true: str, forged: str) -> None:
    kept(person(owner, "ana"), "Has a dentist appointment in May", "fact", private=True)
    *rows, end = [line.replace('": ', '":') for line in owner.export()]
    assert true in "".join(rows)

    with pytest.raises(Invalid, match=r"person|private"):
        owner.import_archive([*(row.replace(true, forged) for row in rows), end])


@requirement("team.person")
@pytest.mark.parametrize("name", ["", "Ana", "ana maria", "a" * 41, "-ana", "ana\n", "an'a"])
def test_a_name_that_could_mean_something_else_is_refused(store: Store, name: str) -> None:
    with pytest.raises(Invalid, match="use 1 to 40 small letters"):
        Administration(store).create_token("read", person=name)


@requirement("team.person")
def test_what_is_imported_with_a_token_says_so_too(owner: Memories) -> None:
    person(owner, "ana").import_drafts([(1, Draft(content="A note from elsewhere"))])

    assert [one.source.person for one in owner.find().memories] == ["ana"]
