"""Files that version 0.1.0 wrote: they load, answer as they did, learn and forget."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier

import gramian

FOLDER = Path(__file__).parent / "models_0_1_0"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
QUERIES = dict(np.load(FOLDER / "queries.npz", allow_pickle=False))
TABLE = {"weight": [-0.5, 0.5], "sound": ["meow", "woof"]}
CLOSE = {"rtol": 1e-9, "atol": 1e-9}  # the same numbers, in another order of summation
CLOSE_FLOAT32 = {"rtol": 1e-4, "atol": 1e-5}


def close(name):
    return CLOSE_FLOAT32 if "float32" in name else CLOSE


@pytest.fixture(params=[name for name in EXPECTED if name != "TableModel"])
def name(request):
    return request.param


def queries(name):
    return QUERIES["Kq" if "precomputed" in name else "Xq"]


def test_answers_are_as_they_were(name):
    model, expected = gramian.load(FOLDER / f"{name}.gram"), EXPECTED[name]
    assert model.ids_.tolist() == expected["ids"]
    predicted = model.predict(queries(name))
    if not is_classifier(model):
        np.testing.assert_allclose(predicted, expected["predict"], **close(name))
        np.testing.assert_allclose(model.loo_predict(), expected["loo"], **close(name))
        return
    assert predicted.tolist() == expected["predict"]
    values = model.decision_function(queries(name))
    np.testing.assert_allclose(values, expected["values"], **close(name))
    np.testing.assert_allclose(model.loo_decision_function(), expected["loo"], **close(name))


def test_learns_and_forgets(name):
    model = gramian.load(FOLDER / f"{name}.gram")
    before, n = model.predict(queries(name)), len(model.ids_)
    new = "new" if model.ids_.dtype.kind == "U" else 10**6
    X, y = _another(model), model.y_fit_[:1]
    model.partial_fit(X, y, ids=[new])
    assert model.ids_[-1] == new
    model.forget(new)
    assert len(model.ids_) == n
    after = model.predict(queries(name))
    if is_classifier(model):
        assert after.tolist() == before.tolist()
    else:
        np.testing.assert_allclose(after, before, **CLOSE)


def _another(model):
    """One more sample, between two others; of a kernel matrix, its row."""
    X = model.X_fit_
    if model.kernel == "precomputed":
        return np.append((X[0] + X[1]) / 2, (X[0, 0] + X[1, 1]) / 2 + X[0, 1])[None] / 2
    return 0.5 * (X[:1] + X[1:2])


def test_table():
    model = gramian.load(FOLDER / "TableModel.gram")
    assert model.ids_.tolist() == EXPECTED["TableModel"]["ids"]
    predicted = model.predict(TABLE).tolist()
    assert set(predicted) <= set(model.classes_.tolist())
    model.partial_fit({**TABLE, "animal": ["mid", "low"]})
    assert model.ids_[-2:].tolist() == [25, 26]
    model.forget([25, 26])
    assert model.predict(TABLE).tolist() == predicted
    model.partial_fit({**TABLE, "animal": ["mid", "low"]})
    assert model.ids_[-2:].tolist() == [27, 28]
    assert sorted(model.table_) == ["sound", "weight"]
