"""Excel workbooks as people have them: which sheet, which cells, and what is refused."""

from __future__ import annotations

import zipfile

import pytest

from bayesift.datasets import (
    CellTooLongError,
    ColumnError,
    DamagedFileError,
    ExpansionError,
    FormatError,
    HeaderError,
    MalformedFileError,
    open_table,
    read,
    read_documents,
    read_texts,
)
from reading_cases import texts_of


class TestWorkbooks:
    @pytest.fixture
    def package(self):
        return pytest.importorskip("openpyxl")

    def book(self, package, path, rows, title=None):
        book = package.Workbook()
        for row in rows:
            book.active.append(row)
        if title:
            book.create_sheet(title)
        book.save(path)
        return path

    def test_cells_are_strings(self, package, tmp_path):
        import datetime

        rows = [
            ["text", "label", "when", "n", "ok"],
            ["Größe, so", "x", datetime.datetime(2024, 5, 1), 3, True],
            [None, "y", datetime.datetime(2024, 5, 1, 12, 30), 2.5, None],
            [None] * 5,
            [17, None, None, None, False],
        ]
        path = self.book(package, tmp_path / "a.xlsx", rows, "notes")
        with open_table(path) as table:
            assert [tuple(row.values()) for _, row in table.rows()] == [
                ("Größe, so", "x", "2024-05-01", "3", "TRUE"),
                ("", "y", "2024-05-01 12:30:00", "2.5", ""),
                ("17", "", "", "", "FALSE"),
            ]
            assert table.notes == ["sheet 'Sheet' of 2"]
        assert read(path).labels == [("x",), ("y",), ()]
        assert texts_of(path)[0] == ["Größe, so", "", "17"]
        assert [document.text for document in read_documents(path)] == ["Größe, so", "", "17"]

    def test_a_sheet_without_the_columns_is_said_not_to_be_all(self, package, tmp_path):
        path = self.book(package, tmp_path / "a.xlsx", [["Read me"], ["Collected in May"]], "Texts")
        said = "its columns are 'Read me'.*; only its sheet 'Sheet' is read, not 'Texts': the sheet with the texts must"
        for reading in (read, read_texts, lambda path: read(path, "Abstract", "Topic")):
            with pytest.raises(ColumnError, match=said) as error:
                reading(path)
            assert error.value.sentence.endswith("not 'Texts': the sheet with the texts must come first")
        alone = self.book(package, tmp_path / "b.xlsx", [["Read me"], ["Collected in May"]])
        with pytest.raises(ColumnError) as error:
            read(alone)
        assert error.value.sentence.endswith("its columns are 'Read me'")

    def test_without_header(self, package, tmp_path):
        rows = [["win cash", "spam"], ["lunch", "ham"], ["prize", "spam"], ["noon", "ham"]]
        path = self.book(package, tmp_path / "a.xlsx", rows)
        with pytest.raises(HeaderError):
            read_texts(path)
        assert read(path, "1", "2", header=False).texts == ["win cash", "lunch", "prize", "noon"]

    def test_what_is_wrong_is_named(self, package, tmp_path):
        path = self.book(package, tmp_path / "a.xlsx", [["text", "label"], ["a", "b", "c"]])
        with pytest.raises(MalformedFileError, match=r"a\.xlsx, row 2: found more than 2 cells"):
            read(path)
        self.book(package, path, [["text", "label"], ["word " * 100, "b"]])
        with pytest.raises(CellTooLongError, match="row 2"):
            read(path, max_cell=100)
        self.book(package, path, [])
        with pytest.raises(ValueError, match=r"a\.xlsx is empty"):
            read(path)
        path.write_bytes(b"text,label\n")
        with pytest.raises(FormatError, match="is not an Excel workbook"):
            read(path)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt", "x")
        with pytest.raises(DamagedFileError, match=r"a\.xlsx cannot be read"):
            read(path)

    def test_a_bomb_is_refused(self, package, tmp_path):
        path = self.book(package, tmp_path / "a.xlsx", [["text", "label"], ["a", "b"]])
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/media/image.png", b"\0" * (65 << 20))
        with pytest.raises(ExpansionError, match=r"a\.xlsx is packed and unpacks to more than"):
            read(path)

    def test_rows_far_down_and_columns_far_right_cost_nothing(self, package, tmp_path):
        path = self.book(package, tmp_path / "a.xlsx", [["text", "label"], ["a", "b"]])
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        sheet = members["xl/worksheets/sheet1.xml"]
        members["xl/worksheets/sheet1.xml"] = sheet.replace(
            b"</sheetData>", b'<row r="99999999999999"><c r="XFD99999999999999" t="n"><v>1</v></c></row></sheetData>'
        )
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        assert read(path).texts == ["a"]

    def test_formats_that_are_not_read_say_what_to_do(self, tmp_path):
        for name, remedy in (
            ("a.xls", "save it as .xlsx"),
            ("a.ods", "save it as .xlsx"),
            ("a.pkl", "can run any code"),
        ):
            (tmp_path / name).write_bytes(b"x")
            for reading in (read, texts_of):
                with pytest.raises(FormatError, match=remedy):
                    reading(tmp_path / name)
