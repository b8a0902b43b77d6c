"""Options of the six drop-in commands, their errors, and what is left behind."""

from __future__ import annotations

import io
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift import bbr
from bayesift.bbr import commands
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian, Laplace

random = np.random.default_rng(3)
X = sp.csr_matrix(random.poisson(0.6, (80, 12)).astype(float))
SCORE = X @ random.normal(size=12) - 0.5
Y = np.where(SCORE + random.logistic(size=80) > 0, 1, -1)
CLASSES = np.argmax(X[:, :3].toarray() + random.random((80, 3)), axis=1)
PRIORS = "# words\n0 0.5 2\n3 1.0 0.5\n7 0 4 1\n99 0.25 1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with some data."""
    monkeypatch.chdir(tmp_path)
    bbr.write_data("a.train", X, Y.tolist())
    bbr.write_data("c.train", X, CLASSES.tolist())
    bbr.write_data("w.train", X, [("corn", "gold", "wheat")[k] for k in CLASSES], names=[f"word{j}" for j in range(12)])
    (tmp_path / "p.txt").write_text(PRIORS)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command by its main function; gives status, output and errors."""

    def call(line, stdin=None, monkeypatch=None):
        program, *arguments = line.split()
        try:
            status = getattr(commands, program)(arguments)
        except SystemExit as stop:
            status = stop.code
        found = capsys.readouterr()
        return status, found.out, found.err

    return call


def good(run, line):
    status, out, err = run(line)
    assert (status, err) == (0, "")
    return out


def dense(model):
    coef = np.zeros(12)
    coef[[feature - 1 for feature in model.features if feature <= 12]] = [
        value for feature, value in zip(model.features, model.coefficients, strict=True) if feature <= 12
    ]
    return coef


def fitted(prior, variance, **options):
    return BayesianLogisticRegression(
        prior, variance, intercept_variance=options.pop("intercept_variance", "same"), tol=1e-12, **options
    ).fit(X, Y)


# What the options mean, in terms of the estimator.
MEANINGS = {
    "-p 1 -V 0.7": (Laplace(), 0.7),
    "-V 0.7": (Gaussian(), 0.7),
    "--prior 1 --variance 0.7": (Laplace(), 0.7),
    "-p 1 -H 2": (Laplace(), 0.5),
    "-p 2 -H 2": (Gaussian(), 2.0),
    "-p 1 --neg -H 2": (Laplace(sign=-1), 0.25),
    "-p 1 --neg -V 0.7": (Laplace(sign=-1), 0.7),
    "-p 2 --pos -V 0.7": (Gaussian(sign=1), 0.7),
    "-p 1": (Laplace(), 13 / (X.power(2).sum() / 80)),
    "--accurate -p 1 -V 0.7 -l 2 --iter 20000": (Laplace(), 0.7),
}


@pytest.mark.parametrize("options", MEANINGS)
@pytest.mark.parametrize("solver", ["clg", "newton"])
def test_options_of_the_prior(options, solver, folder, run):
    good(run, f"bbrtrain {options} -e 1e-10 --solver {solver} a.train a.model")
    model = bbr.read_binary_model("a.model")
    expected = fitted(*MEANINGS[options])
    np.testing.assert_allclose(dense(model), expected.coef_[0], atol=1e-5)
    assert model.intercept == pytest.approx(expected.intercept_[0], abs=1e-5)


def objective(coef, intercept, prior, variance, constant):
    """The negative log posterior; ``constant`` is mode and variance of the constant."""
    loss = np.logaddexp(0, -Y * (X @ coef + intercept)).sum()
    penalty = prior.scaled(variance).penalty(coef)
    own = type(prior)(constant[1], constant[0]).penalty([intercept])
    return loss + penalty + own


@pytest.mark.parametrize("family", [Laplace, Gaussian])
@pytest.mark.parametrize("choice", ["-V 0.8", "-V 0.4,0.8", "--autosearch"])
def test_individual_priors_with_a_scaled_constant(family, choice, folder, run):
    out = good(run, f"bbrtrain -p {1 if family is Laplace else 2} {choice} -C 4,2 -I p.txt -e 1e-10 a.train a.model")
    model = bbr.read_binary_model("a.model")
    variance = float(out.split("Final prior variance value ")[1].split()[0])
    if "," in choice:
        assert variance in (0.4, 0.8)
    # Feature 99 never occurs and keeps its mode.
    assert dict(zip(model.features, model.coefficients, strict=True))[99] == 0.25
    assert 99 in model.restricted_to
    prior = family(mode={2: 1.0}, relative={2: 0.5, 6: 4.0 / (2 if family is Laplace else 1)}, sign={6: 1})
    coef = dense(model)
    assert coef[6] >= 0
    constant = (0.5, 2 * variance)
    value = objective(coef, model.intercept, prior, variance, constant)
    for place in range(13):
        for step in (-1e-3, 1e-3):
            moved = np.append(coef, model.intercept)
            moved[place] += step
            assert objective(moved[:-1], moved[-1], prior, variance, constant) > value - 1e-6


def test_individual_priors_beside_a_common_side(folder, run):
    good(run, "bbrtrain -p 1 -V 1 --pos -I p.txt -e 1e-8 a.train a.model")
    model = bbr.read_binary_model("a.model")
    assert (np.delete(dense(model), [2]) >= 0).all()
    (folder / "p.txt").write_text("3 0 1\n")
    good(run, "bbrtrain -p 1 -V 1 --neg -I p.txt -e 1e-8 a.train a.model")
    model = bbr.read_binary_model("a.model")
    assert (np.delete(dense(model), [2]) <= 0).all()
    assert model.intercept <= 0


@pytest.mark.parametrize("errbar", ["", "--errbar"])
def test_the_best_of_a_list(errbar, folder, run):
    out = good(run, f"bbrtrain -p 1 -V 0.01,0.1,1,10 -C 5 {errbar} a.train a.model")
    search = fitted("laplace", "cv", grid=[0.01, 0.1, 1, 10], folds=5, runs=5, one_standard_error=bool(errbar))
    assert f"Final prior variance value {search.variance_[0]:g}" in out.splitlines()


def test_selection_keeps_features_with_a_prior(folder, run):
    (folder / "p.txt").write_text("12 0.5 1\n0 0 1\n")
    out = good(run, "bbrtrain -V 1 -f 3 -u 2 -I p.txt a.train a.model")
    model = bbr.read_binary_model("a.model")
    assert len(model.restricted_to) in (3, 4)
    assert 12 in model.restricted_to
    assert "Feature selection, 3 of 12" in out


def test_a_fixed_threshold_switches_tuning_off(folder, run):
    good(run, "bbrtrain -V 1 -t 3 --probthres 0.8 -r a.results a.train a.model")
    with pytest.warns(bbr.ThresholdUnitWarning):
        bbr.read_binary_model(
            io.BytesIO((folder / "a.model").read_bytes().replace(b"threshold 1.38", b"threshold 0.38"))
        )
    model = bbr.read_binary_model("a.model")
    assert model.threshold == pytest.approx(np.log(4))
    assert model.threshold_rule == 0
    results = bbr.read_binary_results("a.results")
    assert all((result.prediction == 1) == (result.probability >= 0.8) for result in results)
    out = good(run, "bbrclassify -r b.results a.train a.model")
    assert "Threshold 1.38629 read as log odds, accepting from probability 0.8" in out
    # From twelve digits of the coefficients.
    for first, second in zip(results, bbr.read_binary_results("b.results"), strict=True):
        assert first.probability == pytest.approx(second.probability, abs=1e-10)
        assert first.prediction == second.prediction
    good(run, "bbrclassify --probthres 0.1 -r b.results a.train a.model")
    assert all(
        (result.prediction == 1) == (result.probability >= 0.1) for result in bbr.read_binary_results("b.results")
    )


def test_a_threshold_that_could_be_either_is_spoken_of(folder, run):
    good(run, "bbrtrain -V 1 --probthres 0.6 a.train a.model")
    status, out, err = run("bbrclassify a.train a.model")
    assert status == 0
    assert err.startswith("bbrclassify: warning: a.model: the threshold 0.405465 could be log odds or a probability")
    assert err.count("\n") == 1
    out = good(run, "bbrclassify --threshunit probability a.train a.model")
    assert "read as a probability, accepting from probability 0.405465" in out


@pytest.mark.parametrize("rule", range(1, 6))
def test_a_threshold_at_the_end_of_all_scores(rule, folder, run):
    # One class beyond doubt: the best threshold may accept all or nothing, and a file holds no infinity.
    bbr.write_data("b.train", sp.csr_matrix([[1.0], [2.0], [0.5]]), [1, 1, -1])
    good(run, f"bbrtrain -V 100 -t {rule} b.train b.model")
    assert np.isfinite(bbr.read_binary_model("b.model", threshold_unit="log_odds").threshold)


def test_row_ids(folder, run):
    bbr.write_data("r.train", X, Y.tolist(), row_ids=[f"doc{i}" for i in range(80)])
    good(run, "bbrtrain -V 1 -R -r a.results r.train a.model")
    assert [result.row_id for result in bbr.read_binary_results("a.results")] == [f"doc{i}" for i in range(80)]
    good(run, "bbrclassify -r b.results r.train a.model")
    assert bbr.read_binary_results("b.results")[0].row_id is None
    status, _, err = run("bbrclassify -R -r b.results a.train a.model")
    assert (status, err) == (2, "bbrclassify: a.train: -R needs a line '# UID: name' before every document\n")


@pytest.mark.parametrize("name", ["-", "="])
def test_standard_input(name, folder, run, monkeypatch):
    class Input:
        buffer = io.BytesIO((folder / "a.train").read_bytes())

    good(run, "bbrtrain -V 1 a.train a.model")
    monkeypatch.setattr(sys, "stdin", Input())
    good(run, f"bbrtrain -V 1 {name} b.model")
    assert (folder / "a.model").read_text() == (folder / "b.model").read_text()


def test_a_name_for_the_model(folder, run):
    assert run("bbrtrain -V 1 --modelname wheat a.train a.model")[0] == 0
    assert bbr.read_binary_model("a.model").name == "wheat"
    good(run, "bxrtrain -V 1 c.train a.model")
    assert bbr.read_polytomous_model("a.model").name == "c.train.model"


def test_words_as_classes_and_features(folder, run):
    good(run, "bxrtrain --symbolic -p 1 -V 1 --testfile w.train w.train a.model")
    [model] = bbr.read_models("a.model")
    assert model.symbolic
    assert set(model.class_names) == {"corn", "gold", "wheat"}
    good(run, "bxrtrain -p 1 -V 1 c.train b.model")
    [numbered] = bbr.read_models("b.model")
    for named in model.classes:
        code = str(("corn", "gold", "wheat").index(named.class_name))
        [same] = [found for found in numbered.classes if found.class_name == code]
        assert {f"word{feature - 1}" for feature in same.features} == set(named.features)
    bbr.write_data(
        "t.test", X[:2], ["corn", "gold"], names=[f"word{j}" for j in range(12)], row_ids=["d1", "d2"], id_word="ID"
    )
    (folder / "labels").write_text("D1 @allothermodels corn\n")
    good(run, "bxrclassify -c all -s all -j -p -L labels -o gold -r r t.test a.model")
    results = bbr.read_score_results("r")
    assert [result.document for result in results] == ["d1", "d1", "d2", "d2"]
    assert [result.true_class for result in results] == ["CORN", "CORN", "@unknown", "@unknown"]
    assert "GOLD" not in {result.class_name for result in results}
    for result in results:
        chance, log_chance, odds, log_odds, _ = result.scores
        assert np.log(chance) == pytest.approx(log_chance, abs=1e-6)
        assert odds == pytest.approx(chance / (1 - chance), rel=1e-6)
        assert np.log(odds) == pytest.approx(log_odds, abs=1e-6)


@pytest.mark.parametrize(
    ("criterion", "test"),
    [
        ("all", lambda scores: [True] * 3),
        ("prob", lambda scores: scores["prob"] >= 1 / 3),
        ("logprob", lambda scores: scores["prob"] >= 1 / 3),
        ("odds", lambda scores: scores["prob"] >= 1 / 3),
        ("logodds", lambda scores: scores["prob"] >= 1 / 3),
        ("linear", lambda scores: scores["linear"] >= 0),
        ("linear -t 1.5", lambda scores: scores["linear"] >= 1.5),
        ("prob -t 0.9", lambda scores: scores["prob"] >= 0.9),
        ("maxlinear", lambda scores: scores["linear"] == scores["linear"].max()),
        ("maxlinearall", lambda scores: scores["linear"] == scores["linear"].max()),
        ("maxproball", lambda scores: scores["linear"] == scores["linear"].max()),
        ("predicted", lambda scores: scores["linear"] == scores["linear"].max()),
    ],
)
def test_which_classes_are_listed(criterion, test, folder, run):
    good(run, "bxrtrain -p 2 -V 1 c.train a.model")
    [model] = bbr.read_models("a.model")
    good(run, f"bxrclassify -c {criterion} -r r c.train a.model")
    listed = bbr.read_score_results("r")
    estimator = bbr.to_estimator(model, 12)
    chances = estimator.predict_proba(X)
    linear = X @ estimator.coef_.T + estimator.intercept_
    expected = [test({"prob": chances[row], "linear": linear[row]}) for row in range(80)]
    names = [str(label) for label in estimator.classes_]
    wanted = sorted((row, name) for row in range(80) for name, yes in zip(names, expected[row], strict=True) if yes)
    assert sorted(result.class_name for result in listed) == sorted(name for _, name in wanted)
    assert len(listed) == len(wanted)


def test_mixed_models_of_a_folder(folder, run):
    (folder / "models").mkdir()
    good(run, "bbrtrain -V 1 -t 1 --modelname yesno a.train models/1")
    good(run, "bxrtrain -V 1 --modelname three --outputformat 3 c.train models/2")
    good(run, "bmrtrain -V 1 --modelname again c.train models/3")
    status, _, err = run("bxrclassify -r r a.train models")
    assert status == 0
    results = bbr.read_score_results("r")
    assert [result.model for result in results[:3]] == ["YESNO", "THREE", "AGAIN"]
    assert [result.class_name for result in results[1::3]] == [result.class_name for result in results[2::3]]
    good(run, "bbrclassify -r b a.train models/1") if not err else run("bbrclassify -r b a.train models/1")
    assert [result.class_name for result in results[::3]] == [str(b.prediction) for b in bbr.read_binary_results("b")]


def test_yes_or_no_by_bxr_is_the_binary_model(folder, run):
    good(run, "bxrtrain -b 1 -p 1 -V 1 -e 1e-9 --outputformat 1 --probthres 0.25 a.train a.model")
    text = (folder / "a.model").read_text()
    assert "\nbeta 1 " in text
    assert "threshold 2.500000000000e-01" in text
    model = bbr.read_binary_model("a.model", threshold_unit="probability")
    expected = fitted("laplace", 1.0)
    np.testing.assert_allclose(dense(model), expected.coef_[0], atol=1e-5)
    status, out, err = run("bbrclassify a.train a.model")
    assert "read as a probability, accepting from probability 0.25" in out
    assert (status, "as BXRtrain writes it" in err) == (0, True)


def test_a_start_does_not_change_the_end(folder, run):
    good(run, "bxrtrain -p 1 -V 1 -e 1e-9 c.train a.model")
    good(run, "bxrtrain -p 1 -V 0.01 -e 1e-9 --outputformat 3 c.train s.model")
    good(run, "bxrtrain -p 1 -V 1 -e 1e-9 --init s.model c.train b.model")
    [first], [second] = bbr.read_models("a.model"), bbr.read_models("b.model")
    for one, other in zip(first.classes, second.classes, strict=True):
        assert one.features == other.features
        np.testing.assert_allclose(one.coefficients, other.coefficients, atol=1e-5)


def test_class_priors_with_a_scaled_constant(folder, run):
    (folder / "p.txt").write_text("class 1 0 0.5 0\nclass 2 0 1.5 0\n4 0 0\n")
    good(run, "bmrtrain -V 1 -I p.txt -e 1e-8 c.train a.model")
    [model] = bbr.read_models("a.model")
    assert [found.intercept for found in model.classes][1:] == [0.5, 1.5]
    assert all(4 not in found.features for found in model.classes)
    (folder / "p.txt").write_text("class 1 0 0.5 1e-9\n")
    good(run, "bmrtrain -V 1 -I p.txt -e 1e-8 c.train a.model")
    assert bbr.read_models("a.model")[0].classes[1].intercept == pytest.approx(0.5, abs=1e-5)


def test_absolute_variances(folder, run):
    (folder / "p.txt").write_text("4 0 0.5 ABS\n")
    (folder / "q.txt").write_text("4 0 0.25\n")
    good(run, "bxrtrain -V 2 -I p.txt -e 1e-8 c.train a.model")
    good(run, "bxrtrain -V 2 -I q.txt -e 1e-8 c.train b.model")
    assert (folder / "a.model").read_text() == (folder / "b.model").read_text()


def test_classes_not_seen_in_training_are_counted_apart(folder, run):
    good(run, "bmrtrain -V 1 -s -r r c.train a.model")
    bbr.write_data("t.test", X, [*CLASSES[:-2].tolist(), 7, 7])
    out = good(run, "bmrclassify --rscore -r s t.test a.model")
    assert "Cases of classes not seen in training: 2" in out.splitlines()
    assert f"out of {len(Y) - 2}," in out
    scores = np.array([result.probabilities for result in bbr.read_dense_results("s")])
    chances = np.array([result.probabilities for result in bbr.read_dense_results("r")])
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), chances, atol=1e-9)


ERRORS = [
    ("bbrtrain", "the following arguments are required: datafile, modelfile"),
    ("bbrtrain -p 3 a.train a.model", "argument -p/--prior: '3' is not a whole number from 1 to 2"),
    ("bbrtrain -V x a.train a.model", "argument -V/--variance: 'x' is not a number"),
    ("bbrtrain -V 1,0 a.train a.model", "argument -V/--variance: '0' is not a finite number greater than 0"),
    ("bbrtrain -V inf a.train a.model", "'inf' is not a finite number"),
    ("bbrtrain -C 5,6 a.train a.model", "argument -C/--cv: '5,6' is not folds[,runs]"),
    ("bbrtrain -C 1 a.train a.model", "argument -C/--cv: '1' is not folds[,runs]"),
    ("bbrtrain -V 1 --autosearch a.train a.model", "-V and --autosearch exclude each other"),
    ("bbrtrain -V 1 -H 1 a.train a.model", "-V and -S or -H exclude each other"),
    ("bbrtrain -S 1,2 -H 1 a.train a.model", "-S and -H exclude each other"),
    ("bbrtrain --pos --neg a.train a.model", "--pos and --neg exclude each other"),
    ("bbrtrain --probthres 1 a.train a.model", "argument --probthres: '1' is not a probability between 0 and 1"),
    ("bbrtrain -g 2 a.train a.model", "-g is not supported: the model of group indicators is not documented"),
    ("bbrtrain --gvar 2 a.train a.model", "--gvar is not supported"),
    ("bbrtrain --nonsense a.train a.model", "unrecognized arguments: --nonsense"),
    ("bbrtrain none a.model", "none: No such file or directory"),
    ("bbrtrain bad a.model", "bad, line 2: found '2:1', expected indices that ascend"),
    ("bbrtrain -I bad a.train a.model", "bad, line 1: found '3:1', expected a finite number as mode"),
    ("bbrtrain -I two a.train a.model", "two, line 1: found 2 topics, expected one"),
    (
        "bbrtrain -I class a.train a.model",
        "class: a prior for class '2'; expected no classes, since there is one model",
    ),
    ("bmrtrain -I class a.train a.model", "class: a prior for class '2'; expected classes among -1, 1"),
    ("bbrtrain one a.model", "needs samples of at least two classes"),
    ("bbrclassify a.train bad", "bad, line 1: found '1 3:1', expected the title"),
    ("bbrclassify a.train none", "none: No such file or directory"),
    ("bmrtrain -y a.train a.model", "-y is not supported: it was already obsolete"),
    ("bmrtrain -o 2 a.train a.model", "argument -o: '2' is not 1: the quasi-Newton optimisers"),
    ("bmrtrain -R 9 c.train a.model", "no document has the reference class '9'; found 0, 1, 2"),
    ("bmrtrain half a.model", "half: the label '0.5' is not a whole number"),
    ("bmrtrain -V 1,2 -I abs c.train a.model", "the prior of '4' is absolute; expected a common variance"),
    ("bxrtrain --legacywm a.train a.model", "--legacywm is not supported"),
    ("bxrtrain -s a.train a.model", "-s is not supported: BXRtrain has no such option; bbrtrain has"),
    ("bxrtrain -t 1 a.train a.model", "-t is not supported"),
    ("bxrtrain --outputformat 1 a.train a.model", "--outputformat 1 needs -R -1 (or -b 1)"),
    ("bxrtrain --outputformat 1 -R -1 m.train a.model", "m.train: 3 classes; --outputformat 1 needs two"),
    ("bxrtrain --probthres 0.5 a.train a.model", "--probthres needs --outputformat 1"),
    ("bxrtrain --init bad a.train a.model", "bad, line 1: found"),
    ("bxrclassify a.train a.model", "the following arguments are required: -r/--resultfile"),
    ("bxrclassify -c all -t 1 -r r a.train a.model", "-t needs -c prob|logprob|odds|logodds|linear"),
    ("bxrclassify --trace x -r r a.train a.model", "--trace is not supported"),
    ("bxrclassify -r r a.train empty", "empty, line 1: found an empty folder, expected model files"),
]


@pytest.mark.parametrize(("line", "sentence"), ERRORS)
def test_an_error_is_one_sentence_and_leaves_nothing(line, sentence, folder, run):
    (folder / "bad").write_text("1 3:1\n-1 3:1 2:1\n")
    (folder / "two").write_text("topic a\nendoftopic\ntopic b\nendoftopic\n")
    (folder / "one").write_text("1 3:1\n1 2:1\n")
    (folder / "half").write_text("0.5 3:1\n1 2:1\n")
    (folder / "abs").write_text("4 0 1 ABS\n")
    (folder / "class").write_text("class 2 4 0 1\n")
    (folder / "empty").mkdir()
    bbr.write_data("m.train", X, (CLASSES - 1).tolist())
    before = sorted(folder.rglob("*"))
    status, out, err = run(line)
    assert (status, out) == (2, "")
    assert err.startswith(f"{line.split()[0]}: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


def test_a_result_file_that_can_not_be_written_leaves_no_model(folder, run):
    (folder / "file").write_text("")
    status, _, err = run("bbrtrain -V 1 -r file/a.results a.train a.model")
    assert status == 2
    assert err == "bbrtrain: file: File exists\n"
    assert not (folder / "a.model").exists()


def test_an_old_model_survives_an_error(folder, run):
    (folder / "a.model").write_text("old")
    assert run("bbrtrain -V 1 none a.model")[0] == 2
    assert (folder / "a.model").read_text() == "old"


def test_ids_may_be_hashes(folder, run):
    """Nothing is as long as the greatest id; 17 gigabytes would be."""
    lines = [f"{label} {7 + k}:1 {2**31 - 9 + k}:2" for k, label in enumerate([1, -1, 1, -1, 1, -1, 2])]
    (folder / "h.train").write_text("\n".join(lines))
    good(run, "bbrtrain -p 1 -V 10 -f 10 -c -r r h.train a.model")
    good(run, "bbrclassify h.train a.model")
    good(run, "bmrtrain -p 1 -V 10 -z h.train a.model")
    good(run, "bmrclassify h.train a.model")
    good(run, "bxrtrain -p 1 -V 10 h.train a.model")
    good(run, "bxrclassify -r r h.train a.model")
    assert bbr.read_models("a.model")[0].features[-1] > 2**31 - 10


def test_a_device_is_not_replaced(folder, run):
    good(run, "bbrtrain -V 1 -r /dev/null a.train /dev/null")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_reaching_the_limit_is_spoken_of(folder, run):
    status, _, err = run("bbrtrain -V 1 -e 1e-9 --iter 2 a.train a.model")
    assert status == 0
    assert err.startswith("bbrtrain: warning: 1 of 1 fits reached max_iter=2 rounds")
    assert err.count("\n") == 1


@pytest.mark.parametrize("program", ["bbrtrain", "bbrclassify", "bmrtrain", "bmrclassify", "bxrtrain", "bxrclassify"])
def test_help_imports_nothing_heavy(program):
    script = (
        f"import sys\nfrom bayesift.bbr.commands import {program} as main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"usage: {program} ")
    assert done.stdout.splitlines()[-1] == "[]"
