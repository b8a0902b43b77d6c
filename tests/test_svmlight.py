"""The compiled parser of ``label index:value …`` lines against a slow twin, Python's own floats, and damage."""

from __future__ import annotations

import os
import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from bayesift._svmlight import NUMBER, OK, RANGE, ScanError, number, padded, scan


def slow_scan(text):
    """Rows of (label, indices, values) by string methods."""
    rows = []
    for line in text.split("\n"):
        words = line.partition("#")[0].split()
        if words:
            pairs = [word.split(":") for word in words[1:]]
            rows.append((words[0], [int(index) for index, _ in pairs], [float(value) for _, value in pairs]))
    return rows


def as_rows(content, found):
    spans = zip(found.indptr[:-1], found.indptr[1:], strict=True)
    labels = [content[begin:end].decode() for begin, end in found.labels]
    return [
        (label, found.indices[begin:end].tolist(), found.values[begin:end].tolist())
        for label, (begin, end) in zip(labels, spans, strict=True)
    ]


finite = st.floats(allow_nan=False, allow_infinity=False)
numerals = st.one_of(
    finite.map(repr),
    st.tuples(finite, st.integers(0, 20)).map(lambda pair: f"{pair[0]:.{pair[1]}e}"),
    st.tuples(st.floats(-1e6, 1e6), st.integers(0, 25)).map(lambda pair: f"{pair[0]:.{pair[1]}f}"),
    st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
).filter(lambda text: abs(float(text)) < np.inf)
blanks = st.sampled_from([" ", "  ", "\t", " \r "])
rows = st.tuples(
    st.sampled_from(["1", "-1", "+1", "2.5", "class"]),
    st.dictionaries(st.integers(1, 2**31 - 1), numerals, max_size=5).map(lambda pairs: sorted(pairs.items())),
    st.sampled_from(["", " ", "\r", " # words 1:x"]),
)


@given(st.lists(rows, min_size=1, max_size=6), blanks, st.sampled_from(["\n", "\n\n", "\n#\n", "\r\n"]), st.booleans())
def test_equals_the_slow_twin(lines, blank, end, ended):
    text = end.join(
        blank.join([label, *(f"{index}:{value}" for index, value in pairs)]) + tail for label, pairs, tail in lines
    ) + (end if ended else "")
    content = text.encode()
    assert as_rows(content, scan(padded(content))) == slow_scan(text.replace("\r", " "))


@given(numerals)
@example("9007199254740993")
@example("4.35")
@example("0.1000000000000000055511151231257827")
@example("1e23")
@example("8.41431e21")
@example("5e-324")
@example("-0")
@example("123456789012345678e-22")
@example("9007199254740993e-10")
def test_numbers_are_rounded_as_python_rounds_them(text):
    found = scan(padded(f"1 1:{text}\n".encode())).values[0]
    assert (found, np.signbit(found)) == (float(text), np.signbit(float(text)))


def test_full_precision_is_seldom_left_to_python():
    random = np.random.default_rng(0)
    hard = 0
    for value in np.concatenate([random.random(2000), random.lognormal(0, 3, 2000)]).tolist():
        found, _, problem = number(padded(repr(value).encode()), 0)
        assert problem in (OK, RANGE)
        assert problem == RANGE or found == value
        hard += problem == RANGE
    assert hard < 10


@pytest.mark.parametrize("text", ["", ".", "-", "e5", "1e", "1e+", "x", "+.e1", "nan", "inf"])
def test_what_is_no_number(text):
    buffer = padded(text.encode())
    _, end, problem = number(buffer, 0)
    assert problem == NUMBER or buffer[end] != 10


@pytest.mark.parametrize(
    ("text", "line", "word", "expected"),
    [
        ("1 1:2\n2:1\n", 2, "2:1", "a label first"),
        ("1 1:2 3\n", 1, "3", "index:value"),
        ("1 a:2\n", 1, "a:2", "index:value"),
        ("1 -3:2\n", 1, "-3:2", "index:value"),
        ("\n\n1 0:2\n", 3, "0:2", "at least 1"),
        ("1 2147483648:2\n", 1, "2147483648:2", "at most 2147483647"),
        ("1 99999999999999999999999:2\n", 1, "99999999999999999999999:2", "at most 2147483647"),
        ("1 3:2 3:4\n", 1, "3:4", "ascend"),
        ("1 3:2 2:4\n", 1, "2:4", "ascend"),
        ("1 3:\n", 1, "3:", "a finite number"),
        ("1 3:nan\n", 1, "3:nan", "a finite number"),
        ("1 3:inf\n", 1, "3:inf", "a finite number"),
        ("1 3:1e999\n", 1, "1e999", "a finite number"),
        ("1 3:1x\n", 1, "3:1x", "a finite number"),
        ("1 3:1#\n", 1, "3:1#", "a finite number"),
        ("1 3:0x10\n", 1, "3:0x10", "a finite number"),
        ("1 3:1_0\n", 1, "3:1_0", "a finite number"),
        ("1 3:1\0\n", 1, "3:1\0", "a finite number"),
    ],
)
def test_the_first_problem_is_named(text, line, word, expected):
    with pytest.raises(ScanError, match=expected) as error:
        scan(padded(text.encode()))
    assert (error.value.line, error.value.word) == (line, word)


def test_group_flags():
    found = scan(padded(b"1 0 1 5:2\n-1 1 1\n"), n_groups=2)
    assert found.groups.tolist() == [[0, 1], [1, 1]]
    for text in (b"1 0 5:2\n", b"1 0 2\n", b"1 0\n", b"1 0 11 3:1\n"):
        with pytest.raises(ScanError, match="group flag"):
            scan(padded(text), n_groups=2)


def test_svmlight_lines_are_read_as_scikit_learn_reads_them():
    content = b"1,3 qid:7 0:1.5 4:2\n2:1e3 # no label\n-2.5 qid:8\n"
    found = scan(padded(content), least=0, unlabelled=True, qid=True)
    X, labels = load_svmlight_file(BytesIO(content), multilabel=True)
    np.testing.assert_array_equal(found.indices, X.indices)
    np.testing.assert_array_equal(found.values, X.data)
    np.testing.assert_array_equal(found.indptr, X.indptr)
    words = [content[begin:end].decode() for begin, end in found.labels]
    assert [tuple(float(word) for word in text.split(",") if word) for text in words] == labels


def test_comments_say_where_they_stand():
    content = b"# one\n1 1:1 # two\n#three\n2 1:1\n# four\n"
    found = [(row, content[begin:end]) for row, begin, end in scan(padded(content)).comments.tolist()]
    assert found == [(0, b"# one"), (~0, b"# two"), (1, b"#three"), (2, b"# four")]


DAMAGE = """
import numpy as np
from bayesift._svmlight import ScanError, padded, scan
random = np.random.default_rng(1)
alphabet = np.frombuffer(b"0123456789:.-+eE# qid\\\\t\\\\r\\\\n1:2", dtype=np.uint8)
good = b"1 0 1 3:4.5e-3 17:1 qid:3 # x\\\\n-1 1 0 2:0.12345678901234567890 9:1e-30\\\\n"
for turn in range(4000):
    content = np.frombuffer(good[: random.integers(len(good) + 1)], dtype=np.uint8).copy()
    if turn % 4 == 0:
        content = random.choice(alphabet, random.integers(60))
    elif content.size:
        places = random.integers(content.size, size=random.integers(1, 5))
        content[places] = random.choice(alphabet, places.size)
    try:
        scan(padded(content.tobytes()), n_groups=turn % 3, unlabelled=turn % 2 == 0, qid=turn % 5 == 0)
    except ScanError:
        pass
print("done")
"""


@pytest.mark.slow
def test_no_byte_outside_the_buffer_is_read(tmp_path):
    # Compiled anew with checks of every index, which raise an error.
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    script = DAMAGE.replace("\\\\", "\\")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("done\n", "")
