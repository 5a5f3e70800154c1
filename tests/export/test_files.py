"""Files that only predict, and what skops has to trust."""

import json
import os
import stat

import numpy as np
import pytest
from sklearn.datasets import load_iris

from gramian import (
    KernelDiscriminant,
    LagrangianSVC,
    LeastSquaresSVC,
    StackedKernelClassifier,
    TableModel,
)
from gramian.export import expansion_of, predict_only, trusted_types

X, Y = load_iris(return_X_y=True)


def test_arrays_predict_and_tell_no_more(tmp_path):
    model = LagrangianSVC(gamma=0.5, C=1.0).fit(X, Y)
    facts = predict_only(model, tmp_path / "m.npz")
    assert facts == {"centres": len(model.support_), "held": 150}
    assert facts["centres"] < 150
    with np.load(tmp_path / "m.npz", allow_pickle=False) as file:
        arrays = dict(file)
    assert sorted(arrays) == sorted(
        ["kernels", "gamma_0", "degree_0", "coef0_0", "centres_0", "coefficients_0", "intercept",
         "classes", "scale", "flat"]
    )  # fmt: skip
    distances = ((X[:, None] - arrays["centres_0"]) ** 2).sum(axis=2)
    F = np.exp(-arrays["gamma_0"] * distances) @ arrays["coefficients_0"] + arrays["intercept"]
    np.testing.assert_allclose(F, model.decision_function(X), atol=1e-9)
    assert arrays["classes"][F.argmax(axis=1)].tolist() == model.predict(X).tolist()


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_file_is_private(tmp_path):
    predict_only(KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, Y), tmp_path / "m.npz")
    assert stat.S_IMODE((tmp_path / "m.npz").stat().st_mode) == 0o600


def test_linear_models_hold_no_samples():
    model = LeastSquaresSVC("linear", C=1.0).fit(X, Y)
    (term,) = expansion_of(model).terms
    assert term.centres.shape == (0, 4)
    np.testing.assert_allclose(term.coefficients.T, model.coef_, atol=1e-12)


def test_table_brings_its_columns(tmp_path):
    table = {"a": X[:, 0], "b": np.where(X[:, 1] > 3, "wide", "narrow"), "y": Y}
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="y").fit(table)
    predict_only(model, tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as file:
        columns = json.loads(file["columns"].item())
    assert [(c["kind"], c["name"]) for c in columns] == [
        ("NumberColumn", "a"),
        ("CategoryColumn", "b"),
    ]


def days_model():
    """A stack on numbers, texts and dates, with ids."""
    day = np.datetime64("2024-01-01") + np.arange(150)
    table = {"a": X[:, 0], "b": np.where(X[:, 1] > 3, "wide", "narrow"), "day": day, "y": Y}
    stack = StackedKernelClassifier(["rbf", "laplacian"], gamma=0.5, C=1.0)
    return TableModel(stack, target="y").fit(table), table


@pytest.mark.slow
@pytest.mark.parametrize("table", [False, True])
def test_skops(tmp_path, table):
    skops = pytest.importorskip("skops.io")
    model, rows = days_model() if table else (KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, Y), X)
    skops.dump(model, tmp_path / "m.skops")
    assert set(skops.get_untrusted_types(file=tmp_path / "m.skops")) <= set(trusted_types())
    twin = skops.load(tmp_path / "m.skops", trusted=trusted_types())
    np.testing.assert_array_equal(twin.decision_function(rows), model.decision_function(rows))
    assert len(twin.forget([3]).ids_) == 149


@pytest.mark.filterwarnings("ignore")  # of MLflow itself
def test_mlflow(tmp_path):
    mlflow = pytest.importorskip("mlflow.sklearn")
    model, rows = days_model()
    options = {"skops_trusted_types": trusted_types(), "pip_requirements": []}
    mlflow.save_model(model, tmp_path / "m", **options)
    twin = mlflow.load_model(tmp_path / "m")
    np.testing.assert_array_equal(twin.predict_proba(rows), model.predict_proba(rows))
    assert len(twin.forget([3]).ids_) == 149
