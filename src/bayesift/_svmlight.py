"""The parser of files with one document per line: ``label [flags] index:value index:value …``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import ByteArray, FloatArray, Int32Array, Int64Array

#: What went wrong, as the kernels count it; a message for each stands in ``PROBLEMS``.
OK, LABEL, GROUP, PAIR, INDEX, ORDER, NUMBER, RANGE = range(8)

#: For each problem, what was expected instead.
PROBLEMS = {
    LABEL: "a label first",
    GROUP: "a group flag, 0 or 1",
    PAIR: "index:value",
    INDEX: "an index of at least {least} and at most 2147483647",
    ORDER: "indices that ascend",
    NUMBER: "a finite number after the colon",
    RANGE: "a finite number",
}

_LARGEST_INDEX = 2_147_483_647
# 10**k is a float64 without rounding up to k = 22.
_POWERS = 10.0 ** np.arange(23)
_NEWLINE, _COLON, _HASH = 10, 58, 35


class Scanned(NamedTuple):
    """The content of a file; positions are byte offsets.

    Row i has the label ``buffer[labels[i, 0]:labels[i, 1]]`` and the entries ``indptr[i]`` to ``indptr[i + 1]``; a
    comment has the row that follows it (or ~i behind the pairs of row i), its begin and its end.
    """

    labels: Int64Array
    groups: ByteArray
    indptr: Int64Array
    indices: Int32Array
    values: FloatArray
    comments: Int64Array


class ScanError(ValueError):
    """The text is malformed: ``line`` counts from 1, ``word`` is what was found there."""

    def __init__(self, line: int, word: str, expected: str) -> None:
        super().__init__(f"line {line}: found {word!r}, expected {expected}")
        self.line = line
        self.word = word
        self.expected = expected


def padded(content: bytes) -> ByteArray:
    """Copy bytes into an array followed by a newline, at which every loop of the kernels stops."""
    buffer = np.empty(len(content) + 1, dtype=np.uint8)
    buffer[:-1] = np.frombuffer(content, dtype=np.uint8)
    buffer[-1] = _NEWLINE
    return buffer


def scan(
    buffer: ByteArray, start: int = 0, *, n_groups: int = 0, least: int = 1, unlabelled: bool = False, qid: bool = False
) -> Scanned:
    """Parse a whole file.

    Parameters
    ----------
    buffer : uint8 array
        The bytes, made by :func:`padded` (or ending with a newline otherwise).
    start : int
        Where to begin.
    n_groups : int
        Number of flags, 0 or 1, between the label and the pairs.
    least : int
        The least index allowed.
    unlabelled : bool
        Whether a line may begin with a pair; its label is then empty.
    qid : bool
        Whether ``qid:…`` may be among the pairs; it is skipped.

    Returns
    -------
    Scanned

    Raises
    ------
    ScanError
        At the first line that does not have this form.
    """
    n_lines, n_colons = count_marks(buffer, start)
    labels = np.empty((n_lines, 2), dtype=np.int64)
    groups = np.empty((n_lines, n_groups), dtype=np.uint8)
    indptr = np.empty(n_lines + 1, dtype=np.int64)
    indices = np.empty(n_colons, dtype=np.int32)
    values = np.empty(n_colons)
    rows, problem, at, hard, comments = parse(
        buffer, start, least, unlabelled, qid, labels, groups, indptr, indices, values
    )
    if problem != OK:
        raise _error(buffer, at, problem, least)
    for entry, begin, end in hard.reshape(-1, 3).tolist():
        # Too many digits, or too large an exponent, for the arithmetic of the kernel.
        values[entry] = float(buffer[begin:end].tobytes())
        if not np.isfinite(values[entry]):
            raise _error(buffer, begin, RANGE, least)
    found = int(indptr[rows])
    return Scanned(
        labels[:rows], groups[:rows], indptr[: rows + 1], indices[:found], values[:found], comments.reshape(-1, 3)
    )


def _error(buffer: ByteArray, at: int, problem: int, least: int) -> ScanError:
    line = 1 + int(np.count_nonzero(buffer[:at] == _NEWLINE))
    words = buffer[at : at + 60].tobytes().decode("utf-8", errors="replace").split("\n")[0].split()
    return ScanError(line, words[0][:40] if words else "", PROBLEMS[problem].format(least=least))


@kernel
def count_marks(buffer: ByteArray, start: int) -> tuple[int, int]:
    """Count newlines and colons: bounds of the numbers of rows and of entries."""
    lines, colons = 0, 0
    for at in range(start, buffer.shape[0]):
        lines += buffer[at] == _NEWLINE
        colons += buffer[at] == _COLON
    return lines, colons


@kernel
def is_blank(byte: int) -> bool:
    """Return whether a byte separates words within a line (as a carriage return does)."""
    return byte == 32 or byte == 9 or (11 <= byte <= 13)


@kernel
def quotient(mantissa: int, power: float) -> tuple[float, bool]:
    """Return mantissa/power rounded once, and whether that is certain.

    The rounded quotient q misses (mantissa − q·power)/power, whose numerator comes without error from splitting both
    factors (Dekker 1971). With this correction the error is below 2⁻¹⁰⁰ of q, so that the sum is rounded right if
    such an error cannot change it.
    """
    high = float(mantissa)
    low = float(np.int64(mantissa) - np.int64(high))
    q = high / power
    a = q * 134217729.0
    q1 = a - (a - q)
    q2 = q - q1
    b = power * 134217729.0
    p1 = b - (b - power)
    p2 = power - p1
    product = q * power
    error = q2 * p2 - (((product - q1 * p1) - q2 * p1) - q1 * p2)
    correction = (((high - product) - error) + low) / power
    doubt = q * 2.0**-100
    value = q + (correction - doubt)
    return value, value == q + (correction + doubt)


@kernel
def number(buffer: ByteArray, at: int) -> tuple[float, int, int]:
    """Read a decimal number; return the value, the place behind it, and OK, NUMBER (it is none) or RANGE (too hard).

    A mantissa of at most 2⁵³, times or by a power of ten up to 10²², needs one operation, rounded right (Clinger 1990).
    """
    negative = buffer[at] == 45
    if negative or buffer[at] == 43:
        at += 1
    mantissa, digits, exponent = 0, 0, 0
    any_digit, point = False, False
    while True:
        digit = buffer[at] - 48
        if 0 <= digit <= 9:
            any_digit = True
            if digits < 18:
                mantissa = mantissa * 10 + digit
            digits += mantissa > 0
            exponent -= point
        elif buffer[at] == 46 and not point:
            point = True
        else:
            break
        at += 1
    if not any_digit:
        return 0.0, at, NUMBER
    hard = digits > 18
    if buffer[at] == 101 or buffer[at] == 69:
        at += 1
        falls = buffer[at] == 45
        if falls or buffer[at] == 43:
            at += 1
        if not 48 <= buffer[at] <= 57:
            return 0.0, at, NUMBER
        written = 0
        while 48 <= buffer[at] <= 57:
            if written < 100000:
                written = written * 10 + (buffer[at] - 48)
            at += 1
        exponent += -written if falls else written
    value, certain = 0.0, not hard
    if mantissa == 0:
        certain = True
    elif certain:
        if -22 <= exponent < 0:
            if mantissa <= 9007199254740992:
                value = mantissa / _POWERS[-exponent]
            else:
                value, certain = quotient(mantissa, _POWERS[-exponent])
        elif exponent == 0:
            value = float(mantissa)
        elif 0 < exponent <= 22 and mantissa <= 9007199254740992:
            value = mantissa * _POWERS[exponent]
        else:
            certain = False
    return (-value if negative else value), at, OK if certain else RANGE


@kernel
def grown(table: Int64Array, used: int) -> Int64Array:
    """Return a table of twice the size with the same beginning, if it is full."""
    if used < table.shape[0]:
        return table
    larger = np.empty(2 * table.shape[0], dtype=np.int64)
    larger[:used] = table
    return larger


@kernel
def word_end(buffer: ByteArray, at: int) -> int:
    """Find the end of the word that begins here."""
    while not is_blank(buffer[at]) and buffer[at] != _NEWLINE:
        at += 1
    return at


@kernel
def holds_colon(buffer: ByteArray, begin: int, end: int) -> bool:
    """Return whether a word is a pair and no label."""
    while begin < end and buffer[begin] != _COLON:
        begin += 1
    return begin < end


@kernel
def read_flags(buffer: ByteArray, at: int, flags: ByteArray) -> tuple[int, int]:
    """Read as many flags, each a word 0 or 1, as there is room for; return the place behind them, and OK or GROUP."""
    for group in range(flags.shape[0]):
        while is_blank(buffer[at]):
            at += 1
        if (buffer[at] != 48 and buffer[at] != 49) or word_end(buffer, at) != at + 1:
            return at, GROUP
        flags[group] = buffer[at] - 48
        at += 1
    return at, OK


@kernel
def is_qid(buffer: ByteArray, at: int) -> bool:
    """Return whether the word that begins here is ``qid:`` and something."""
    if buffer[at] != 113 or word_end(buffer, at) < at + 5:
        return False
    return buffer[at + 1] == 105 and buffer[at + 2] == 100 and buffer[at + 3] == _COLON


@kernel
def parse(
    buffer: ByteArray,
    at: int,
    least: int,
    unlabelled: bool,
    qid: bool,
    labels: Int64Array,
    groups: ByteArray,
    indptr: Int64Array,
    indices: Int32Array,
    values: FloatArray,
) -> tuple[int, int, int, Int64Array, Int64Array]:
    """Fill the arrays, which have room for every newline and colon; the last byte of the buffer is a newline.

    Returns the number of rows, a problem and its place, the numbers left to be read with more precision (entry, begin,
    end) and the comments (row that follows, begin, end).
    """
    size = buffer.shape[0]
    hard, n_hard = np.empty(48, dtype=np.int64), 0
    comments, n_comments = np.empty(48, dtype=np.int64), 0
    row, entry = 0, 0
    indptr[0] = 0
    while at < size:
        # One line in each round; no loop passes a newline, and the last byte is one.
        while is_blank(buffer[at]):
            at += 1
        if buffer[at] == _NEWLINE:
            at += 1
            continue
        last = np.int64(-1)
        in_row = False
        if buffer[at] != _HASH:
            in_row = True
            begin = at
            at = word_end(buffer, at)
            labels[row, 0], labels[row, 1] = begin, at
            if holds_colon(buffer, begin, at):
                if not unlabelled:
                    return row, LABEL, begin, hard[:n_hard], comments[:n_comments]
                # The line begins with a pair, which is to be read as one.
                labels[row, 1] = at = begin
            at, problem = read_flags(buffer, at, groups[row])
            if problem != OK:
                return row, problem, at, hard[:n_hard], comments[:n_comments]
        while True:
            while is_blank(buffer[at]):
                at += 1
            if buffer[at] == _NEWLINE:
                break
            begin = at
            if buffer[at] == _HASH:
                while buffer[at] != _NEWLINE:
                    at += 1
                comments = grown(comments, n_comments)
                comments[n_comments] = ~row if in_row else row
                comments[n_comments + 1], comments[n_comments + 2] = begin, at
                n_comments += 3
                break
            index = np.int64(0)
            while 48 <= buffer[at] <= 57:
                if index <= _LARGEST_INDEX:
                    index = index * 10 + (buffer[at] - 48)
                at += 1
            if buffer[at] != _COLON or at == begin:
                if qid and is_qid(buffer, begin):
                    at = word_end(buffer, begin)
                    continue
                return row, PAIR, begin, hard[:n_hard], comments[:n_comments]
            if index < least or index > _LARGEST_INDEX:
                return row, INDEX, begin, hard[:n_hard], comments[:n_comments]
            if index <= last:
                return row, ORDER, begin, hard[:n_hard], comments[:n_comments]
            last = index
            start = at + 1
            value, at, problem = number(buffer, start)
            if problem == NUMBER or not (is_blank(buffer[at]) or buffer[at] == _NEWLINE):
                return row, NUMBER, begin, hard[:n_hard], comments[:n_comments]
            if problem == RANGE:
                hard = grown(hard, n_hard)
                hard[n_hard], hard[n_hard + 1], hard[n_hard + 2] = entry, start, at
                n_hard += 3
            indices[entry] = index
            values[entry] = value
            entry += 1
        if in_row:
            row += 1
            indptr[row] = entry
        at += 1
    return row, OK, 0, hard[:n_hard], comments[:n_comments]
