"""Losses along edits, against models fitted to what is left or has been learned."""

import numpy as np
import pytest
from sklearn.base import clone

from gramian import LeastSquaresSVC, LeastSquaresSVR, TableModel
from gramian.data import forgetting_curve, labelling_curve, suggest
from tests.estimators.conftest import make_samples


def test_forgetting_in_order():
    X, y = make_samples(LeastSquaresSVC(), 60)
    model = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X[:30], y[:30])
    order = np.random.default_rng(0).permutation(30)[:12]
    curve = forgetting_curve(model, order, X[30:], y[30:], steps=3)
    assert curve.counts.tolist() == [0, 4, 8, 12]
    assert (curve.edited, curve.loss) == ("forgotten", "error")
    for count, loss in zip(curve.counts, curve.losses, strict=True):
        stay = np.setdiff1d(np.arange(30), order[:count])
        refit = clone(model).fit(X[stay], y[stay])
        assert loss == pytest.approx(1.0 - refit.score(X[30:], y[30:]))
    assert len(model.ids_) == 30


@pytest.mark.parametrize("ids", [None, [f"s{i}" for i in range(10)]])
@pytest.mark.parametrize("strategy", ["variance", "random"])
def test_labelling_by_a_strategy(strategy, ids):
    X, y = make_samples(LeastSquaresSVR(), 50)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X[:10], y[:10], ids=ids)
    pool, test = (X[10:30], y[10:30]), (X[30:], y[30:])
    curve = labelling_curve(model, *pool, *test, k=5, batch=3, strategy=strategy, random_state=0)
    assert curve.counts.tolist() == [0, 3, 5]
    assert (curve.edited, curve.loss) == ("labelled", "squared")
    assert curve.losses[0] == pytest.approx(np.mean((model.predict(test[0]) - test[1]) ** 2))
    if strategy == "variance":
        first = suggest(model, pool[0], 3, strategy=strategy).positions
        known = np.append(np.arange(10), 10 + first)
        refit = clone(model).fit(X[known], y[known])
        assert curve.losses[1] == pytest.approx(np.mean((refit.predict(test[0]) - test[1]) ** 2))


def test_of_a_table():
    x = np.linspace(-1, 1, 30)
    table = {"x": x.tolist(), "y": np.where(x > 0, "up", "down").tolist()}
    model = TableModel(LeastSquaresSVC(gamma=0.5, C=1.0), target="y").fit(table)
    curve = forgetting_curve(model, model.ids_[:3], table, loss="log")
    assert curve.counts.tolist() == [0, 1, 2, 3]
    assert curve.loss == "log"


def test_unknown_strategy():
    with pytest.raises(ValueError, match=r"strategy must be one of .*'random'\), got 'luck'"):
        labelling_curve(LeastSquaresSVC(), [], [], [], k=1, strategy="luck")
