"""The experiments run on a small part of the real collection and give tables of the promised form."""

import numpy as np
import pytest

from bayesift.experiments._reuters import OWN_DESCRIPTIONS, modapte
from bayesift.experiments.genkin2007 import draw_descriptions, f1_percent, modapte_f1, value_of_descriptions


@pytest.fixture(scope="module")
def small():
    """Three categories and every sixth document."""
    data = modapte()
    keep = [data.collection.categories.index(name) for name in ("crude", "interest", "wheat")]
    return data._replace(
        X_train=data.X_train[::6],
        Y_train=data.Y_train[::6][:, keep],
        X_test=data.X_test,
        Y_test=data.Y_test[:, keep],
    ), keep


@pytest.mark.collection("reuters21578", "smart")
def test_every_category_has_a_description():
    data = modapte()
    assert all(data.description(name) for name in data.collection.categories)
    assert not set(OWN_DESCRIPTIONS) & set(data.collection.descriptions)


@pytest.mark.collection("reuters21578", "smart")
def test_macro_f1_of_three_categories(small):
    rows = modapte_f1(small[0], ("laplace",))
    assert [(row.prior, row.threshold, row.published_macro) for row in rows] == [
        ("laplace", "half", 48.64),
        ("laplace", "min_error", 52.03),
    ]
    assert all(50 < row.macro <= 100 and 50 < row.micro <= 100 for row in rows)


@pytest.mark.collection("reuters21578", "smart")
def test_descriptions_help_when_examples_are_few(tmp_path):
    data = modapte()
    keep = [data.collection.categories.index(name) for name in ("coffee", "sugar", "ship", "trade")]
    hidden = np.setdiff1d(np.arange(90), keep)
    labels = data.Y_train.copy()
    labels[:, hidden] = 0
    [row] = value_of_descriptions(data._replace(Y_train=labels), sizes=(2,), repeats=1)
    assert row.n_categories == 4
    assert row.with_description > row.without + 10
    draw_descriptions([row], tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000


def test_f1_counts_one_where_there_is_nothing_to_find():
    truth = np.array([[1, 0], [0, 0], [1, 0]])
    macro, micro = f1_percent(truth, np.array([[1, 0], [1, 0], [0, 0]]))
    assert macro == pytest.approx(75.0)
    assert micro == pytest.approx(50.0)
