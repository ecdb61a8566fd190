"""Given a request in words, then it names the entities that a reader would take it to name."""

from __future__ import annotations

import pytest

from agent import names

ROASTERS = ["Altona Kaffeerösterei GmbH", "Brûlerie du Canal SARL", "Torrefazione Isola S.p.A."]


@pytest.mark.parametrize(
    ("request_text", "number"),
    [
        ("Analyse Brûlerie du Canal SARL.", 1),
        ("how is brulerie du canal doing?", 1),
        ("Brulerie's margins, please", 1),
        ("BRÛLERIE-DU-CANAL", 1),
        ("Torrefazione Isola SpA in 2024", 2),
        ("torrefazione isola", 2),
        ("Torefazione Isola", 2),
        ("Altona Kafferösterei", 0),
        ("Altona", 0),
        ("altona kaffeeroesterei gmbh", 0),
    ],
)
def test_a_name_is_found_however_it_is_written(request_text: str, number: int) -> None:
    assert names.named(request_text, ROASTERS) == [ROASTERS[number]]


@pytest.mark.parametrize("request_text", ["", "How did margins develop?", "the coffee roasters", "2", "SARL", "du"])
def test_words_that_name_nobody_name_nobody(request_text: str) -> None:
    assert names.named(request_text, ROASTERS) == []


def test_two_names_are_both_named() -> None:
    assert names.named("Compare Altona with Brûlerie du Canal SARL", ROASTERS) == ROASTERS[:2]


def test_a_name_inside_a_longer_one_does_not_count() -> None:
    entities = ["Acme", "Acme Nordic AS"]
    assert names.named("Acme Nordic", entities) == ["Acme Nordic AS"]
    assert names.named("acme inc. please", entities) == ["Acme"]
    assert names.named("Acme and Acme Nordic", entities) == entities


def test_a_first_word_that_two_entities_share_names_neither() -> None:
    assert names.named("Northern", ["Northern Rail", "Northern Water"]) == []


@pytest.mark.parametrize(("answer", "number"), [("2", 1), ("no. 3", 2), ("Number 1", 0), (" #2 ", 1)])
def test_a_number_answers_a_numbered_question(answer: str, number: int) -> None:
    assert names.named(answer, ROASTERS, numbered=True) == [ROASTERS[number]]


@pytest.mark.parametrize("answer", ["0", "4", "2 or 3", "99999999999"])
def test_a_number_of_nobody_answers_nothing(answer: str) -> None:
    assert names.named(answer, ROASTERS, numbered=True) == []


def test_a_name_of_legal_forms_only_is_still_a_name() -> None:
    assert names.named("Holding AG", ["Holding AG", "Other"]) == ["Holding AG"]


def test_one_of_thousands_is_found_in_a_long_request() -> None:
    entities = [f"Company {n} Holding" for n in range(10_000)]
    assert names.named("word " * 1_900 + "company 4711", entities) == ["Company 4711 Holding"]
    assert names.named("compny 4711", entities) == []


def test_a_name_counts_where_it_stands_alone_though_it_also_stands_in_a_longer_one() -> None:
    entities = ["Nordic", "Acme Nordic Foods"]
    assert names.named("Acme Nordic Foods", entities) == ["Acme Nordic Foods"]
    assert names.named("Acme Nordic Foods or Nordic", entities) == entities
