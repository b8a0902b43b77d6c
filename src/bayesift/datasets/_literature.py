"""Documents in the formats of literature databases and reference managers: PubMed, BibTeX, EndNote XML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from bayesift.datasets._inputs import open_utf_8
from bayesift.datasets._limits import expansion_limit
from bayesift.datasets.errors import CellTooLongError, EncodingError, MalformedFileError

Tell = Callable[[str], None]


class Entry(NamedTuple):
    """A literature record: its identifier, title and text, and its other fields by name."""

    id: str
    title: str
    text: str
    details: dict[str, str]


def _lines(path: Path, encoding: str | None, limit: int, tell: Tell) -> Iterator[tuple[int, str]]:
    """Return the lines of a file with their numbers; none is longer than the limit."""
    with open_utf_8(path, encoding, tell) as stream:
        for number, raw in enumerate(iter(partial(stream.readline, limit + 1), b""), start=1):
            if len(raw) > limit:
                raise CellTooLongError(path, number, limit)
            try:
                yield number, raw.decode().lstrip("\ufeff").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise EncodingError(path, number, error.encoding, error.reason) from error


# PubMed

_PUBMED_LINE = re.compile(r"([A-Z]{2,4}) {0,2}- ?(.*)$")
_PUBMED_NAMES = {
    "PMID": "pmid", "FAU": "authors", "DP": "date", "JT": "journal", "MH": "keywords", "OT": "keywords",
    "LA": "language", "PT": "type", "PMC": "pmcid", "VI": "volume", "IP": "issue", "PG": "pages",
    "GN": "notes",
}  # fmt: skip
_YEAR = re.compile(r"\d{4}")


def pubmed_entries(path: Path, encoding: str | None, limit: int, tell: Tell) -> Iterator[Entry]:
    """Read a file that PubMed exports (``.nbib``)."""
    # The lines of each value: a long text goes on in the next line.
    fields: dict[str, list[list[str]]] = {}
    tag, begin, size = "", 1, 0
    for number, line in _lines(path, encoding, limit, tell):
        found = _PUBMED_LINE.match(line)
        if not line.strip() or (found is not None and found[1] == "PMID"):
            if fields:
                yield _pubmed_entry(joined_lines(fields))
            fields, tag, begin, size = {}, "", number, 0
        size += len(line)
        if size > limit:
            raise CellTooLongError(path, begin, limit)
        if found is not None:
            tag = found[1]
            fields.setdefault(tag, []).append([found[2].strip()])
        elif line.startswith("      ") and tag:
            fields[tag][-1].append(line.strip())
        elif line.strip():
            raise MalformedFileError(path, number, f"found {line[:40]!r}, expected a tag such as 'PMID- 12345'")
    if fields:
        yield _pubmed_entry(joined_lines(fields))


def joined_lines(fields: Mapping[str, list[list[str]]]) -> dict[str, list[str]]:
    """Join the lines of each value of a record."""
    return {tag: [" ".join(filter(None, lines)) for lines in values] for tag, values in fields.items()}


def _pubmed_entry(fields: Mapping[str, list[str]]) -> Entry:
    details: dict[str, list[str]] = {}
    for tag, values in fields.items():
        if tag in _PUBMED_NAMES:
            details.setdefault(_PUBMED_NAMES[tag], []).extend(filter(None, values))
    if "FAU" not in fields and "AU" in fields:
        details["authors"] = fields["AU"]
    identifiers = [*fields.get("LID", []), *fields.get("AID", [])]
    details["doi"] = [value.removesuffix("[doi]").strip() for value in identifiers if value.endswith("[doi]")][:1]
    details["year"] = _YEAR.findall(" ".join(fields.get("DP", [])))[:1]
    return Entry(
        next(iter(fields.get("PMID", [])), ""),
        " ".join(fields.get("TI", fields.get("BTI", []))),
        "\n".join(fields.get("AB", fields.get("OAB", []))),
        {name: "; ".join(values) for name, values in details.items() if values},
    )


# BibTeX

_BIBTEX_NAMES = {"author": "authors", "journaltitle": "journal", "booktitle": "journal", "date": "year"}
_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
            "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a"}  # fmt: skip
_ACCENTED = re.compile(r"\\(['`^\"~=.]|[cvuHkr](?=[ {]))\s*\{?\\?([A-Za-z])\}?")
_LETTERS = {r"\ss": "ß", r"\o": "ø", r"\O": "Ø", r"\ae": "æ", r"\AE": "Æ", r"\aa": "å", r"\AA": "Å", r"\l": "ł",
            r"\L": "Ł", r"\i": "i", r"\&": "&", r"\%": "%", r"\_": "_", r"\$": "$", r"\#": "#"}  # fmt: skip
_LETTER = re.compile(r"\\(?:ss|ae|AE|aa|AA|[oOlLi])(?![A-Za-z])\s?|\\[&%_$#]")


def bibtex_entries(path: Path, encoding: str | None, limit: int, tell: Tell) -> Iterator[Entry]:
    """Read a BibTeX file."""
    strings = _Abbreviations(expansion_limit(path, 1))
    for begin, kind, body in _bibtex_bodies(path, encoding, limit, tell):
        if kind in ("comment", "preamble"):
            continue
        try:
            key, fields = _bibtex_fields(body, strings, keyed=kind != "string")
        except ValueError as error:
            raise MalformedFileError(path, begin, f"the entry @{kind} is malformed: {error}") from error
        if sum(map(len, fields.values())) > limit:
            raise CellTooLongError(path, begin, limit)
        if kind == "string":
            strings.texts.update(fields)
            continue
        title, text = (_plain_latex(fields.pop(name, "")) for name in ("title", "abstract"))
        details = {_BIBTEX_NAMES.get(name, name): _plain_latex(value) for name, value in fields.items() if value}
        if "authors" in details:
            details["authors"] = re.sub(r"\s+and\s+", "; ", details["authors"])
        yield Entry(key, title, text, {"type": kind, **details})


class _Abbreviations:
    """What the names that ``@string`` defines stand for.

    Each may be made of others, so that a few lines could grow to any length: in a file they stand for no more
    characters than a limit in all.
    """

    def __init__(self, limit: int) -> None:
        self.texts: dict[str, str] = {}
        self._limit = self._left = limit

    def expanded(self, word: str) -> str:
        """Return what a word stands for, or itself."""
        found = self.texts.get(word.lower())
        if found is None:
            return word
        self._left -= len(found)
        if self._left < 0:
            raise ValueError(f"abbreviations stand for more than {self._limit:,} characters, which is no bibliography")
        return found


_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*([{(])")
#: The marks that tell where an entry ends, by the bracket that opens it.
_MARKS = {"{": re.compile(r"\\[{}]|[{}]"), "(": re.compile(r"\\[{}]|[{})\"]")}
_CLOSING = {"{": "}", "(": ")"}


def _bibtex_bodies(path: Path, encoding: str | None, limit: int, tell: Tell) -> Iterator[tuple[int, str, str]]:
    """Return the line, the kind and the text between the outer brackets of each entry."""
    held: list[str] = []
    kind, begin, size = "", 1, 0
    for number, line in _lines(path, encoding, limit, tell):
        place = 0
        while True:
            if not kind:
                found = _ENTRY.search(line, place)
                if found is None:
                    break
                kind, begin, size, held, place = found[1].lower(), number, 0, [], found.end()
                end_in = _BibtexEnd(found[2])
            end = end_in(line, place)
            held.append(line[place:end])
            size += len(held[-1]) + 1
            if size > limit:
                raise CellTooLongError(path, begin, limit)
            if end is None:
                break
            yield begin, kind, "\n".join(held)
            kind, place = "", end + 1
    if kind:
        raise MalformedFileError(path, begin, f"the entry @{kind} does not end")


class _BibtexEnd:
    """Finds the end of an entry, line by line: the bracket that closes it, outside of inner braces and quotes."""

    def __init__(self, opening: str) -> None:
        self._marks, self._closing = _MARKS[opening], _CLOSING[opening]
        self._depth, self._is_quoted = 0, False

    def __call__(self, line: str, place: int) -> int | None:
        for found in self._marks.finditer(line, place):
            mark = found[0]
            if mark == self._closing and not self._depth and not self._is_quoted:
                return found.start()
            if mark in "{}":
                # A comment in parentheses may have a brace that closes nothing.
                self._depth = self._depth + 1 if mark == "{" else max(0, self._depth - 1)
            elif mark == '"' and not self._depth:
                self._is_quoted = not self._is_quoted
        return None


_FIELD = re.compile(r"[\s,]*([^\s=,{}\"]+)\s*=\s*")


def _bibtex_fields(body: str, strings: _Abbreviations, *, keyed: bool) -> tuple[str, dict[str, str]]:
    """Cut an entry into its key and fields."""
    key, _, rest = body.partition(",") if keyed else ("", "", body)
    fields: dict[str, str] = {}
    place = 0
    while (found := _FIELD.match(rest, place)) is not None:
        value, place = _bibtex_value(rest, found.end(), strings)
        fields.setdefault(found[1].lower(), value)
    if rest[place:].strip(" \t\n,"):
        raise ValueError(f"found {rest[place:].strip()[:40]!r}, expected a field such as title = {{…}}")
    return key.strip(), fields


def _bibtex_value(text: str, place: int, strings: _Abbreviations) -> tuple[str, int]:
    """Read the value that begins at a place: parts in braces or quotation marks, numbers and names, joined by #."""
    parts = []
    while place < len(text):
        if text[place] in '{"':
            end = _end_of_part(text, place)
            parts.append(text[place + 1 : end])
            place = end + 1
        else:
            word = re.compile(r"[^\s,#]*").match(text, place)
            assert word is not None
            parts.append(strings.expanded(word[0]))
            place = word.end()
        joined = re.compile(r"\s*#\s*").match(text, place)
        if joined is None:
            break
        place = joined.end()
    return "".join(parts), place


def _end_of_part(text: str, begin: int) -> int:
    depth = 0
    for place in range(begin, len(text)):
        letter = text[place]
        if letter in "{}" and text[place - 1] != "\\":
            depth += 1 if letter == "{" else -1
        if place > begin and depth == 0 and letter == ("}" if text[begin] == "{" else '"'):
            return place
    raise ValueError(f"the value {text[begin : begin + 40]!r} does not end")


def _plain_latex(text: str) -> str:
    """Return a value as readers see it: letters with their accents, without braces."""

    def accented(found: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", found[2] + _ACCENTS[found[1]])

    plain = _LETTER.sub(lambda found: _LETTERS[found[0].strip()], _ACCENTED.sub(accented, text))
    return " ".join(plain.replace("{", "").replace("}", "").replace("~", " ").split())


# EndNote's XML

_ENDNOTE_NAMES = {
    "contributors/authors/author": "authors", "dates/year": "year", "titles/secondary-title": "journal",
    "periodical/full-title": "journal", "electronic-resource-num": "doi", "urls/related-urls/url": "url",
    "urls/pdf-urls/url": "pdf_url", "keywords/keyword": "keywords", "language": "language",
    "accession-num": "accession number", "notes": "notes", "volume": "volume", "number": "issue", "pages": "pages",
    "label": "label", "custom1": "custom1", "research-notes": "research notes",
}  # fmt: skip
_ENDNOTE_OWN = {"rec-number": "id", "titles/title": "title", "abstract": "text"}


def endnote_entries(path: Path, encoding: str | None, limit: int, tell: Tell) -> Iterator[Entry]:
    """Read XML as EndNote writes it; a document type, which could define entities, is refused."""
    reader = _EndNoteReader(path, limit)
    with open_utf_8(path, encoding, tell) as stream:
        while block := stream.read(1 << 16):
            reader.feed(block)
            yield from reader.taken()
        reader.feed(b"", final=True)
    yield from reader.taken()


#: How deep elements may lie in a record of EndNote, and how long their names may be: a field's path has all of them.
_DEEPEST, _LONGEST_NAME = 20, 100


class _EndNoteReader:
    """Collects the texts of each record by the path of their elements."""

    def __init__(self, path: Path, limit: int) -> None:
        self._file, self._limit = path, limit
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._path: list[str] = []
        # The parts of each value: text comes in many.
        self._fields: dict[str, list[list[str]]] = {}
        self._inside, self._size, self._begin = False, 0, 1
        self._ready: list[Entry] = []

    def feed(self, block: bytes, *, final: bool = False) -> None:
        try:
            self._parser.Parse(block, final)
        except expat.ExpatError as error:
            raise MalformedFileError(self._file, error.lineno, f"not XML: {expat.ErrorString(error.code)}") from error

    def taken(self) -> list[Entry]:
        ready, self._ready = self._ready, []
        return ready

    def _refuse(self, *_: object) -> None:
        line = self._parser.CurrentLineNumber
        raise MalformedFileError(self._file, line, "found a document type, expected XML of EndNote, which has none")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "record" and not self._inside:
            self._inside, self._fields, self._path, self._size = True, {}, [], 0
            self._begin = self._parser.CurrentLineNumber
        elif self._inside:
            line = self._parser.CurrentLineNumber
            if len(self._path) >= _DEEPEST:
                raise MalformedFileError(self._file, line, "elements are nested too deeply")
            if len(name) > _LONGEST_NAME:
                raise MalformedFileError(self._file, line, "the name of an element is too long")
            # Elements that only style a text are not part of the path.
            self._path.append("" if name == "style" else name)
            self._grow(len(self._place()) + 1)
            if name == "ref-type" and attributes.get("name"):
                self._grow(len(attributes["name"]))
                self._fields["type"] = [[attributes["name"]]]
            elif name != "style":
                self._fields.setdefault(self._place(), []).append([])

    def _end(self, name: str) -> None:
        if not self._inside:
            return
        if name == "record" and not self._path:
            self._inside = False
            self._ready.append(self._entry())
        else:
            self._path.pop()

    def _text(self, text: str) -> None:
        if self._inside and self._path:
            self._grow(len(text))
            values = self._fields.get(self._place())
            if values:
                values[-1].append(text)

    def _grow(self, size: int) -> None:
        """Count what a record holds."""
        self._size += size
        if self._size > self._limit:
            raise CellTooLongError(self._file, self._begin, self._limit)

    def _place(self) -> str:
        return "/".join(filter(None, self._path))

    def _entry(self) -> Entry:
        own = dict.fromkeys(_ENDNOTE_OWN.values(), "")
        details: dict[str, list[str]] = {}
        for place, values in self._fields.items():
            texts = list(filter(None, (" ".join("".join(parts).split()) for parts in values)))
            if place in _ENDNOTE_OWN:
                own[_ENDNOTE_OWN[place]] = " ".join(texts)
            elif place in _ENDNOTE_NAMES or place == "type":
                name = _ENDNOTE_NAMES.get(place, place)
                if name not in details or name != "journal":
                    details.setdefault(name, []).extend(texts)
        return Entry(**own, details={name: "; ".join(values) for name, values in details.items() if values})


#: How to read each format, by the ending of the file.
READERS: Mapping[str, Callable[[Path, str | None, int, Tell], Iterator[Entry]]] = {
    ".nbib": pubmed_entries,
    ".bib": bibtex_entries,
    ".bibtex": bibtex_entries,
    ".xml": endnote_entries,
}
