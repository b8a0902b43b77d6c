from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from bayesift.review.agreement import agreements, kappa
from bayesift.review.ledger import Ledger
from bayesift.review.storage import Event


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_kappa_is_that_of_scikit_learn(answers):
    first, second = zip(*answers, strict=True)
    if len({*first, *second}) == 1:
        assert kappa(answers) is None
    else:
        assert kappa(answers) == pytest.approx(cohen_kappa_score(first, second))


def test_only_documents_that_both_decided_count():
    said = [
        (1, 0, "relevant"), (2, 0, "relevant"), (1, 1, "relevant"), (2, 1, "irrelevant"), (1, 2, "unsure"),
        (2, 2, "relevant"), (1, 3, "relevant"), (2, 4, "irrelevant"), (1, 4, "irrelevant"),
    ]  # fmt: skip
    events = [Event(document, who, "label", what, id=number) for number, (who, document, what) in enumerate(said, 1)]
    (found,) = agreements(Ledger([*events, Event(1, 2, "resolve", "relevant", id=99)]), [1, 2, 3])
    assert found[:3] == (1, 2, 3)
    assert found.share == pytest.approx(2 / 3)
    assert found.kappa == pytest.approx(cohen_kappa_score([1, 1, 0], [1, 0, 0]))
