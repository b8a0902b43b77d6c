"""Files as people have them: other separators, encodings and formats are recognised and told, or refused with a reason.

A file that is well formed is never read in another way than by the rules of its name.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.datasets import (
    CellTooLongError,
    ColumnError,
    EncodingError,
    FormatError,
    HeaderError,
    iter_records,
    open_table,
    open_texts,
    read,
    read_documents,
    read_texts,
)
from bayesift.datasets._recoding import as_utf_8, decode_file, single_byte_encoding
from reading_cases import texts_of

ROWS = [
    ("Die Größe, die zählt; „so sagt man“", "maße"),
    ("C'est l'été – à Besançon, où…", "été"),
    ("¿Qué pasa, señor?", "maße"),
    ("plain, words; only", "été"),
]


def as_csv(rows, delimiter=",", header=("text", "label"), quoting=csv.QUOTE_MINIMAL):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(
        [*([header] if header else []), *rows]
    )
    return file.getvalue()


class TestSeparators:
    @pytest.mark.parametrize("mark", [";", "\t", "|"])
    @pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
    def test_another_separator_with_commas_in_the_texts(self, tmp_path, mark, name):
        content = as_csv(ROWS, mark).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        found = read(tmp_path / name)
        assert (found.texts, found.labels) == ([text for text, _ in ROWS], [(label,) for _, label in ROWS])
        assert found.origin.notes == (f"fields separated by {mark!r}",)
        assert texts_of(tmp_path / name) == (found.texts, [f"fields separated by {mark!r}"])

    def test_commas_in_a_tsv_file(self, tmp_path):
        (tmp_path / "a.tsv").write_text("text,label\nhello there,greeting\n")
        assert read(tmp_path / "a.tsv").origin.notes == ("fields separated by ','",)

    @pytest.mark.parametrize(
        "content",
        [
            "text,label\na;b,c;d\ne;f,g;h\n",
            "text;more,label;x\na;b,c;d\n",
            "text,label\n",
            'text,label\n"a;\nb;c",x\n',
            "label,text\nx|y,a|b\nx|y,a|b\n",
        ],
    )
    def test_a_table_by_commas_stays_one(self, tmp_path, content):
        path = tmp_path / "a.csv"
        path.write_text(content, newline="")
        with open_table(path) as table:
            rows = [list(row.values()) for _, row in table.rows()]
            assert [table.columns, *rows] == list(csv.reader(io.StringIO(content, newline="")))
            assert table.notes == []

    @pytest.mark.parametrize("content", ["text\na;b\nc;d\n", "text;x\na\nb;c;d\n", "text,label\na;b\n"])
    def test_nothing_is_guessed_where_rows_contradict_it(self, tmp_path, content):
        path = tmp_path / "a.csv"
        path.write_text(content)
        with open_table(path) as table:
            assert table.columns == content.partition("\n")[0].split(",")

    def test_a_column_that_was_named_decides(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text("one;two\na;b\n")
        assert read(path, "one;two", False).texts == ["a;b"]
        assert read(path, "one", "two").texts == ["a"]
        assert texts_of(path, "one;two")[0] == ["a;b"]

    @given(
        st.lists(
            st.tuples(st.text(st.sampled_from('ab,;\t|"\n é'), max_size=12), st.sampled_from(["x", "y;z", "|"])),
            min_size=1,
            max_size=6,
        )
    )
    def test_what_the_csv_module_writes_is_never_changed(self, tmp_path_factory, rows):
        path = tmp_path_factory.mktemp("csv") / "a.csv"
        path.write_text(as_csv(rows), newline="", encoding="utf-8")
        found = read(path)
        assert (found.texts, found.origin.notes) == ([text for text, _ in rows], ())
        assert texts_of(path) == (found.texts, [])


class TestEncodings:
    @pytest.mark.parametrize(
        ("encoding", "told"), [("cp1252", "cp1252"), ("utf-16", "UTF-16"), ("utf-32", "UTF-32"), ("utf-8-sig", None)]
    )
    @pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.csv.gz", "a.ris"])
    def test_other_encodings_are_recognised(self, tmp_path, encoding, told, name):
        objects = [{"text": text, "label": label} for text, label in ROWS]
        content = {
            "a.csv": as_csv(ROWS),
            "a.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in objects),
            "a.json": json.dumps(objects, ensure_ascii=False),
            "a.csv.gz": as_csv(ROWS),
            "a.ris": "".join(f"TY  - JOUR\nAB  - {text}\nER  - \n" for text, _ in ROWS),
        }[name].encode(encoding)
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        expected = [text for text, _ in ROWS]
        if name == "a.ris":
            assert [document.text for document in read_documents(path)] == expected
            return
        found = read(path)
        notes = [f"not UTF-8: read as {told}"] if told else []
        assert (found.texts, list(found.origin.notes)) == (expected, notes)
        assert texts_of(path) == (expected, notes)
        assert [document.text for document in read_documents(path)] == expected

    def test_a_late_letter_tells_as_well(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"text,label\n" + b"words and words,x\n" * 100_000 + "Größe,y\n".encode("cp1252"))
        assert read(path).texts[-1] == "Größe"
        assert texts_of(path)[1] == ["not UTF-8: read as cp1252"]

    @pytest.mark.parametrize(
        "content",
        [
            "Привет мир".encode("cp1251"),
            "Ελληνικά".encode("cp1253"),
            "これは日本語".encode("shift-jis"),
            "中文文本".encode("gbk"),
            "źródło żółte łąka".encode("cp1250"),
            b"\x81\xfe",
            b"\x00\xff\x00\xfe",
            "Größe".encode("cp1252") + b" " + "für später süß".encode(),
        ],
        ids=["cp1251", "cp1253", "shift-jis", "gbk", "cp1250", "undefined", "binary", "mixed"],
    )
    def test_what_is_doubtful_is_refused(self, tmp_path, content):
        path = tmp_path / "a.csv"
        path.write_bytes(b"text,label\n" + content + b",x\n")
        for reading in (lambda: read(path), lambda: texts_of(path), lambda: list(read_documents(path))):
            with pytest.raises(EncodingError, match=r"a\.csv, line 2: not utf-8"):
                reading()

    def test_a_file_that_changes_its_mind_is_refused(self, tmp_path):
        path = tmp_path / "a.csv"
        padding = b"words and words,x\n" * 100_000
        path.write_bytes(b"text,label\n" + "Größe,y\n".encode("cp1252") + padding + "Größe süß schön,y\n".encode())
        with pytest.raises(EncodingError, match="not utf-8"):
            read(path)
        with pytest.raises(EncodingError, match="not utf-8"):
            texts_of(path)

    @given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40), st.integers(1, 7))
    def test_utf_8_is_never_changed(self, text, size):
        content = text.encode()

        class Slow(io.BytesIO):
            def read1(self, n=-1):
                return super().read(min(n, size))

        told = []
        expected = content.removeprefix(b"\xef\xbb\xbf")
        for stream in (
            as_utf_8(io.BytesIO(content), "a", None, told.append),
            as_utf_8(Slow(content), "a", None, told.append, live=True),
        ):
            if not content.startswith((b"PK\x03\x04", b"PAR1")):
                assert stream.read() == expected
        assert told == []
        assert decode_file(content, None) == (text, None)

    @given(st.text(st.sampled_from("abcäöüßéèÉ „“’–… \n,"), max_size=200), st.integers(1, 50))
    def test_cp1252_in_pieces_is_what_python_decodes(self, text, size):
        content = text.encode("cp1252")

        class Slow(io.BytesIO):
            def read1(self, n=-1):
                return super().read(min(n, size))

        told = []
        found = as_utf_8(io.BytesIO(content), "a", None, told.append).read()
        assert found == (text.encode() if told else content)
        if told:
            # Too little may be seen at once to be sure.
            with suppress(EncodingError):
                assert as_utf_8(Slow(content), "a", None, told.append, live=True).read() in (text.encode(), content)

    def test_a_named_encoding_is_not_questioned(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes("text,label\nпривет,x\n".encode("cp1251"))
        assert read(path, encoding="cp1251").texts == ["привет"]
        assert texts_of(path, encoding="cp1251") == (["привет"], [])
        with pytest.raises(EncodingError, match="line 2: not ascii"):
            texts_of(path, encoding="ascii")

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf_16_without_a_mark_is_refused_by_its_name(self, tmp_path, encoding):
        path = tmp_path / "a.csv"
        path.write_bytes("text,label\nGröße und Maße,x\n".encode(encoding))
        for reading in (read, texts_of):
            with pytest.raises(EncodingError, match=f"not utf-8: it seems to be {encoding}") as error:
                reading(path)
            assert error.value.probable == encoding
        assert read(path, encoding=encoding).texts == ["Größe und Maße"]

    def test_files_of_a_folder(self, tmp_path):
        (tmp_path / "x").mkdir()
        (tmp_path / "x" / "1.txt").write_bytes("Größe".encode("cp1252"))
        (tmp_path / "x" / "2.txt").write_bytes("Größe".encode())
        assert read(tmp_path).texts == ["Größe", "Größe"]
        assert read(tmp_path).origin.notes == ("x: 1 file not UTF-8: read as cp1252",)
        assert texts_of(tmp_path)[1] == ["1 file not UTF-8: read as cp1252"]

    def test_single_letters_are_western(self):
        assert single_byte_encoding("naïve".encode("cp1252")) == "cp1252"
        assert single_byte_encoding("l´eau, 5 m², 20 °C, ½".encode("cp1252")) == "cp1252"

    @pytest.mark.parametrize(
        ("content", "what", "format"),
        [
            (b"PK\x03\x04rest", "an Excel workbook", "xlsx"),
            (b"PAR1rest", "a Parquet file", "parquet"),
            (b"%PDF-1.7", "a PDF document", "pdf"),
            (b"\x1f\x8bxx", "packed by gzip", "gz"),
        ],
    )
    def test_files_that_are_no_text(self, tmp_path, content, what, format):
        path = tmp_path / "a.csv"
        path.write_bytes(content)
        for reading in (lambda: read(path), lambda: texts_of(path)):
            with pytest.raises(FormatError, match=rf"a\.csv is {what}.*; expected plain text") as error:
                reading()
            assert error.value.format == format


class TestHeaders:
    LINES = "win cash now,spam\nlunch at noon,ham\nfree prize,spam\nsee you,ham\n"

    def test_a_file_without_header_is_refused(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(self.LINES)
        for reading in (lambda: read(path), lambda: read_texts(path), lambda: texts_of(path)):
            with pytest.raises(HeaderError, match=r"no header line: .*'win cash now', 'spam', and 'spam' occurs again"):
                reading()

    def test_columns_by_number(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(self.LINES)
        found = read(path, "1", "2", header=False)
        assert found.texts == ["win cash now", "lunch at noon", "free prize", "see you"]
        assert found.labels == [("spam",), ("ham",)] * 2
        assert read_texts(path, header=False).origin.text == "1"
        assert texts_of(path, "1", header=False)[0] == found.texts
        assert [row.text for row in iter_records(path, "1", "2", header=False)] == found.texts
        assert read(path, "win cash now", "spam", header=True).texts == found.texts[1:]

    @pytest.mark.parametrize(
        "content",
        ["text,spam\na,spam\nb,spam\nc,ham\n", "one,two\na,b\nc,b\nd,e\n", "win,spam\na,spam\nb,spam\n"],
    )
    def test_a_header_is_a_header_by_a_usual_name_or_new_values(self, tmp_path, content):
        path = tmp_path / "a.csv"
        path.write_text(content)
        with open_table(path) as table:
            assert table.columns == content.partition("\n")[0].split(",")

    def test_a_column_that_was_named_is_a_header(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(self.LINES)
        assert len(read(path, "win cash now", "spam")) == 3


class TestJson:
    OBJECTS = ({"text": "a", "label": "x"}, {"text": "b", "label": "y"}, {"text": None, "label": "x"})
    EXPECTED = (["a", "b", ""], [("x",), ("y",), ("x",)])

    @pytest.mark.parametrize(
        "content",
        [
            json.dumps(OBJECTS),
            json.dumps(OBJECTS, indent=2),
            "".join(json.dumps(row) + "\n" for row in OBJECTS),
            json.dumps({"text": ["a", "b", None], "label": ["x", "y", "x"]}),
            json.dumps({"text": {"0": "a", "1": "b", "2": None}, "label": {"0": "x", "1": "y", "2": "x"}}),
            json.dumps({"data": OBJECTS, "version": 1}),
        ],
        ids=["array", "indented", "lines", "arrays", "pandas", "within"],
    )
    def test_shapes(self, tmp_path, content):
        path = tmp_path / "a.json"
        path.write_text(content)
        found = read(path)
        assert (found.texts, found.labels) == self.EXPECTED
        assert found.origin.notes == ("1 missing text taken as empty",)
        assert texts_of(path) == (found.texts, ["1 missing text taken as empty"])

    def test_an_array_in_a_file_of_lines(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text(json.dumps(self.OBJECTS[:2], indent=1))
        assert read(path).texts == ["a", "b"]
        assert read(path).origin.notes == ("a JSON array, not JSON lines",)

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            ('[{"text": "a", "label": "x"}, 3]', "object 2: expected a JSON object, found int"),
            ('[{"text": "a", "label": "x"} {}]', "object 2: not JSON: expected ',' or ']', found '{'"),
            ('[{"text": "a", "label": "x"}', "object 2: not JSON: expected .* found 'the end of the file'"),
            ('[{"text": "a", "label": ', "object 1: not JSON"),
            ('[{"text": "a", "label": "x"}] x', "object 2: not JSON: something follows"),
            ('{"text": ["a"], "label": ["x", "y"]}', "different lengths"),
            ('{"text": "a", "label": "x"}\n{"text": 3, "label": "x"}', "object 2: 'text' must be a string, found int"),
            ("[" * 100_000, "nested too deeply"),
            ("[]", "has no JSON objects"),
            (" ", "is empty"),
            ("3", "expected a JSON object, found int"),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path, content, problem):
        path = tmp_path / "a.json"
        path.write_text(content)
        with pytest.raises(ValueError, match=rf"a\.json.*{problem}"):
            read(path)

    @given(
        st.lists(
            st.fixed_dictionaries(
                {"text": st.text(max_size=30), "label": st.sampled_from(["x", "y"]), "n": st.floats()}
            ),
            min_size=1,
            max_size=30,
        ),
        st.sampled_from([None, 1, "\t"]),
    )
    def test_what_python_writes_is_read(self, tmp_path_factory, rows, indent):
        path = tmp_path_factory.mktemp("json") / "a.json"
        path.write_text(json.dumps(rows, indent=indent))
        assert read(path).texts == [row["text"] for row in rows]

    def test_objects_longer_than_a_piece_and_longer_than_the_limit(self, tmp_path):
        path = tmp_path / "a.json"
        rows = [{"text": "word " * n, "label": "x"} for n in (1, 50_000, 3, 100_000)]
        path.write_text(json.dumps(rows))
        assert read(path).texts == [row["text"] for row in rows]
        with pytest.raises(CellTooLongError, match="object 2: a cell or a row is longer than 100,000 bytes"):
            read(path, max_cell=100_000)
        path.write_text('[{"text": "' + "x" * 300_000)
        with pytest.raises(CellTooLongError):
            read(path, max_cell=100_000)


class TestStandardInput:
    @pytest.fixture
    def give(self, monkeypatch):
        return lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    @pytest.mark.parametrize(
        ("content", "format"),
        [
            (b"text,label\nhello there,x\ngood day,y\n", "csv"),
            (b"text;label\nhello there;x\ngood day;y\n", "csv"),
            (b"label\ttext\nx\thello there\ny\tgood day\n", "tsv"),
            (b'{"text": "hello there", "label": "x"}\n{"text": "good day", "label": "y"}\n', "jsonl"),
            (b'[{"text": "hello there", "label": "x"}, {"text": "good day", "label": "y"}]', "json"),
            ("text,label\nhello there,x\ngood day,y\n".encode("utf-16"), "csv"),
        ],
    )
    def test_labelled_texts(self, give, content, format):
        for reading in (read, read_texts):
            give(content)
            found = reading("-")
            assert (found.texts, found.labels) == (["hello there", "good day"], [("x",), ("y",)])
            assert (found.origin.path.name, found.origin.format) == ("standard input", format)
        give(content)
        assert texts_of("-")[0] == found.texts

    def test_a_slow_stream_is_recognised_by_its_whole_first_line(self, monkeypatch):
        class Slow(io.BytesIO):
            def read1(self, n=-1):
                return super().read(3)

        for content in (b"id;text\n7;hello there\n8;good day\n", b'[{"text": "hello there"}, {"text": "good day"}]'):
            monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Slow(content)})())
            assert texts_of("-")[0] == ["hello there", "good day"]

    def test_other_columns_and_formats(self, give):
        give(b"story,kind\na,x\nb,y\n")
        assert read("-", "story", "kind").texts == ["a", "b"]
        give(b"story,kind\na,x\n")
        with pytest.raises(ColumnError, match="standard input"):
            read("-")
        give(b"")
        with pytest.raises(ValueError, match="standard input is empty"):
            read("-")
        give(b"text,label\na,x\n")
        with pytest.raises(FormatError, match="standard input is read as parquet; expected a file with a name"):
            read("-", format="parquet")


class TestSeveralTextColumns:
    ROWS = (("Tin", "On tin.", "x"), ("", "Ships, and seas", "y"), ("Alone", "", "x"), ("", "", "y"))
    EXPECTED = ("Tin\n\nOn tin.", "Ships, and seas", "Alone", "")
    COLUMNS = ("title", "abstract")

    @pytest.fixture(params=["a.csv", "a.json", "a.jsonl", "a.parquet", "a.xlsx"])
    def path(self, request, tmp_path):
        path = tmp_path / request.param
        header = (*self.COLUMNS, "label")
        objects = [dict(zip(header, (cell or None for cell in row), strict=True)) for row in self.ROWS]
        if path.suffix == ".csv":
            path.write_text(as_csv(self.ROWS, header=header), newline="")
        elif path.suffix == ".parquet":
            pytest.importorskip("polars").DataFrame(objects).write_parquet(path)
        elif path.suffix == ".xlsx":
            book = pytest.importorskip("openpyxl").Workbook()
            for row in (header, *self.ROWS):
                book.active.append([cell or None for cell in row])
            book.save(path)
        else:
            lines = "".join(json.dumps(row) + "\n" for row in objects)
            path.write_text(json.dumps(objects) if path.suffix == ".json" else lines)
        return path

    def test_they_are_joined(self, path):
        found = read(path, self.COLUMNS, "label")
        assert (tuple(found.texts), found.labels[0]) == (self.EXPECTED, ("x",))
        assert found.origin.text == self.COLUMNS
        assert tuple(record.text for record in iter_records(path, list(self.COLUMNS), "label")) == self.EXPECTED
        assert tuple(read_texts(path, prefer=(list(self.COLUMNS), "label")).texts) == self.EXPECTED
        with open_texts(path, prefer=self.COLUMNS) as stream:
            assert tuple(text for block in stream.blocks for text in block.texts) == self.EXPECTED
        assert stream.text == self.COLUMNS
        assert tuple(texts_of(path, ["abstract"])[0]) == ("On tin.", "Ships, and seas", "", "")

    @pytest.mark.parametrize("wrong", [[], ["title", "title"], ["title", 3], 3])
    def test_wrong_names(self, path, wrong):
        for reading in (lambda: read(path, wrong, "label"), lambda: texts_of(path, wrong)):
            with pytest.raises(ValueError, match="text must name a column, or several different ones"):
                reading()
        with pytest.raises(ValueError, match="text and labels must be different columns"):
            read(path, ["title", "label"], "label")
        with pytest.raises(ColumnError, match="has no column 'x'"):
            read(path, ["title", "x"], "label")
        with pytest.raises(ColumnError, match="the model learned from 'title', 'body'"):
            texts_of(path, prefer=["title", "body"])
