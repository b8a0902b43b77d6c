"""The compiled lexicon against a dictionary: numbers, order, spelling, growth."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.text._lexicon import CompiledLexicon, PythonLexicon

PATTERN = re.compile(r"\w+")
words = st.text(alphabet="abAB09_éЖ漢𝔘", min_size=1, max_size=40)
documents = st.lists(st.lists(words, max_size=12).map(" ".join), min_size=1, max_size=6)


def python_lexicon():
    return PythonLexicon(PATTERN.findall, lowercase=True)


@given(st.lists(documents, min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_compiled_and_python_lexicon_agree(batches):
    compiled, plain = CompiledLexicon(keep_single=True), python_lexicon()
    for batch in batches:
        ours, theirs = compiled.scan(batch), plain.scan(batch)
        np.testing.assert_array_equal(ours.numbers, theirs.numbers)
        np.testing.assert_array_equal(ours.ends, theirs.ends)
    np.testing.assert_array_equal(compiled.order(), plain.order())
    assert compiled.spell(compiled.order()) == plain.spell(plain.order())


@given(documents, documents)
@settings(max_examples=100, deadline=None)
def test_absorbing_gives_every_term_one_number(first, second):
    for make in (lambda: CompiledLexicon(keep_single=True), python_lexicon):
        left, right = make(), make()
        left.scan(first)
        right.scan(second)
        terms = right.spell(np.arange(len(right)))
        numbers = left.absorb(right)
        assert left.spell(numbers) == terms
        assert len(set(left.spell(np.arange(len(left))))) == len(left)


def test_tables_grow_in_the_middle_of_a_document():
    terms = [f"term{i:x}" for i in range(50_000)] + [f"a_rather_long_term_number_{i}" for i in range(20_000)]
    lexicon = CompiledLexicon()
    stream = lexicon.scan([" ".join(terms), "", " ".join(reversed(terms))])
    np.testing.assert_array_equal(stream.ends, [70_000, 70_000, 140_000])
    np.testing.assert_array_equal(stream.numbers, np.concatenate([np.arange(70_000), np.arange(70_000)[::-1]]))
    assert lexicon.spell(lexicon.order()) == sorted(terms)


def test_long_terms_with_equal_beginnings_are_told_apart_and_sorted():
    terms = [f"{'x' * n}{tail}" for n in (7, 8, 15, 16, 17, 24, 40) for tail in ("", "a", "b", "ab", "é", "ba" * 20)]
    lexicon = CompiledLexicon()
    lexicon.scan([" ".join(terms)])
    assert lexicon.spell(lexicon.order()) == sorted(set(terms))


def test_a_reader_adds_nothing_and_numbers_unknown_tokens_after_the_last():
    lexicon = CompiledLexicon()
    lexicon.scan(["alpha beta"])
    stream = lexicon.reader(keep_single=False).scan(["beta gamma a_very_long_unknown_token alpha"])
    np.testing.assert_array_equal(stream.numbers, [1, 2, 2, 0])
    assert len(lexicon) == 2


@pytest.mark.parametrize("first", [CompiledLexicon(), python_lexicon()])
def test_lexicons_of_different_kinds_do_not_mix(first):
    other = python_lexicon() if isinstance(first, CompiledLexicon) else CompiledLexicon()
    with pytest.raises(TypeError, match="must be a"):
        first.absorb(other)
