"""The story of two systems holds the numbers that the functions give one by one."""

from __future__ import annotations

import numpy as np
import pytest

from bayesift.evaluate import (
    Results,
    brier,
    compare,
    f_beta,
    log_loss,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
    t11su,
    wilcoxon_test,
)


def systems(probabilities: bool = True) -> tuple[Results, Results]:
    rng = np.random.default_rng(11)
    truth = rng.random((300, 8)) < np.geomspace(0.02, 0.4, 8)
    names = [f"topic {j}" for j in range(8)]
    made = []
    for name, noise in (("sharp", 0.25), ("dull", 0.45)):
        p = np.clip(truth + rng.normal(0, noise, truth.shape), 0.01, 0.99)
        made.append(Results(truth, p >= 0.5, p if probabilities else None, name=name, categories=names))
    return made[0], made[1]


def test_the_numbers() -> None:
    a, b = systems()
    found = compare(a, b, n_resamples=100)
    assert found.names == ("sharp", "dull")
    for average in ("micro", "macro"):
        assert found.measures[f"{average} F1"] == tuple(f_beta(r.outcomes, average=average) for r in (a, b))
    assert found.measures["T11SU"] == pytest.approx([np.mean(t11su(r.outcomes)) for r in (a, b)])
    assert found.measures["Brier score"] == tuple(brier(r.truth, r.probabilities, average="micro") for r in (a, b))
    assert found.measures["log loss"][0] == log_loss(a.truth, a.probabilities, average="micro")
    assert found.tests["decisions (sign test)"] == pytest.approx(micro_sign_test(a.truth, a.decisions, b.decisions))
    f1 = [f_beta(r.truth, r.decisions) for r in (a, b)]
    assert found.tests["category F1 (sign test)"] == pytest.approx(macro_sign_test(*f1), nan_ok=True)
    assert found.tests["F1 ranks (Wilcoxon)"] == wilcoxon_test(*f1)
    drawn = paired_bootstrap(a.truth, a.decisions, b.decisions, average="macro", n_resamples=100, random_state=0)
    assert found.intervals["macro F1 (bootstrap)"] == drawn


def test_the_print() -> None:
    text = str(compare(*systems(), n_resamples=100))
    assert text.startswith("A: sharp\nB: dull\non 300 documents, 8 categories\n")
    for part in ("macro F1", "Brier score", "calibration error", "A ≫ B", "topic "):
        assert part in text
    assert "Brier" not in str(compare(*systems(probabilities=False), n_resamples=0))
    assert "bootstrap" not in str(compare(*systems(), n_resamples=0))
    assert repr(compare(*systems(), n_resamples=0)) == "Comparison('sharp', 'dull')"


def test_turned_round() -> None:
    a, b = systems()
    there, back = (compare(*pair, n_resamples=50) for pair in ((a, b), (b, a)))
    for name, test in there.tests.items():
        assert back.tests[name].p_value == pytest.approx(test.p_reversed)
    assert {name: pair[::-1] for name, pair in back.measures.items()} == there.measures


def test_one_category_and_a_system_beside_itself() -> None:
    truth = [1, 0, 0, 1, 1, 0]
    one = Results(truth, [1, 0, 0, 1, 0, 1], [0.9, 0.1, 0.0, 0.8, 0.0, 1.0])
    found = compare(one, one, n_resamples=20)
    assert list(found.tests) == ["decisions (sign test)"]
    assert list(found.intervals) == ["F1 (bootstrap)"]
    assert found.measures["log loss"] == (np.inf, np.inf)
    assert "category" not in str(found)
    assert "+nan" not in str(found)
    same = Results(np.ones((3, 2)), np.ones((3, 2)))
    assert "F1 is the same in all" in str(compare(same, same, n_resamples=5))


def test_categories_with_nothing_to_find() -> None:
    truth = np.array([[1, 0], [0, 0], [1, 0]])
    a, b = Results(truth, truth), Results(truth, [[1, 0], [1, 0], [0, 0]])
    assert compare(a, b, n_resamples=5).measures["macro F1"] == pytest.approx((1, 0.75))
    left_out = compare(a, b, empty=np.nan, n_resamples=5)
    assert left_out.measures["macro F1"] == pytest.approx((1, 0.5))
    assert left_out.tests["category F1 (sign test)"][:2] == (1, 0)
    assert "F1 differs most" in str(left_out)


def test_bad_input_is_named() -> None:
    a, _ = systems()
    with pytest.raises(TypeError, match="results_b is 3; expected Results"):
        compare(a, 3)
    with pytest.raises(ValueError, match="different true labels"):
        compare(a, Results(~a.truth, a.decisions))
    with pytest.raises(ValueError, match="different true labels"):
        compare(a, Results(a.truth[:5], a.decisions[:5]))
    with pytest.raises(ValueError, match="categories has 1 names; expected 2"):
        Results([[1, 0]], [[1, 0]], categories=["one"])
    with pytest.raises(ValueError, match=r"probabilities has shape \(1,\)"):
        Results([1, 0], [1, 0], [0.5])
    with pytest.raises(ValueError, match="decisions has shape"):
        Results([1, 0], [1])
