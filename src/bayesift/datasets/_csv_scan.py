"""Rows of a CSV file as raw bytes, with the one field that holds the text; nothing else is parsed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import ByteArray, Int64Array
from bayesift.datasets._dialect import numbered_columns
from bayesift.datasets._limits import MAX_CELL
from bayesift.datasets._tables import wrong_width
from bayesift.datasets.errors import UNCLOSED, CellTooLongError, EncodingError, MalformedFileError, QuoteError

#: Bytes that are read at a time.
CHUNK = 1 << 22

#: Rows that are found at a time.
ROWS = 20_000

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34

#: What a row can be, as the kernel counts it.
_PLAIN, _QUOTED, _DOUBLED, _BROKEN = range(4)

_MARK = b"\xef\xbb\xbf"


class CsvScanner:
    """Goes through the rows of a CSV file in UTF-8, by the rules of Python's csv module in strict mode.

    Parameters
    ----------
    stream : binary file
    path : Path
        Its name, for messages.
    delimiter : str
        One ASCII character.
    quotes : bool
        Whether fields may be enclosed in double quotes.
    limit : int, optional
        Bytes of the longest row.
    has_header : bool, default=True
        Whether the first row names the columns; otherwise they are numbered.
    """

    def __init__(
        self,
        stream: IO[bytes],
        path: Path,
        delimiter: str,
        quotes: bool,
        limit: int = MAX_CELL,
        *,
        has_header: bool = True,
    ) -> None:
        self._stream = stream
        self._path = path
        self._delimiter = delimiter
        self._quotes = quotes
        self._limit = limit
        self._data = stream.read(CHUNK).removeprefix(_MARK)
        self._final = not self._data
        self._lines = 0
        # csv's own limit, 128 KiB per field, is meant for spreadsheets.
        csv.field_size_limit(2**31 - 1)
        self.columns = self._header(has_header)

    def blocks(self, column: int, *, exact: bool = True) -> Iterator[tuple[list[str], list[bytes]]]:
        """Return texts and rows, some at a time; a row has as many fields as the header.

        Unless ``exact``, quotes within a text may stay doubled, which makes no difference if they are not in words.
        """
        while True:
            data = self._data
            found, used = self._scan(data, column, ROWS)
            if len(found):
                yield self._block(data, found, exact)
            if not self._more(data, used, read=len(found) < ROWS):
                return

    def _block(self, data: bytes, found: Int64Array, exact: bool) -> tuple[list[str], list[bytes]]:
        """Cut texts and rows out of the data."""
        begin, end, text_begin, text_end, n_fields, kind = found.T
        long = np.flatnonzero(end - begin > self._limit)
        if long.size:
            raise CellTooLongError(self._path, self._line(data, int(begin[long[0]])), self._limit)
        odd = np.flatnonzero((n_fields != len(self.columns)) | (kind == _BROKEN))
        if odd.size:
            raise self._error(data, *(int(found[odd[0], place]) for place in (0, 4, 5)))
        places = list(zip(text_begin.tolist(), text_end.tolist(), strict=True))
        try:
            texts = [data[first:last].decode() for first, last in places]
        except UnicodeDecodeError:
            raise self._undecodable(data, places) from None
        if exact:
            for row in np.flatnonzero(kind == _DOUBLED).tolist():
                texts[row] = texts[row].replace('""', '"')
        return texts, [data[first:last] for first, last in zip(begin.tolist(), end.tolist(), strict=True)]

    def _undecodable(self, data: bytes, places: list[tuple[int, int]]) -> EncodingError:
        """Say in which line the first byte is that does not decode."""
        for first, last in places:
            try:
                data[first:last].decode()
            except UnicodeDecodeError as error:
                line = self._line(data, first + error.start)
                return EncodingError(self._path, line, "utf-8", error.reason)
        raise AssertionError("all texts decode")

    def fields(self, row: bytes) -> list[str]:
        """Return the fields of a row."""
        lines = io.StringIO(row.decode("utf-8", "replace"), newline="")
        if not self._quotes:
            return next(csv.reader(lines, delimiter=self._delimiter, quoting=csv.QUOTE_NONE), [])
        return next(csv.reader(lines, delimiter=self._delimiter, strict=True), [])

    def _header(self, has_header: bool) -> list[str]:
        while True:
            found, used = self._scan(self._data, 0, 1)
            if len(found):
                begin, end, *_, kind = found[0].tolist()
                if kind == _BROKEN:
                    raise self._error(self._data, begin, 0, kind)
                if end - begin > self._limit:
                    raise CellTooLongError(self._path, self._line(self._data, begin), self._limit)
                row = self.fields(self._data[begin:end])
                if not has_header:
                    return numbered_columns(row)
                self._more(self._data, used, read=False)
                return row
            if not self._more(self._data, used):
                raise ValueError(f"{self._path} is empty, expected a header line and one line per text")

    def _scan(self, data: bytes, column: int, most: int) -> tuple[Int64Array, int]:
        """Find the complete rows, up to this many; return them and the position after the last."""
        buffer = np.frombuffer(data, dtype=np.uint8)
        out = np.empty((most, 6), dtype=np.int64)
        n_rows, used = find_rows(buffer, self._final, ord(self._delimiter), self._quotes, column, out)
        return out[:n_rows], used

    def _more(self, data: bytes, used: int, read: bool = True) -> bool:
        """Drop what has been used and, if wanted, read more; tell whether there is anything left to do."""
        self._lines += _line_ends(data[:used])
        if not read:
            self._data = data[used:]
            return True
        if self._final:
            return False
        if len(data) - used > self._limit:
            raise CellTooLongError(self._path, 1 + self._lines, self._limit)
        # A row that is longer than a chunk is read in ever larger steps.
        more = self._stream.read(max(CHUNK, len(data) - used))
        self._final = not more
        self._data = data[used:] + more
        return True

    def _line(self, data: bytes, place: int) -> int:
        return 1 + self._lines + _line_ends(data[:place])

    def _error(self, data: bytes, begin: int, n_fields: int, kind: int) -> MalformedFileError:
        line = self._line(data, begin)
        if kind == _BROKEN:
            problem = UNCLOSED if n_fields < 0 else f"{self._delimiter!r} expected after '\"'"
            return QuoteError(self._path, line, problem)
        quotable = self._delimiter if self._quotes else None
        return wrong_width(self._path, line, n_fields, len(self.columns), quotable)


def _line_ends(data: bytes) -> int:
    """Count line ends; a carriage return and a newline are one."""
    buffer = np.frombuffer(data, dtype=np.uint8)
    newlines = buffer == _NEWLINE
    returns = buffer == _RETURN
    return int(newlines.sum() + returns.sum() - (returns[:-1] & newlines[1:]).sum())


@kernel
def find_rows(
    buffer: ByteArray, final: bool, delimiter: int, quotes: bool, column: int, out: Int64Array
) -> tuple[int, int]:
    """Fill ``out`` with begin and end of each row, begin and end of a field, number of fields, and kind of that field.

    Stops at a row that may continue after the buffer, unless the buffer is the final one, and at a broken row, which is
    then the last; if it ends within quotes, its number of fields is -1. Blank lines are not rows. Returns the number of
    rows and the position after the last.
    """
    size = buffer.shape[0]
    n_rows, at = 0, 0
    while at < size and n_rows < out.shape[0]:
        begin = at
        if buffer[at] == _NEWLINE or buffer[at] == _RETURN:
            at += 1
            continue
        n_fields, field_begin, field_end, kind = 0, begin, begin, _PLAIN
        while True:
            own = _PLAIN
            first = at
            if quotes and at < size and buffer[at] == _QUOTE:
                own = _QUOTED
                at += 1
                first = at
                while True:
                    while at < size and buffer[at] != _QUOTE:
                        at += 1
                    if at + 1 < size and buffer[at + 1] == _QUOTE:
                        own = _DOUBLED
                        at += 2
                        continue
                    break
                if at >= size:
                    if final:
                        out[n_rows, 0], out[n_rows, 1], out[n_rows, 4], out[n_rows, 5] = begin, size, -1, _BROKEN
                        return n_rows + 1, size
                    return n_rows, begin
                last = at
                at += 1
                if at < size and buffer[at] != delimiter and buffer[at] != _NEWLINE and buffer[at] != _RETURN:
                    out[n_rows, 0], out[n_rows, 1], out[n_rows, 4], out[n_rows, 5] = begin, at, n_fields, _BROKEN
                    return n_rows + 1, at
            else:
                while at < size and buffer[at] != delimiter and buffer[at] != _NEWLINE and buffer[at] != _RETURN:
                    at += 1
                last = at
            if n_fields == column:
                field_begin, field_end, kind = first, last, own
            n_fields += 1
            if at >= size:
                break
            if buffer[at] == delimiter:
                at += 1
                continue
            break
        if at >= size and not final:
            return n_rows, begin
        out[n_rows, 0], out[n_rows, 1] = begin, at
        out[n_rows, 2], out[n_rows, 3] = field_begin, field_end
        out[n_rows, 4], out[n_rows, 5] = n_fields, kind
        n_rows += 1
        if at < size:
            # The second half of a pair of line ends is a blank line.
            at += 1
    return n_rows, at
