"""The bet that arriving rows are unlike those held, against p-values and by simulation."""

import numpy as np
import pytest

from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from gramian.core.estimators import answer_p_values
from gramian.serve._data_drift import ALARM, DataDrift, arrival_p_values
from gramian.stream import mixture_martingale
from tests.serve.conftest import MODEL, tensor


class Same:
    """Random numbers that break every tie in the same way."""

    def uniform(self, size):
        return np.full(size, 0.5)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_p_values_are_those_of_a_stream(kind):
    """One row at a time, the rank of its left-out score is the conformal p-value of its target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(31, 2))
    if kind == "classes":
        y = (X[:, 0] + rng.normal(size=31) > 0).astype(int)
        before, after = (KernelDiscriminant(gamma=0.5, ridge=0.3) for _ in "ab")
    else:
        y = X[:, 0] + rng.normal(size=31)
        before, after = (LeastSquaresSVR(gamma=0.5, C=3.0) for _ in "ab")
    before.fit(X[:-1], y[:-1])
    after.fit(X, y)
    found = arrival_p_values(after, np.array([30]), Same())
    plain = float(answer_p_values(before, X[-1:], y[-1:])[0])  # ties count in full
    assert found[0] == pytest.approx(plain - 0.5 / 31)


def test_ranks_of_a_block_are_uniform_and_independent():
    """Rows that were learned together count one after the other."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
        model = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y)
        found.append(arrival_p_values(model, np.arange(20, 60), rng))
    p = np.array(found)
    quantiles = np.quantile(p, np.linspace(0.1, 0.9, 9))
    np.testing.assert_allclose(quantiles, np.linspace(0.1, 0.9, 9), atol=0.04)  # 2,400 numbers
    assert abs(np.corrcoef(p[:, 0], p[:, 1])[0, 1]) < 0.4  # of 60 pairs
    reached = [mixture_martingale(row).max() >= ALARM for row in p]
    assert np.mean(reached) <= 0.05


def rows(X, y):
    return {"inputs": [tensor(X)], "targets": y.tolist()}


def test_the_alarm_rings_when_labels_turn(serving):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    with serving(LeastSquaresSVC(gamma=0.5, C=1.0).fit(X[:80], y[:80])) as client:
        client.post(f"{MODEL}/learn", json=rows(X[80:140], y[80:140]))
        quiet = client.get(f"{MODEL}/data-drift").json()
        assert quiet["rows"] == 60
        assert not quiet["alarm"]
        assert quiet["log10_martingale"] < ALARM
        client.post(f"{MODEL}/learn", json=rows(X[140:170], 1 - y[140:170]))
        gone = list(range(168, 172))
        client.post(f"{MODEL}/learn", json=rows(X[170:], 1 - y[170:]))
        client.post(f"{MODEL}/forget", json={"ids": gone})  # before anyone looked
        found = client.get(f"{MODEL}/data-drift").json()
        assert found["rows"] == 60 + 60 - 4
        assert found["alarm"]
        assert found["highest"] >= found["alarm_at"] == ALARM
        assert found["false_alarm_probability"] == 0.01
        text = client.get("/metrics").text
        assert 'gramian_data_drift_alarm{model="m"} 1.0' in text
        assert 'gramian_data_drift_rows{model="m"} 116.0' in text


def test_rows_wait_until_a_model_that_holds_them_is_looked_at():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    drift = DataDrift()
    drift.arrive([10, 11])
    drift.update(LeastSquaresSVC(gamma=0.5, C=1.0).fit(X[:10], y[:10]))
    assert drift.as_dict()["rows"] == 0
    drift.leave([11])
    drift.update(LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y))
    assert drift.as_dict()["rows"] == 1
    assert drift.as_dict()["highest"] >= 0
