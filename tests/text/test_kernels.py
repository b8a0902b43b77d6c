"""The compiled loops of counting, phrases, sorting and cleaning, each against a slow twin."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.text import _count, _scan
from bayesift.text._lexicon import CompiledLexicon, Stream
from bayesift.text._phrases import Phrases
from bayesift.text._pipeline import Chunk, counted
from bayesift.text._unicode import NO_TABLE, word_table

documents = st.lists(st.lists(st.integers(0, 9), max_size=15), min_size=1, max_size=6)
columns = st.lists(st.integers(-1, 5), min_size=10, max_size=10)


def as_stream(numbered):
    ends = np.cumsum([len(document) for document in numbered]).astype(np.int64)
    return Stream(np.array([number for document in numbered for number in document], dtype=np.int32), ends)


def counted_by_hand(numbered, column_of):
    """Columns and counts of every document, sorted."""
    rows = [Counter(column_of[number] for number in document if column_of[number] >= 0) for document in numbered]
    return [sorted(row.items()) for row in rows]


def as_rows(chunk):
    pairs = list(zip(chunk.columns.tolist(), chunk.counts.tolist(), strict=True))
    starts = [0, *chunk.row_ends.tolist()]
    return [pairs[begin:end] for begin, end in itertools.pairwise(starts)]


@given(documents, columns, st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_all_ways_of_counting_agree_with_counting_by_hand(numbered, column_of, group_size):
    columns_array = np.array(column_of, dtype=np.int32)
    expected = counted_by_hand(numbered, column_of)
    stream = counted(as_stream(numbered), 10)
    assert as_rows(Chunk(stream.numbers, stream.counts, stream.ends)) == [
        list(Counter(document).items()) for document in numbered
    ]
    few = Chunk(*_count.count_few(stream.numbers, stream.counts, stream.ends, columns_array))
    assert as_rows(few) == expected

    fold, number_of = _count.fold_numbers(columns_array, 6)
    n_entries = _count.count_columns(stream.numbers, stream.counts, stream.ends, fold, number_of, group_size)
    assert as_rows(Chunk(stream.numbers[:n_entries], stream.counts[:n_entries], stream.ends)) == expected


@given(documents, st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_phrases_are_the_runs_of_neighbouring_words(numbered, shortest, more):
    longest = shortest + more
    word_of = np.array([0, 1, 2, 3, -1, 4, 5, 6, -1, 7], dtype=np.int32)
    words = [f"w{k}" for k in range(8)]
    phrases = Phrases(len(words), shortest, longest)
    found = phrases.scan(as_stream(numbered), word_of)
    spelled = phrases.spell(words, np.arange(len(words) + len(phrases)))
    begin = 0
    for document, end in zip(numbered, found.ends.tolist(), strict=True):
        kept = [words[word_of[number]] for number in document if word_of[number] >= 0]
        expected = [
            " ".join(kept[i : i + n])
            for i in range(len(kept))
            for n in range(shortest, longest + 1)
            if i + n <= len(kept)
        ]
        assert sorted(spelled[number] for number in found.numbers[begin:end]) == sorted(expected)
        begin = end
    order = phrases.order(phrases.wanted())
    names = phrases.spell(words, order)
    assert names == sorted(name for name in spelled if shortest <= len(name.split()))


def test_the_table_of_phrases_grows():
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(200)]
    numbered = [rng.integers(0, 200, 3000).tolist() for _ in range(4)]
    phrases = Phrases(200, 2, 2)
    found = phrases.scan(as_stream(numbered), np.arange(200, dtype=np.int32))
    pairs = {(a, b) for document in numbered for a, b in itertools.pairwise(document)}
    assert len(phrases) == len(pairs)
    assert len(set(found.numbers.tolist())) == len(pairs)
    assert set(phrases.spell(words, np.arange(200, 200 + len(pairs)))) == {f"w{a} w{b}" for a, b in pairs}


@given(documents, documents, st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_known_phrases_are_found_and_no_others(known, numbered, shortest, more):
    longest = shortest + more
    unknown = 8
    word_of = np.array([0, 1, 2, 3, -1, 4, 5, 6, 7, unknown], dtype=np.int32)
    terms = [[word for word in term[:longest] if word < unknown] for term in known]
    terms = [term for term in terms if len(term) >= shortest]
    phrases = Phrases(unknown + 1, shortest, longest)
    number_of = {tuple(term): number for term, number in zip(terms, phrases.add(as_stream(terms)), strict=True)}
    # What a known phrase begins with is found as well, and so is every word.
    known_phrases = {tuple(term[:n]) for term in terms for n in range(2, len(term) + 1)} | {
        (n,) for n in range(unknown)
    }
    found = phrases.find(as_stream(numbered), word_of, unknown)
    begin = 0
    for document, end in zip(numbered, found.ends.tolist(), strict=True):
        kept = [int(word_of[number]) for number in document if word_of[number] >= 0]
        runs = [
            tuple(kept[i : i + n])
            for i in range(len(kept))
            for n in range(shortest, longest + 1)
            if i + n <= len(kept) and tuple(kept[i : i + n]) in known_phrases
        ]
        assert end - begin == len(runs)
        expected = Counter(number_of[run] for run in runs if run in number_of)
        numbers = Counter(found.numbers[begin:end].tolist())
        assert {number: numbers[number] for number in expected} == expected
        begin = end


def test_phrases_of_odd_words_are_spelled():
    phrases = Phrases(3, 1, 2)
    phrases.scan(as_stream([[0, 1, 2]]), np.arange(3, dtype=np.int32))
    assert phrases.spell(["a\n", "", "\ud800é"], np.arange(5)) == ["a\n", "", "\ud800é", "a\n ", " \ud800é"]
    assert phrases.spell(["a", "b", "c"], np.arange(0)) == []


@pytest.mark.parametrize("lowercase", [True, False])
@given(st.lists(st.text(alphabet="aZ09_ é-ЖžẞȺ漢𝔘\x00", max_size=30), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_cleaning_leaves_word_characters_and_zeros(lowercase, texts):
    encoded = [text.encode() for text in texts]
    raw = np.frombuffer(b"".join([*encoded, bytes(8)]), dtype=np.uint8)
    ends = np.cumsum([len(text) for text in encoded])
    out = np.empty(2 * raw.size + len(texts) + _scan.PADDING, dtype=np.uint8)
    table = NO_TABLE if raw.max() < 128 else word_table(lowercase, pairs=False)
    written = _scan.clean(raw, ends, lowercase, table.pages, table.values, out)
    begin = 0
    for text, end in zip(texts, ends.tolist(), strict=True):
        kept = out[begin:end].tobytes().decode().split("\x00")
        expected = re.findall(r"\w+", text.lower() if lowercase else text)
        assert [token for token in kept if token] == expected
        assert out[end] == 0
        begin = end + 1
    assert written == begin


@given(st.lists(st.text(alphabet="abé漢", min_size=1, max_size=30), min_size=1, max_size=60))
@settings(max_examples=150, deadline=None)
def test_terms_are_sorted_by_code_point(terms):
    lexicon = CompiledLexicon(keep_single=True)
    lexicon.scan(terms)
    assert lexicon.spell(lexicon.order()) == sorted(set(terms))
