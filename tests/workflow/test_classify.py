"""What stands in a file beside its texts: none of it is lost without a word."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bayesift.workflow import Classified, TextClassifier, classify
from bayesift.workflow.classify import _LISTED


@pytest.fixture(scope="module")
def classifier() -> TextClassifier:
    return TextClassifier("nb").fit(["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3)


def classified(classifier: TextClassifier, path: Path, content: str, ending: str, **options) -> tuple[Classified, str]:
    path.write_text(content)
    out = path.with_name(f"out.{ending}")
    return classify(classifier, path, out, **options), out.read_text()


def objects(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_what_is_added_never_takes_the_place_of_a_key(classifier, tmp_path):
    path, rows = tmp_path / "a.jsonl", [{"text": "wheat"}, {"text": "ship", "predicted": "mine"}]
    with pytest.raises(ValueError, match=r"a\.jsonl, object 2 has the key 'predicted', which the first has not"):
        classified(classifier, path, objects(*rows), "jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    _, written = classified(classifier, path, objects(*reversed(rows)), "jsonl")
    assert written == objects(
        {"text": "ship", "predicted": "mine", "predicted_2": "sea"}, {"text": "wheat", "predicted_2": "farm"}
    )


def test_keys_that_a_table_has_no_column_for_are_told(classifier, tmp_path):
    path, rows = tmp_path / "a.jsonl", [{"text": "wheat", "x": 1}, {"text": "ship", "y": 2}, {"z": 3, "text": "sea"}]
    found, written = classified(classifier, path, objects(*rows), "csv")
    assert written == "text,x,predicted\nwheat,1,farm\nship,,sea\nsea,,sea\n"
    assert found.notes == ["2 objects have keys that the first has not, which are left out: 'y', 'z'"]
    many = {f"k{n}": n for n in range(2 * _LISTED)}
    found, _ = classified(classifier, path, objects(rows[0], {"text": "ship", **many}), "csv")
    [note] = found.notes
    assert note.startswith("1 object has keys ")
    assert note.endswith("'k9'…")
    for ending, options in (("jsonl", {}), ("csv", {"brief": True})):
        found, _ = classified(classifier, path, objects(*rows), ending, **options)
        assert found.notes == []


def test_columns_of_one_name_are_kept_or_refused(classifier, tmp_path):
    path, content = tmp_path / "a.csv", "x,x,text\n1,2,ship\n"
    assert classified(classifier, path, content, "csv")[1] == "x,x,text,predicted\n1,2,ship,sea\n"
    assert classified(classifier, path, content, "tsv")[1] == "x\tx\ttext\tpredicted\n1\t2\tship\tsea\n"
    assert classified(classifier, path, content, "jsonl", brief=True)[1] == '{"row": 1, "predicted": "sea"}\n'
    for ending in ("jsonl", "parquet"):
        with pytest.raises(ValueError, match=rf"a\.csv has more than one column named 'x', of which {ending} can hold"):
            classified(classifier, path, content, ending)


def test_a_row_without_an_identifier_gets_no_number_in_its_place(classifier, tmp_path, monkeypatch):
    monkeypatch.setattr("bayesift.datasets._texts.BLOCK_TEXTS", 2)
    rows = [{"id": "a", "text": "wheat"}, {"id": "b", "text": "sea"}, {"text": "ship"}, {"text": "sea", "id": "c"}]
    _, written = classified(classifier, tmp_path / "a.jsonl", objects(*rows), "csv", brief=True)
    assert [row["id"] for row in csv.DictReader(written.splitlines())] == ["a", "b", "", "c"]
