"""The experiments run on parts of the real collections and give tables of the promised form."""

import numpy as np
import pytest
import scipy.sparse as sp

from reproduction.catalogue import PieceCache, Runner, every_experiment, run
from reproduction.murphy2012 import full_model
from reproduction.murphy2012.figures import burst_bands, drawings
from reproduction.murphy2012.models import MODELS, accuracy_on_test, compare, held_out_accuracy
from reproduction.murphy2012.tasks import Task, newsgroups_task, reuters_task


def made_up(seed=0, n=120):
    """Two classes that differ in the words they repeat."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    rates = np.where(y[:, None] == 1, [3.0, 0.2, 1.0, 0.5], [0.2, 3.0, 1.0, 0.5])
    X = sp.csr_matrix(random.poisson(rates))
    half = n // 2
    return Task(X[:half], y[:half], X[half:], y[half:])


def test_models_have_names_of_their_own():
    names = [model.name for model in MODELS]
    assert len(set(names)) == len(names)
    assert "multinomial, plugged in on ln(1 + count), flat prior" in names


def test_smoothing_is_chosen_by_the_held_out_accuracy(tmp_path, monkeypatch):
    monkeypatch.setattr("reproduction.murphy2012.models.task_named", lambda name: made_up())
    found = compare(Runner(PieceCache(tmp_path), quick=True, n_jobs=1), "newsgroups", "newsroom")
    assert list(found) == [model.name for model in MODELS]
    for model in MODELS[:3]:
        row = found[model.name]
        scores = [held_out_accuracy(made_up(), model.name, choice, 2) for choice in model.choices[2:6]]
        assert row.validation == max(scores)
        assert row.smoothing == model.choices[2:6][int(np.argmax(scores))]
        assert row.test == accuracy_on_test(made_up(), model.name, row.smoothing)


@pytest.mark.collection("20newsgroups")
def test_table_3_1_has_the_books_words_with_probabilities_near_the_books(tmp_path):
    result = run(every_experiment()["murphy2012/table3.1"], Runner(PieceCache(tmp_path)))
    table = result.tables[0]
    near = [cell.agrees for row in table.cells for cell in row[:2] if cell.agrees is not None]
    assert len(near) == 10
    assert all(near)
    assert [claim.holds for claim in result.claims] == [True, True]


@pytest.mark.slow
@pytest.mark.collection("20newsgroups")
def test_bursty_words_speak_for_the_compound_model():
    task = newsgroups_task()
    small = Task(task.X_train[::4], task.y_train[::4], task.X_test[::4], task.y_test[::4])
    flat, background = (
        {
            model.model: accuracy_on_test(small, model.name, model.choices[3])
            for model in MODELS
            if model.prior == prior and model.values == "counts"
        }
        for prior in ("flat", "background")
    )
    for found in (flat, background):
        assert 0.6 < found["multinomial, plugged in"] < found["DCM"] - 0.01
    bands = burst_bands(small.X_train)
    assert np.array_equal(np.sort(np.concatenate(list(bands.values()))), np.arange(small.X_train.shape[1]))


@pytest.mark.collection("reuters21578")
def test_reuters_has_documents_of_one_topic():
    task = reuters_task()
    assert len(np.unique(task.y_train)) in (8, 10)
    assert accuracy_on_test(task, "multinomial, plugged in, flat prior", 0.03) > 0.93


@pytest.mark.slow
@pytest.mark.collection("20newsgroups")
def test_the_figures_of_the_chapter():
    from matplotlib import pyplot

    made = drawings()
    assert list(made) == [*(f"3.{k}" for k in range(2, 9)), "bursts"]
    for _, draw in made.values():
        figure = draw()
        assert figure.axes
        pyplot.close(figure)


def test_errors_of_the_full_model_are_sums_over_all_sets():
    truth = full_model.world(0, 0.7)
    assert truth.probabilities.sum(axis=1) == pytest.approx([1, 1])
    X, y = truth.draw(2000, np.random.default_rng(0))
    assert y.mean() == 0.5
    assert set(map(tuple, X)) <= set(map(tuple, full_model.SETS))
    guess = np.zeros(len(full_model.SETS), dtype=int)
    assert truth.error(guess) == pytest.approx(0.5)
    best = np.argmax(truth.probabilities, axis=0)
    assert truth.least_error == truth.error(best) < 0.5
    right = sum(0.5 * truth.probabilities[best[k], k] for k in range(len(best)))
    assert truth.least_error == pytest.approx(1 - right)
    naive, full, least = full_model.errors(0.7, 300, 2)
    assert least < min(naive, full)


def test_claims_of_the_full_model_can_fail():
    [first, last] = full_model._claims(
        "features are independent", {10: {"naive": 0.4, "full": 0.3}, 99: {"naive": 0.2, "full": 0.1}}
    )
    assert (first.holds, last.holds) == (False, False)
    [first, last] = full_model._claims(
        "features depend on each other", {10: {"naive": 0.1, "full": 0.3}, 99: {"naive": 0.2, "full": 0.2}}
    )
    assert (first.holds, last.holds) == (True, False)
