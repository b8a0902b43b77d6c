"""The bytes of a text file as UTF-8, whatever its encoding; if nobody named the encoding, it is detected."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, cast

from bayesift.datasets.errors import EncodingError, FormatError

#: Bytes that are read at a time, and can be examined before they are used.
CHUNK = 1 << 16
_LEAST = 1 << 13

#: How files that are not plain text begin, what they are, and the name of their format.
_NOT_TEXT = (
    (b"PK\x03\x04", "an Excel workbook or another ZIP archive", "xlsx"),
    (b"PAR1", "a Parquet file", "parquet"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook or another document of Office", "xls"),
    (b"%PDF-", "a PDF document", "pdf"),
    (b"\x1f\x8b", "packed by gzip, which its name does not say", "gz"),
    (b"SQLite format 3\0", "a database of SQLite", "sqlite"),
)

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
# Bytes without a meaning in cp1252, or more letters beyond ASCII in a row than any Western language has.
_NOT_WESTERN = re.compile(rb"[\x81\x8d\x8f\x90\x9d]|[\xc0-\xff]{4}|[\x80-\xff]{5}")
# Signs such as ³ and ¹ within a word are letters in another encoding. Accents, dots and ordinals do occur there.
_SIGN_IN_WORD = re.compile(rb"[A-Za-z][\xa1-\xa9\xab\xac\xae-\xb3\xb5\xb6\xb8\xb9\xbb-\xbf][A-Za-z]")
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")


def as_utf_8(
    stream: Any, name: Path, encoding: str | None, tell: Callable[[str], None], *, live: bool = False
) -> BufferedReader:
    """Return a stream of the same text in UTF-8.

    If no encoding is given, it is UTF-8, or what a byte order mark says, or cp1252 if the first bytes beyond ASCII are
    not UTF-8 and can be Western European. Everything else passes unchanged, for the decoder to refuse.

    Parameters
    ----------
    stream : binary stream
    name : Path
        Its name in errors.
    encoding : str or None
        Its encoding; None to detect it.
    tell : callable
        Called with a sentence about the detected encoding, unless it is UTF-8.
    live : bool, default=False
        Whether to use what is available instead of waiting for more.
    """
    return BufferedReader(_Recoded(stream, name, encoding, tell, live), CHUNK)


def beginning(content: BufferedReader) -> tuple[str, bool]:
    """Return the beginning of a stream in UTF-8 without consuming it, and whether that is known to be all."""
    head = content.peek()
    return head.decode("utf-8", "replace").removeprefix("\ufeff"), cast(_Recoded, content.raw).is_exhausted


def single_byte_encoding(content: bytes) -> str | None:
    """Return the encoding of a text that is not UTF-8; None if that is doubtful or it is not text.

    Parameters
    ----------
    content : bytes
        Some of the text, with bytes beyond ASCII.

    Examples
    --------
    >>> from bayesift.datasets._recoding import single_byte_encoding
    >>> single_byte_encoding("Straße".encode("cp1252")), single_byte_encoding("Привет".encode("cp1251"))
    ('cp1252', None)
    """
    if _CONTROL.search(content) or _NOT_WESTERN.search(content) or _SIGN_IN_WORD.search(content):
        return None
    in_sequences = sum(map(len, _SEQUENCE.findall(content)))
    beyond = sum(map(len, _BEYOND_ASCII.findall(content)))
    return None if 2 * in_sequences > beyond else "cp1252"


def decode_file(content: bytes, encoding: str | None) -> tuple[str, str | None]:
    """Decode a whole file; also return the detected encoding, None if it was given or is UTF-8."""
    if encoding is not None:
        return content.decode(encoding), None
    for mark, marked in _MARKS:
        if content.startswith(mark):
            return content.decode(marked), marked
    try:
        return content.decode(), None
    except UnicodeDecodeError as error:
        before, rest = content[: error.start], content[error.start :]
        guess = single_byte_encoding(rest) if before.isascii() else None
        if guess is None:
            raise
        return content.decode(guess), guess


class _Recoded(RawIOBase):
    def __init__(self, stream: Any, name: Path, encoding: str | None, tell: Callable[[str], None], live: bool) -> None:
        self._read = stream.read1 if live else stream.read
        self._live = live
        self._name = name
        self._tell = tell
        self._ready = memoryview(b"")
        self._held = b""
        self._ended = False
        # From the mark at the beginning on, over ASCII, to where nothing needs to be done any more.
        self._next = self._begin if encoding is None else self._pass
        if encoding is not None and not is_utf_8(encoding):
            self._decode_by(encoding)

    @property
    def is_exhausted(self) -> bool:
        return self._ended and not self._ready

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._ready and not self._ended:
            wanted = max(len(buffer), _LEAST)
            chunk = self._read(wanted)
            self._ended = len(chunk) < (1 if self._live else wanted)
            self._ready = memoryview(self._next(self._held + chunk))
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decode_by(self, encoding: str) -> None:
        decoder = codecs.getincrementaldecoder(encoding)()
        self._held = b""
        self._next = lambda chunk: decoder.decode(chunk, self._ended).encode()

    def _pass(self, chunk: bytes) -> bytes:
        self._held = b""
        return chunk

    def _begin(self, chunk: bytes) -> bytes:
        """Examine the first bytes, and read the whole first line, which a slow stream may not deliver at once."""
        wanted = self._live and b"\n" not in chunk and len(chunk) < CHUNK
        if (len(chunk) < 4 or wanted) and not self._ended:
            self._held = chunk
            return b""
        for sign, what, format in _NOT_TEXT:
            if chunk.startswith(sign):
                raise FormatError(self._name, format, f"{self._name} is {what}; expected plain text")
        for mark, encoding in _MARKS:
            if chunk.startswith(mark):
                self._tell(f"not UTF-8: read as {encoding.upper()}")
                self._decode_by(encoding)
                return self._next(chunk)
        if (probable := _wide_encoding(chunk[:_LEAST])) is not None:
            raise EncodingError(self._name, None, "utf-8", f"it seems to be {probable}", probable=probable)
        self._next = self._ascii
        return self._ascii(chunk.removeprefix(codecs.BOM_UTF8))

    def _ascii(self, chunk: bytes) -> bytes:
        """Pass bytes on until the first ones beyond ASCII show the encoding."""
        self._held = b""
        if chunk.isascii():
            return chunk
        try:
            chunk.decode()
        except UnicodeDecodeError as error:
            before, rest = chunk[: error.start], chunk[error.start :]
            if before.isascii() and error.end == len(chunk) and len(rest) < 4 and not self._ended:
                # The beginning of a character, the rest of which may follow.
                self._held = rest
                return before
            if before.isascii() and single_byte_encoding(rest) is not None:
                self._tell("not UTF-8: read as cp1252")
                self._next = self._western
                return self._western(chunk)
        self._next = self._pass
        return chunk

    def _western(self, chunk: bytes) -> bytes:
        try:
            text = chunk.decode("cp1252")
        except UnicodeDecodeError as error:
            raise EncodingError(self._name, None, "utf-8", "nor is it cp1252") from error
        if not chunk.isascii() and len(_SEQUENCE.findall(chunk)) > 2 and _is_utf_8(chunk):
            raise EncodingError(self._name, None, "utf-8", "at its beginning, but it is further on")
        return text.encode()


def is_utf_8(encoding: str) -> bool:
    """Tell whether an encoding is UTF-8, by any of its usual names."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8")


def _wide_encoding(content: bytes) -> str | None:
    """Return the kind of UTF-16 that a text without a mark seems to be in, because every other byte is zero."""
    for encoding, zeros in (("utf-16-le", content[1::2]), ("utf-16-be", content[::2])):
        others = content.count(0) - zeros.count(0)
        if len(zeros) > 3 and 2 * zeros.count(0) > len(zeros) > 2 * others:
            return encoding
    return None


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
