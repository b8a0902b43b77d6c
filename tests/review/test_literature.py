"""What is exported for managers of literature is read again as it was."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.datasets import read_documents
from bayesift.review.exporting import Row
from bayesift.review.importing import read_labels
from bayesift.review.literature import WRITERS, asreview_project
from bayesift.review.storage import Document

EXTRA = {
    "authors": "Doe, Jane; Roe, Rob",
    "year": "2019",
    "journal": "Lancet",
    "doi": "10.1000/abc",
    "keywords": "a; b",
}
GIVEN = [
    Row(
        Document("7", "Tin & <copper> at 100 %", "The price_of {tin}\nfell.", EXTRA, 0), 0.25,
        "irrelevant", {"Anna": "irrelevant"}, "wrong subject", "London", "Anna: see\nagain",
        at="2026-01-01T00:00:00.000Z",
    ),
    Row(Document("8", "Ships", "", {}, 1), 0.5, "relevant", {}),
    Row(Document("9", "Ships again", "", {}, 2), 0.5, "relevant", {}, copy_of="8"),
    Row(Document("10", "Unread", "", {}, 3), 0.5, "", {}),
]  # fmt: skip


def read_back(tmp_path, name, content):
    path = tmp_path / f"x.{name}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_documents(path))


@pytest.mark.parametrize(("name", "id"), [("bib", "7"), ("nbib", "7"), ("xml", "7"), ("asreview", "0")])
def test_an_export_is_read_again(tmp_path, name, id):
    content = asreview_project(GIVEN, "x") if name == "asreview" else "".join(WRITERS[name][0](GIVEN))
    first, second, third, fourth = read_back(tmp_path, name, content)
    assert (first.id, first.title) == (id, "Tin & <copper> at 100 %")
    assert first.text.replace("\n", " ").replace("(", "{").replace(")", "}") == "The price_of {tin} fell."
    assert {key: first.details[key] for key in ("authors", "year", "doi", "keywords")} == {
        key: EXTRA[key] for key in ("authors", "year", "doi", "keywords")
    }
    assert [document.title for document in (second, third, fourth)] == ["Ships", "Ships again", "Unread"]
    said = content.decode("latin-1") if isinstance(content, bytes) else content
    if name != "asreview":
        assert "Bayesift reason: wrong subject" in said
        assert "Bayesift notes: Anna: see again" in said
        assert "Bayesift duplicate of: 8" in said
    else:
        assert first.details["asreview_note"] == "reason: wrong subject; tags: London; notes: Anna: see again"
        labels = read_labels(tmp_path / "x.asreview", [row.document for row in GIVEN])
        assert labels.decisions == {0: "irrelevant", 1: "relevant"}
        assert labels.reasons == {0: "wrong subject"}
        assert (labels.undecided, labels.unmatched) == (2, 0)


def test_no_two_entries_of_bibtex_have_one_key(tmp_path):
    keys = ["a_3", "a", "A", "a", "?", "5", "a_3", "a_3_7"]
    rows = [Row(Document(key, "Tin", "", {}, n), 0.5, "", {}) for n, key in enumerate(keys)]
    found = [document.id for document in read_back(tmp_path, "bib", "".join(WRITERS["bib"][0](rows)))]
    assert found[:2] == ["a_3", "a"]
    assert len({key.lower() for key in found}) == len(keys)


ANY = st.text(st.characters(codec="utf-8"), max_size=40)


@settings(max_examples=40, deadline=None)
@given(title=ANY, text=ANY, note=ANY, author=ANY)
def test_no_text_breaks_a_format(tmp_path_factory, title, text, note, author):
    """Braces, tags, markup and control characters stay within their field: two documents stay two."""
    folder = tmp_path_factory.mktemp("any")
    rows = [
        Row(Document("1", title, text, {"authors": author, "year": note, "journal": title}), 0.5, "", {}, notes=note),
        Row(Document("2", "Last", "", {}), 0.5, "", {}),
    ]
    for name, (writer, _) in WRITERS.items():
        documents = read_back(folder, name, "".join(writer(rows)))
        assert [document.id for document in documents] == ["1", "2"], name
        assert documents[1].title == "Last"
