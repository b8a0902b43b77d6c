"""Damaged files: one kind of error, which names the file, the line, what was found and what is expected."""

from __future__ import annotations

import copy
from io import BytesIO

import pytest

from bayesift import bbr

MODEL = """Bayesian Binary Regression ver 2
tfMethod 0
idfMethod 0
cosineNormalize 0
featRestrict 4 17 20
endofheader
modelname
topic <class>
modelType 1 1 0 0
design 0
topicFeats 4 17
beta 1.5e+00 -2.5e-01 3e-01
threshold 0.0e+00
endoftopic
"""
BMR = """Bayesian Polytomous Regression model file ver 2.5
classes 1 2
tfMethod 0
idfMethod 0
cosineNormalize 0
 4 17
modelname
nDesignParams 3
modelType 1 1 0 0 0
design 0
topicFeats 4 17
endofheader
betaClassSparse 1 4:1.5 17:2 0:0.5
betaClassSparse 2
"""
SPARSE = "Sparse Model File ver 1\nm 1 4 1.5\nm 2 4 -1\nm 2 17 0.5\n"
READERS = {
    "binary": bbr.read_binary_model,
    "bmr": bbr.read_polytomous_model,
    "sparse": bbr.read_sparse_models,
    "priors": bbr.read_priors,
    "data": bbr.read_data,
    "symbolic": bbr.read_symbolic_data,
    "results": bbr.read_binary_results,
    "dense": bbr.read_dense_results,
    "scores": bbr.read_score_results,
    "labels": bbr.read_labels,
    "any model": bbr.read_models,
}


def changed(text, old, new):
    assert old in text
    return text.replace(old, new)


CASES = [
    ("binary", "not a model\n", 1, "the title 'Bayesian Binary Regression ver 2'"),
    ("binary", changed(MODEL, "ver 2", "ver 3"), 1, "the title"),
    ("binary", MODEL[: MODEL.index("beta")], 11, "the end of the file, expected the word 'beta'"),
    ("binary", MODEL[: MODEL.index("endoftopic")], 13, "the end of the file, expected the word 'endoftopic'"),
    ("binary", changed(MODEL, "4 17\nbeta", "17 4\nbeta"), 11, "'4', expected a feature greater than 17"),
    ("binary", changed(MODEL, "4 17\nbeta", "4 4\nbeta"), 11, "'4', expected a feature greater than 4"),
    ("binary", changed(MODEL, "4 17 20", "4 20 17"), 5, "'17', expected a feature greater than 20"),
    ("binary", changed(MODEL, " -2.5e-01", ""), 12, "2 numbers after 'beta', expected 3, one for each of 2 features"),
    ("binary", changed(MODEL, "1.5e+00", "1.5e+00 2 3"), 12, "5 numbers after 'beta'"),
    ("binary", changed(MODEL, "-2.5e-01", "two"), 12, "'two', expected a finite number"),
    ("binary", changed(MODEL, "-2.5e-01", "inf"), 12, "'inf', expected a finite number"),
    ("binary", changed(MODEL, "-2.5e-01", "nan"), 12, "'nan', expected a finite number"),
    ("binary", changed(MODEL, "-2.5e-01", "1e999"), 12, "'1e999', expected a finite number"),
    ("binary", changed(MODEL, "-2.5e-01", "1_0"), 12, "'1_0', expected a finite number"),
    ("binary", changed(MODEL, "idfMethod 0", "idfMethod x"), 3, "'x', expected a whole number"),
    ("binary", changed(MODEL, "idfMethod 0\n", ""), 3, "'cosineNormalize', expected the word 'idfMethod'"),
    ("binary", MODEL + "topic another\n", 15, "'topic', expected the end of the file"),
    ("bmr", changed(BMR, "ver 2.5", "ver 2"), 1, "the title"),
    ("bmr", changed(BMR, "4:1.5 17:2", "17:1.5 4:2"), 13, "'4', expected a feature greater than 17"),
    ("bmr", changed(BMR, "4:1.5 17:2", "4:1.5 4:2"), 13, "'4', expected every feature of class 1 once"),
    ("bmr", changed(BMR, "4:1.5", "4=1.5"), 13, "'4=1.5', expected feature:value"),
    ("bmr", changed(BMR, "4:1.5", "4:inf"), 13, "'inf', expected a finite number after the colon"),
    ("bmr", changed(BMR, "Sparse 2", "Sparse 1"), 14, "'1', expected every class once"),
    ("bmr", changed(BMR, "betaClassSparse 2\n", ""), 14, "coefficients of 1, expected the classes 1, 2"),
    ("bmr", changed(BMR, "nDesignParams 3", "nDesignParams 4"), 8, "nDesignParams 4, expected 3"),
    ("bmr", BMR[: BMR.index("betaClass")], 12, "the end of the file, expected the word 'betaClassSparse'"),
    ("sparse", changed(SPARSE, "ver 1", "ver 2"), 1, "the title 'Sparse Model File ver 1'"),
    ("sparse", SPARSE.splitlines()[0], 1, "the end of the file, expected MODEL CLASS FEATURE COEFFICIENT"),
    ("sparse", changed(SPARSE, "4 -1", "4"), 3, "'4', expected MODEL CLASS FEATURE COEFFICIENT, or one reference"),
    ("sparse", changed(SPARSE, "4 -1", "4 -1 7"), 3, "'7', expected the end of the line"),
    ("sparse", changed(SPARSE, "17 0.5", "4 0.5"), 4, "'4', expected every feature of class 2 once"),
    ("sparse", changed(SPARSE, "17 0.5", "17 much"), 4, "'much', expected a finite number"),
    ("sparse", SPARSE + "m\n", 5, "'m', expected MODEL CLASS FEATURE COEFFICIENT"),
    ("priors", "4 2\n", 1, "the end of the file, expected a variance"),
    ("priors", "# words\n4 2 0.5\n4 1 1\n", 3, "a second prior of '4', expected every coefficient once"),
    ("priors", "4 inf 0.5\n", 1, "'inf', expected a finite number as mode"),
    ("priors", "4 0 -0.5\n", 1, "'-0.5', expected a variance of at least 0"),
    ("priors", "4 0 nan\n", 1, "'nan', expected a variance of at least 0"),
    ("priors", "4 0 1 2\n", 1, "'2', expected a skew of -1, 0 or 1"),
    ("priors", "4 0 1 1 1\n", 1, "'1', expected the end of the line"),
    ("priors", "wheat 0 1\n", 1, "'wheat', expected a feature, a whole number"),
    ("priors", "-4 0 1\n", 1, "'-4', expected a feature, a whole number"),
    ("priors", "topic a\n4 0 1\n", 3, "the end of the file, expected the word 'endoftopic'"),
    ("priors", "topic\nendoftopic\n", 1, "'topic', expected the name of a topic after it"),
    ("priors", "4 0 1\ntopic a\nendoftopic\n", 2, "'topic', expected 'topic' and 'endoftopic' in turn"),
    ("priors", "endoftopic\n", 1, "'endoftopic', expected 'topic' and 'endoftopic' in turn"),
    ("priors", "topic a\nendoftopic\n4 0 1\n", 3, "'4', expected 'topic' and 'endoftopic' in turn"),
    ("data", "1 3:1 2:1\n", 1, "'2:1', expected indices that ascend"),
    ("data", "1 3:1\n-1 3:1 3:2\n", 2, "'3:2', expected indices that ascend"),
    ("data", "wheat 3:1\n", 1, "'wheat', expected a number as label"),
    ("data", "inf 3:1\n", 1, "'inf', expected a number as label"),
    ("data", "# words\n# only\n", 1, "comments only, expected at least one document"),
    ("data", "1 3:1\n# UID: \xff\n1 3:1\n", 2, "the byte 0xff, expected text in UTF-8"),
    ("symbolic", "a b:1 b:2\n", 1, "'b' twice, expected every feature once"),
    ("symbolic", "a b\n", 1, "'b', expected feature:value"),
    ("symbolic", "a:1 b:1\n", 1, "'a:1', expected a label first"),
    ("symbolic", "a b:x\n", 1, "'x', expected a finite number after the colon"),
    ("symbolic", "# only\n", 1, "comments only"),
    ("results", "0.5 1\n1.5 1\n", 2, "'1.5', expected a probability"),
    ("results", "0.5 0\n", 1, "'0', expected the prediction 1 or -1"),
    ("results", "0.5\n", 1, "'0.5', expected a probability and a prediction"),
    ("results", "d 0.5 1 1\n", 1, "'1', expected the end of the line"),
    ("dense", "1 0.5 0.5 1\n1 0.5 1\n", 2, "'1', expected 2 numbers between the labels"),
    ("dense", "1 x 0.5 1\n", 1, "'x', expected a finite number"),
    ("scores", "d m c\n", 1, "0 scores, expected 1 or 5"),
    ("scores", "d m c 1\nd m c 1 2 3 4 5\n", 2, "5 scores, expected 1, the same in every line"),
    ("scores", "d m c x\n", 1, "'x', expected a finite score"),
    ("labels", "d m\n", 1, "the end of the file, expected DOCID MODEL CLASS"),
    ("labels", "d m c\nD M e\n", 2, "a second class of 'D', expected one class for each model"),
    ("labels", "d m c e\n", 1, "'e', expected the end of the line"),
    ("any model", "hello\n", 1, "the title of a model file of BBR, BMR or BXR"),
]


@pytest.mark.parametrize(("kind", "text", "line", "message"), CASES)
def test_the_error_names_all(kind, text, line, message, tmp_path):
    path = tmp_path / "a file"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(bbr.FormatError) as error:
        READERS[kind](path)
    assert str(error.value).startswith(f"{path}, line {line}: found ")
    assert message in str(error.value)
    assert (error.value.name, error.value.line) == (str(path), line)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: found an empty file, expected at least one line"),
        (b" \r\n\t\n", "found an empty file"),
        (b"\xef\xbb\xbf", "found an empty file"),
        ("1 2:3\n".encode("utf-16"), "the byte-order mark of UTF-16, expected text in UTF-8"),
    ],
)
def test_no_text_at_all(kind, content, message):
    with pytest.raises(bbr.FormatError, match=message):
        READERS[kind](BytesIO(content))


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind != "data"])
def test_bytes_that_are_not_utf_8(kind):
    texts = {"binary": MODEL, "any model": MODEL, "bmr": BMR, "sparse": SPARSE}
    content = texts.get(kind, "a b:1\n").encode() + b"caf\xe9\n"
    with pytest.raises(bbr.FormatError, match=r"found the byte 0xe9, expected text in UTF-8") as error:
        READERS[kind](BytesIO(content))
    assert error.value.line == content.count(b"\n")


def test_an_error_can_be_copied():
    # As it is on the way from one process to another.
    error = bbr.FormatError("a", 3, "b", "c")
    assert str(copy.copy(error)) == str(error)


@pytest.mark.parametrize(
    ("threshold", "class_name", "unit", "log_odds"),
    [
        ("-6.0e-01", "", "log_odds", -0.6),
        ("0", "", "log_odds", 0.0),
        ("2.5", "", "log_odds", 2.5),
        ("0.5", "1 ", "probability", 0.0),
        ("0", "1 ", "probability", 0.0),
        ("-1", "1 ", "probability", 0.0),
        ("1", "1 ", "probability", float("inf")),
    ],
)
def test_the_unit_of_a_threshold(threshold, class_name, unit, log_odds):
    text = MODEL.replace("threshold 0.0e+00", f"threshold {threshold}").replace("beta ", f"beta {class_name}")
    ambiguous = 0 < float(threshold) < 1
    stream = BytesIO(text.encode())
    if ambiguous:
        with pytest.warns(bbr.ThresholdUnitWarning, match="could be log odds or a probability; it is read as"):
            model = bbr.read_binary_model(stream)
    else:
        model = bbr.read_binary_model(stream)
    assert (model.threshold_unit, model.log_odds_threshold) == (unit, log_odds)
    assert model.class_name == (class_name.strip() or None)


def test_the_unit_can_be_settled():
    text = MODEL.replace("threshold 0.0e+00", "threshold 0.25").encode()
    for unit, log_odds in (("log_odds", 0.25), ("probability", pytest.approx(-1.0986123))):
        model = bbr.read_binary_model(BytesIO(text), threshold_unit=unit)
        assert model.log_odds_threshold == log_odds
    with pytest.raises(ValueError, match="threshold_unit is 'odds'"):
        bbr.read_binary_model(BytesIO(text), threshold_unit="odds")


def test_a_missing_file_is_no_format_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        bbr.read_data(tmp_path / "none")


def test_a_symbolic_model_is_told_by_its_features():
    text = b"Sparse Model File ver 1\nm 1 wheat 1.5\nm 1 @constant 2\nm @REFERENCE 2\n"
    [model] = bbr.read_sparse_models(BytesIO(text))
    assert model.symbolic
    assert model.classes[0] == bbr.ClassCoefficients("1", ("wheat",), (1.5,), 2.0)
    assert (model.reference_class, model.class_names) == ("2", ("1", "2"))


def test_both_forms_of_the_feature_list():
    for listed, keyword in ((" 4 17", False), ("featRestrict 4 17", True)):
        model = bbr.read_polytomous_model(BytesIO(BMR.replace("\n 4 17", f"\n{listed}").encode()))
        assert model.header is not None
        assert (model.header.restricted_to, model.header.keyword) == ((4, 17), keyword)
