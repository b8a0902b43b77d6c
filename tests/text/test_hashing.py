"""Tokens that were chosen to meet in one place of a table do not meet there, and the secret shows in no result."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from bayesift.text._hashing import N_WORDS, SECRET, home_slot, new_secret
from bayesift.text._lexicon import CompiledLexicon, Stream
from bayesift.text._phrases import Phrases

WORD = 2**64 - 1
KNOWN = np.array([0x0123456789ABCDEF, 0xFEDCBA9876543211, 0x1111111111111111, 0x9E3779B97F4A7C15], dtype=np.uint64)

#: Chosen keys share this many of the upper bits of their hash.
SHARED_BITS = 7


def fold(first, second):
    product = first * second
    return product >> 64 ^ product & WORD


def slow_hash(low, high, secret):
    a, b, c, d = secret
    return fold(fold(low ^ a, high ^ b) ^ c, d)


def slow_long_hash(token, secret):
    mixed = secret[2]
    for start in [*range(0, len(token) - 7, 8), len(token) - 8]:
        mixed = fold(mixed ^ int.from_bytes(token[start : start + 8], "little"), secret[3])
    return mixed


def key_of(token, secret):
    token = token.encode()
    if len(token) > 16:
        return slow_long_hash(token, secret), 0xFF << 56 | len(token)
    padded = token.ljust(16, b"\0")
    return int.from_bytes(padded[:8], "little"), int.from_bytes(padded[8:], "little")


def displacements(slots, homes):
    """Steps from where the search for an entry begins to where it stands, for every entry."""
    taken = np.flatnonzero(slots >= 0)
    return np.array([(int(slot) - homes[slots[slot]]) % slots.size for slot in taken])


def term_steps(lexicon, secret):
    words, n_slots = [int(word) for word in secret], lexicon._slots.size
    terms = lexicon.spell(np.arange(len(lexicon)))
    homes = [slow_hash(*key_of(term, words), words) * n_slots >> 64 for term in terms]
    return displacements(lexicon._slots, homes)


def scanned(tokens, secret=SECRET):
    lexicon = CompiledLexicon(secret=secret)
    lexicon.scan([" ".join(tokens)])
    assert len(lexicon) == len(tokens)
    return lexicon


def random_tokens(n, prefix=""):
    letters = np.random.default_rng(0).integers(97, 123, (n, 8), dtype=np.uint8).tobytes().decode()
    return [prefix + word for word in dict.fromkeys(letters[8 * i : 8 * i + 8] for i in range(n))]


def test_the_hash_is_the_one_described():
    rng = np.random.default_rng(1)
    for low, high in rng.integers(0, 2**64, (200, 2), dtype=np.uint64):
        expected = slow_hash(int(low), int(high), [int(word) for word in KNOWN]) >> 54
        assert home_slot(low, high, KNOWN, 1024) == expected


def test_tokens_that_meet_under_a_hash_without_a_secret_do_not_meet():
    tokens = random_tokens(400_000)
    low = np.frombuffer("".join(tokens).encode(), dtype=np.uint64)
    mixed = low * np.uint64(0x9E3779B97F4A7C15)
    hashed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    chosen = [tokens[place] for place in np.flatnonzero(hashed >> np.uint64(56) == 0)]
    assert len(chosen) > 1000
    assert term_steps(scanned(chosen), SECRET).mean() < 5


@pytest.mark.parametrize("prefix", ["", "x" * 12])
def test_tokens_chosen_for_one_secret_do_not_meet_under_another(prefix):
    words = [int(word) for word in KNOWN]
    tokens = random_tokens(120_000, prefix)
    chosen = [token for token in tokens if slow_hash(*key_of(token, words), words) >> 64 - SHARED_BITS == 0]
    assert len(chosen) > 500
    assert term_steps(scanned(chosen, KNOWN), KNOWN).mean() > len(chosen) / 4
    assert term_steps(scanned(chosen), SECRET).mean() < 5


def test_phrases_chosen_for_one_secret_do_not_meet_under_another():
    words = [int(word) for word in KNOWN]
    pairs = itertools.product(range(400), range(400))
    chosen = [pair for pair in pairs if slow_hash(*pair, words) >> 64 - SHARED_BITS == 0]
    stream = Stream(np.array(chosen, dtype=np.int32).ravel(), np.arange(2, 2 * len(chosen) + 2, 2))

    def steps(secret):
        phrases = Phrases(400, 2, 2, secret=secret)
        found = phrases.scan(stream, np.arange(400, dtype=np.int32))
        np.testing.assert_array_equal(found.numbers, 400 + np.arange(len(chosen)))
        key = [int(word) for word in secret]
        homes = [slow_hash(*pair, key) * phrases._slots.size >> 64 for pair in chosen]
        return displacements(phrases._slots, homes)

    assert steps(KNOWN).mean() > len(chosen) / 4
    assert steps(SECRET).mean() < 5


def test_numbers_and_order_do_not_depend_on_the_secret():
    tokens = random_tokens(3000) + random_tokens(3000, "a_long_beginning_")
    documents = [" ".join(tokens[start::7]) for start in range(7)] * 2
    ours, theirs = CompiledLexicon(), CompiledLexicon(secret=KNOWN)
    first, second = ours.scan(documents), theirs.scan(documents)
    np.testing.assert_array_equal(first.numbers, second.numbers)
    np.testing.assert_array_equal(first.ends, second.ends)
    np.testing.assert_array_equal(ours.order(), theirs.order())


def test_tables_with_different_secrets_can_be_united():
    ours, theirs = CompiledLexicon(), CompiledLexicon(secret=KNOWN)
    ours.scan(["wheat corn a_rather_long_term_here"])
    theirs.scan(["a_rather_long_term_here another_rather_long_term corn"])
    np.testing.assert_array_equal(ours.absorb(theirs), [2, 3, 1])
    assert ours.spell(np.arange(4)) == ["wheat", "corn", "a_rather_long_term_here", "another_rather_long_term"]


@pytest.mark.slow
def test_every_process_has_a_secret_of_its_own():
    script = "from bayesift.text._hashing import SECRET; print(*SECRET)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert len(found) == len(SECRET) == N_WORDS
    assert found != [str(word) for word in SECRET]
    assert not np.array_equal(new_secret(), new_secret())
