"""Whatever a record says, its file says, and the record comes back."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from bayesift import bbr

finite = st.floats(allow_nan=False, allow_infinity=False)
positive_ids = st.integers(1, 2**31 - 1)
words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="#:"), min_size=1, max_size=8
)
phrases = st.lists(words, max_size=3).map(" ".join)
codes = st.integers(0, 9)
whole_names = st.integers(-99, 99).map(str)


@st.composite
def binary_models(draw):
    features = tuple(sorted(draw(st.sets(positive_ids, max_size=6))))
    return bbr.BinaryModel(
        features=features,
        coefficients=tuple(draw(finite) for _ in features),
        intercept=draw(finite),
        threshold=draw(finite),
        threshold_unit=draw(st.sampled_from(["log_odds", "probability"])),
        restricted_to=draw(st.none() | st.sets(positive_ids, max_size=6).map(sorted).map(tuple)),
        class_name=draw(st.none() | words),
        cosine_normalize=draw(st.booleans()),
        standardize=draw(st.booleans()),
        threshold_rule=draw(st.integers(0, 5)),
        name=draw(phrases),
        topic=draw(phrases),
        tf_method=draw(codes),
        idf_method=draw(codes),
        n_groups=draw(st.none() | codes),
        idf=tuple(draw(st.lists(finite, max_size=3))),
        link=draw(codes),
        optimizer=draw(codes),
        design=draw(codes),
    )


@st.composite
def class_coefficients(draw, name, features, in_order):
    listed = draw(st.lists(features, unique=True, max_size=5))
    listed = sorted(listed) if in_order else listed
    values = tuple(draw(finite) for _ in listed)
    return bbr.ClassCoefficients(name, tuple(listed), values, draw(finite))


@st.composite
def bmr_models(draw):
    names = draw(st.lists(whole_names, min_size=1, max_size=3, unique=True))
    classes = tuple(draw(class_coefficients(name, positive_ids, True)) for name in names)
    restricted = draw(st.none() | st.sets(positive_ids, min_size=1, max_size=5).map(sorted).map(tuple))
    header = bbr.BMRHeader(
        trained_on=tuple(sorted(draw(st.sets(positive_ids, max_size=6)))),
        restricted_to=restricted,
        keyword=restricted is None or draw(st.booleans()),
        cosine_normalize=draw(st.booleans()),
        standardize=draw(st.booleans()),
        tf_method=draw(codes),
        design=draw(codes),
    )
    reference = draw(st.none() | st.sampled_from([name for name in names if name != "0"] or [None]))
    return bbr.PolytomousModel(classes, draw(phrases), reference, False, header, "")


@st.composite
def bxr_models(draw, name=phrases, with_reference=False):
    symbolic = draw(st.booleans())
    features = words.filter(lambda word: word not in ("@constant",)) if symbolic else positive_ids
    names = draw(
        st.lists(words.filter(lambda word: not word.lower().startswith("@ref")), min_size=1, max_size=3, unique=True)
    )
    classes = tuple(draw(class_coefficients(class_name, features, False)) for class_name in names)
    reference = draw(st.none() | st.sampled_from(names)) if with_reference else None
    return bbr.PolytomousModel(classes, draw(name), reference, symbolic)


@st.composite
def prior_sections(draw):
    topics = draw(st.none() | st.lists(phrases.filter(bool), min_size=1, max_size=3))
    features = words.filter(lambda word: word not in ("class", "topic", "endoftopic", "0", "@constant")) | st.just("0")
    one = st.builds(
        bbr.IndividualPrior,
        features,
        finite,
        st.floats(0, np.inf),
        st.sampled_from([-1, 0, 1]),
        st.none() | words,
        st.booleans(),
    )
    lists = st.lists(one, max_size=4, unique_by=lambda prior: (prior.class_name, prior.feature)).map(tuple)
    if topics is None:
        return (bbr.PriorSection(draw(lists)),)
    return tuple(bbr.PriorSection(draw(lists), topic) for topic in topics)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("round") / "file"


@given(model=binary_models())
def test_binary_models(path, model):
    bbr.write_binary_model(path, model)
    assert bbr.read_binary_model(path, threshold_unit=model.threshold_unit) == model


@given(model=bmr_models())
def test_models_of_bmr(path, model):
    bbr.write_polytomous_model(path, model)
    assert bbr.read_polytomous_model(path) == model


@given(model=bxr_models())
def test_models_of_bxr(path, model):
    bbr.write_polytomous_model(path, model)
    assert bbr.read_polytomous_model(path, symbolic=model.symbolic) == model


@given(
    models=st.lists(bxr_models(words, with_reference=True), min_size=1, max_size=3, unique_by=lambda model: model.name)
)
def test_sparse_models(path, models):
    symbolic = models[0].symbolic
    models = [model for model in models if model.symbolic == symbolic]
    bbr.write_sparse_models(path, models)
    found = bbr.read_sparse_models(path, symbolic=symbolic)
    assert [model.name for model in found] == [model.name for model in models]
    for mine, expected in zip(found, models, strict=True):
        assert mine.reference_class == expected.reference_class
        assert {c.class_name: c for c in mine.classes} == {c.class_name: c for c in expected.classes}


@given(sections=prior_sections())
def test_priors(path, sections):
    bbr.write_priors(path, sections)
    assert bbr.read_priors(path, symbolic=True) == sections


chances = st.floats(0, 1)


@given(st.lists(st.builds(bbr.BinaryResult, chances, st.sampled_from([-1, 1]), st.none()), min_size=1))
def test_binary_results(path, results):
    bbr.write_binary_results(path, results)
    assert bbr.read_binary_results(path) == tuple(results)


@given(st.lists(st.builds(bbr.BinaryResult, chances, st.sampled_from([-1, 1]), words), min_size=1))
def test_binary_results_with_row_ids(path, results):
    bbr.write_binary_results(path, results)
    assert bbr.read_binary_results(path) == tuple(results)


@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(st.builds(bbr.DenseResult, words, st.tuples(*[finite] * k), words), min_size=1)
    )
)
def test_dense_results(path, results):
    bbr.write_dense_results(path, results)
    assert bbr.read_dense_results(path) == tuple(results)


names = st.none() | words
scored = st.sampled_from([1, 5]).flatmap(
    lambda k: st.lists(
        st.builds(bbr.ScoreResult, st.just("") | words, words, words, st.tuples(*[finite] * k), names, names),
        min_size=1,
    )
)


@given(results=scored)
def test_score_results(path, results):
    bbr.write_score_results(path, results)
    assert bbr.read_score_results(path) == tuple(results)


@given(
    labels=st.lists(
        st.builds(bbr.Label, words, words, words), unique_by=lambda x: (x.document.upper(), x.model.upper()), min_size=1
    )
)
def test_labels(path, labels):
    bbr.write_labels(path, labels)
    assert bbr.read_labels(path) == tuple(labels)


@st.composite
def matrices(draw):
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    values = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0]) | finite, min_size=n * d, max_size=n * d))
    return sp.csr_matrix(np.array(values).reshape(n, d))


@given(matrices(), st.data())
def test_data(path, X, data):
    n = X.shape[0]
    labels = data.draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n))
    groups = data.draw(st.lists(st.lists(st.integers(0, 1), min_size=2, max_size=2), min_size=n, max_size=n))
    row_ids = data.draw(st.none() | st.lists(phrases, min_size=n, max_size=n).filter(any))
    bbr.write_data(path, X, labels, row_ids=row_ids, groups=groups)
    found = bbr.read_data(path, n_groups=2, n_features=X.shape[1])
    assert found.labels == tuple(map(str, labels))
    assert found.row_ids == (None if row_ids is None else tuple(row_ids))
    np.testing.assert_array_equal(found.groups, groups)
    np.testing.assert_array_equal(found.X.toarray(), X.toarray())


@given(st.lists(finite, min_size=1, max_size=4))
def test_labels_keep_their_digits(path, labels):
    for given_labels in (labels, np.array(labels)):
        bbr.write_data(path, np.ones((len(labels), 1)), given_labels)
        assert bbr.read_data(path).numeric_labels().tolist() == labels
    bbr.write_data(path, np.ones((2, 1)), np.array([1234567, 0.5], dtype=np.float32))
    assert bbr.read_data(path).labels == ("1234567", "0.5")


def test_what_does_not_fit_is_refused(path):
    X = np.eye(2)
    for argument, given_values, message in (
        ("labels", [1], "labels has 1 entries; expected 2, one for each document"),
        ("row_ids", ["a", "b", "c"], "row_ids has 3 entries; expected 2, one for each document"),
        ("names", ["a"], "names has 1 entries; expected 2, one for each feature"),
        ("names", ["a", "a"], "names holds 'a' more than once"),
        ("groups", [[1]], r"groups has the shape \(1, 1\); expected 2 rows"),
        ("groups", [1, 0], r"groups has the shape \(2,\); expected 2 rows"),
        ("groups", [[1], [2]], "groups holds other values than 0 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            bbr.write_data(path, X, **{"labels": [1, -1], argument: given_values})
    bbr.write_data(path, X, [1, -1], groups=np.array([[True], [False]]))
    assert bbr.read_data(path, n_groups=1).groups.tolist() == [[1], [0]]


def test_a_matrix_stays_as_it_is(path):
    X = sp.csr_matrix((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    before = X.copy()
    bbr.write_data(path, X, [1, -1])
    assert bbr.read_data(path).X.toarray().tolist() == [[0.0, 3.0], [0.0, 0.0]]
    for array in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, array), getattr(before, array))


@given(matrices(), st.data())
def test_symbolic_data(path, X, data):
    n, d = X.shape
    labels = data.draw(st.lists(words, min_size=n, max_size=n))
    features = data.draw(st.lists(words, min_size=d, max_size=d, unique=True))
    bbr.write_data(path, X, labels, names=features, id_word="ID")
    found = bbr.read_symbolic_data(path)
    assert found.labels == tuple(labels)
    assert set(found.names) <= set(features)
    dense = np.zeros(X.shape)
    dense[:, [features.index(name) for name in found.names]] = found.X.toarray()
    np.testing.assert_array_equal(dense, X.toarray())


def test_files_of_other_systems_are_read(path):
    for prepare in (lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\n \n" + b):
        model = bbr.BinaryModel((3, 7), (1.5, -2.0), 0.25, restricted_to=(3, 5, 7), name="ein Modell")
        bbr.write_binary_model(path, model)
        path.write_bytes(prepare(path.read_bytes()))
        assert bbr.read_models(path) == (model,)
        path.write_bytes(prepare(b"1 3:0.5\n-1 7:2\n"))
        found = bbr.read_data(path)
        assert (found.labels, found.X.indices.tolist()) == (("1", "-1"), [2, 6])
        path.write_bytes(prepare(b"4 2 0.5\n0 0 inf\n"))
        assert [prior.feature for prior in bbr.read_priors(path)[0].priors] == ["4", "0"]


def test_line_ends_have_no_meaning_in_a_binary_model(path):
    model = bbr.BinaryModel((3, 7), (1.5, -2.0), 0.25, threshold=-1.0, restricted_to=(3, 7), name="my topic")
    bbr.write_binary_model(path, model)
    title, *rest = path.read_text().splitlines()
    for glue in ("\n", " ", "\n\n\t"):
        # A name of several words needs its own line, or must not hold the keyword that follows.
        path.write_text(
            title
            + "\n"
            + glue.join(glue.join(line.split()) if "modelname" not in line else line + "\n" for line in rest)
        )
        assert bbr.read_binary_model(path) == model


@pytest.mark.parametrize(
    ("write", "record", "message"),
    [
        (bbr.write_binary_model, bbr.BinaryModel((1, 2), (1.0,), 0.0), "1 coefficients for 2 features"),
        (bbr.write_binary_model, bbr.BinaryModel((), (), 0.0, name="a\nb"), "name is"),
        (bbr.write_polytomous_model, bbr.PolytomousModel((bbr.ClassCoefficients("a b"),)), "class_name holds 'a b'"),
        (bbr.write_sparse_models, [bbr.PolytomousModel((bbr.ClassCoefficients("a"),), "")], "name holds ''"),
        (bbr.write_labels, [bbr.Label("a", "b", "#c")], "labels holds '#c'"),
        (bbr.write_priors, (bbr.PriorSection(()), bbr.PriorSection((), "x")), "with and without a topic"),
        (bbr.write_priors, (bbr.PriorSection((bbr.IndividualPrior("topic", 0, 1),)),), "feature holds 'topic'"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(path, write, record, message):
    path.write_text("as it was")
    with pytest.raises(ValueError, match=message):
        write(path, record)
    assert path.read_text() == "as it was"
    assert [file.name for file in path.parent.iterdir()] == ["file"]
