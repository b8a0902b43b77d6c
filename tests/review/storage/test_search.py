"""Finding documents by their words: the same in both kinds of database, whatever is asked."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayesift.review.storage import Document, Project, SearchError
from bayesift.review.storage import search as searching

GIVEN = [
    Document("10.1/tin", "Tin falls in London", "The price of tin fell again on the metal exchange."),
    Document("b_7", "Ships wait", "A hundred ships wait for grain before the port."),
    Document("c", "", "A court has fined a maker of tin-plated CANS; exchange metal! it's NOT or near"),
    Document("d", "Copper", "rises 3.5 % AND the price of copper rose: miners are on strike at the mine."),
    Document("e", "Straße ﬁne", "Ärzte in Zu\u0308rich lesen ＣＡＮＳ und naïve Texte; ΣΊΣΥΦΟΣ \ufffd"),
    Document("f", "東京の天気", "今日は良い天気です。ロンドン"),
]


@pytest.fixture
def find(database):
    with closing(Project.create(database, "News", GIVEN)) as project:
        yield lambda query: project.documents.search(query).places


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("TIN", [0, 2]),
        ("price mine", [3]),
        ("price  of", [0, 3]),
        ("mine*", [3]),
        ("min*", [3]),
        ("m* ti*", [0, 2]),
        ('"metal exchange"', [0]),
        ('"exchange metal"', [2]),
        ('metal "the price of"', [0]),
        ('"price of cop*"', [3]),
        ("tin-plated", [2]),
        ("plated-tin", []),
        ("10.1/tin", [0]),
        ("3.5", [3]),
        ("b_7", [1]),
        # A phrase does not go on from the title to the text.
        ('"london the"', []),
        ('"copper rises"', []),
        ("copper rises", [3]),
        ("strasse FINE", [4]),
        ("zürich", [4]),
        ("Zu\u0308RICH", [4]),
        ("cans", [2, 4]),
        ("naive", []),
        ("σίσυφοσ", [4]),
        ("天気", [5]),
        ("東京", [5]),
        ("京東", []),
        ("ロンドン", [5]),
        ("", []),
        ("%", []),
        ("_ ' \\ * \" ()", []),
        ("tin AND", []),
        ("it's", [2]),
        ("NOT NEAR OR", [2]),
        ("title:tin", []),
        ("tin:*", [0, 2]),
        ("{tin}", [0, 2]),
        ("tin & | ! <-> ^", [0, 2]),
        ('"tin', [0, 2]),
    ],
)
def test_words_beginnings_and_phrases(find, query, places):
    assert find(query) == places


def expected(query):
    """Look through all documents, word by word."""
    fields = [[searching.words_of(part) for part in document[:3]] for document in GIVEN]
    phrases = searching.phrases_of(query)

    def stands(phrase, words):
        n = len(phrase.words)
        for begin in range(len(words) - n + 1):
            *first, last = words[begin : begin + n]
            same = last.startswith(phrase.words[-1]) if phrase.open else last == phrase.words[-1]
            if same and tuple(first) == phrase.words[:-1]:
                return True
        return False

    return [
        place
        for place, document in enumerate(fields)
        if phrases and all(any(stands(phrase, words) for words in document) for phrase in phrases)
    ]


pieces = st.one_of(
    st.sampled_from(
        ["tin", "metal", "exchange", "the", "price", "of", "NOT", "AND", "NEAR(", "天", "気", "é", "m", "a"]
    ),
    st.sampled_from(list("\"'*():&|!<->^~{}[]\\%_;,.-+ \t\n")),
    st.text(max_size=3).filter(lambda text: not re.search("[\0\ud800-\udfff]", text)),
)


@given(query=st.lists(pieces, max_size=8).map("".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_is_anything_but_words(find, query):
    try:
        asked = expected(query)
    except SearchError:
        return
    assert find(query) == asked


def test_searches_have_limits(find, monkeypatch):
    with pytest.raises(SearchError, match="has 13 words; expected at most 12"):
        find("a-b-c-d-e-f g h i j k l m")
    monkeypatch.setattr(searching, "MAX_FOUND", 1)
    assert find("tin") == [0]


def test_more_than_is_found_is_told(database, monkeypatch):
    monkeypatch.setattr(searching, "MAX_FOUND", 3)
    with closing(Project.create(database, "News", [Document(str(k), "", "tin") for k in range(4)])) as project:
        assert project.documents.search("tin") == ([0, 1, 2], True)
        assert project.documents.search("2") == ([2], False)


def test_a_search_that_takes_long_is_ended_and_the_next_one_works(database, monkeypatch):
    texts = (" ".join(f"w{k * j % 9973}" for j in range(1, 40)) for k in range(4000))
    with closing(Project.create(database, "News", (Document("", "", words) for words in texts))) as project:
        with monkeypatch.context() as patch:
            patch.setattr(searching, "MAX_SECONDS", 0.001)
            with pytest.raises(SearchError, match=r"took more than 0.001 seconds"):
                project.documents.search(" ".join(f"w{k}*" for k in range(1, 10)))
        assert project.documents.search("w1*").places


def test_long_texts_are_found_by_their_beginnings(database):
    long = " ".join(f"word{k}" for k in range(60_000))
    given = [
        Document("k" * 30_000, "t" * 30_000, long),
        Document("b", "", "é " * 150_000 + "last"),
        Document("c", "", "x" * 10**6),
    ]
    with closing(Project.create(database, "Long", given)) as project:
        assert project.documents.search("word0 word15000").places == [0]
        assert project.documents.search("word59999").places == []
        assert project.documents.search("é").places == [1]
        assert project.documents.search("xxx*").places == [2]
