"""From marked words to statements: whole sentences, lines apart, long messages in windows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from holdfast.language.extract import extract
from holdfast.language.passages import WINDOW, statements, windows
from holdfast.language.wording import Utterance
from holdfast.models.builtin_model import Passage
from tests.marking_reader import MarkingReader


class SpanReader:
    """Marks given spans of the message, by the words between them."""

    def __init__(self, *marked: str) -> None:
        self._marked = marked

    def facts(self, messages: Sequence[tuple[str, str]]) -> list[Passage]:
        text = messages[-1][1]
        places = [(text.find(words), words) for words in self._marked]
        return [Passage(at, at + len(words), "fact", 0.9) for at, words in places if at >= 0]


def stated(text: str, *marked: str) -> list[str]:
    return [text[each.start : each.end].strip() for each in statements([], "user", text, SpanReader(*marked))]


def test_what_is_nearly_a_sentence_is_the_sentence() -> None:
    assert stated("only dorthe, shes the chair", "only dorthe, shes") == ["only dorthe, shes the chair"]
    assert stated("Fine. So it is.", "it is.") == ["So it is."]


def test_a_statement_begins_with_its_clause_and_behind_what_only_leads_to_it() -> None:
    text = "leave it. and when you report: five bullets at most"
    assert stated(text, text[14:]) == ["when you report: five bullets at most"]
    assert stated("since may our messages start with the ticket", "messages start with the ticket") == [
        "since may our messages start with the ticket"
    ]
    assert stated("fine, coffee. i sold the bike", ". i sold the bike") == ["i sold the bike"]


def test_scraps_of_sentences_are_nothing() -> None:
    assert stated("do not count all the days for me please, will you", "count") == []
    assert stated("Now in config.php (SEATS, HOURS). Shall I go on?", ".") == []


def test_every_line_of_a_list_is_a_statement_of_its_own() -> None:
    text = "rules:\n- i make the tags\n- so a tag means done\n1. never push"

    assert stated(text, text[9:]) == ["i make the tags", "so a tag means done", "never push"]


def test_a_wrapped_line_goes_on_in_the_next() -> None:
    text = "The nightly export of all the invoices to the bank of the company\nruns at two."

    assert stated(text, text) == [text]


def test_two_statements_of_one_sentence_stay_apart() -> None:
    text = "badelaug is the sauna booking for our club, i do it for free"

    assert stated(text, text[:42], text[44:]) == [text[:43], text[44:]]


def test_code_and_quotations_are_nobodys_statements() -> None:
    assert stated("```\nport = 8080 for ever and ever\n```", "port = 8080 for ever and ever") == []
    assert stated("> never deploy on a Friday at all", "never deploy on a Friday at all") == []
    assert stated("always run `make test` first", "always run `make test` first") != []


def test_what_another_memory_of_the_message_begins_with_is_none_of_its_own() -> None:
    text = "The club moved our boat to Fridays. So those mornings are out."
    reader = SpanReader(text[:35], text[36:])

    found = extract([], Utterance("user", text), reader)

    assert [each.content for each in found] == [text]


def test_a_long_message_is_read_in_windows_with_what_stands_before() -> None:
    text = "This is a sentence of a long message. " * 60
    reader = MarkingReader()

    statements([("assistant", "before " * 200)], "user", text, reader)

    assert len(reader.read) > 3
    assert all(len(given[-1][1]) <= WINDOW for given in reader.read)
    assert all(sum(len(part) for _, part in given) <= 1_000 for given in reader.read)
    assert reader.read[0][0][0] == "assistant"
    assert {given[0][0] for given in reader.read[1:]} == {"user"}


@given(st.text(alphabet="ab .\n-1", max_size=3_000))
def test_windows_hold_all_of_a_text_in_its_order(text: str) -> None:
    found = list(windows(text))

    assert "".join(text[start:end] for start, end in found).split() == text.split()
    assert all(end - start <= WINDOW for start, end in found)


def test_what_is_taken_back_in_the_same_message_is_no_memory() -> None:
    said = Utterance("user", "We use port 9090 for metrics. Scratch that, we use port 9091 for metrics.")

    assert [
        one.content for one in extract([], said, MarkingReader({"We use": "fact", "Scratch": "fact"}))
    ] == ["We use port 9091 for metrics."]


def test_what_a_person_asks_to_remember_is_a_statement_whatever_the_reader_marks() -> None:
    text = "morning. please remember that I only drink oat milk. Remember that time in Rome?"

    assert stated(text) == ["please remember that I only drink oat milk."]


def test_a_part_that_ends_in_the_middle_of_a_clause_goes_on_to_its_end() -> None:
    text = "The inverter draws two amps, which empties the batteries overnight in winter, so switch it off."

    assert stated(text, "The inverter draws two amps, which empties") == [
        "The inverter draws two amps, which empties the batteries overnight in winter,"
    ]


def test_items_of_a_list_that_end_with_a_semicolon_are_no_code() -> None:
    text = (
        "Stewards:\n- main ring, Duncan Thwaite;\n- produce tent, Margaret, who has the keys;\n- dogs, Tess."
    )

    assert stated(text, text) == [
        "Stewards:",
        "main ring, Duncan Thwaite;",
        "produce tent, Margaret, who has the keys;",
        "dogs, Tess.",
    ]
    assert stated("x = 5;\nreturn total;", "x = 5;\nreturn total;") == []
