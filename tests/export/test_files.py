"""Files that only predict, and what skops has to trust."""

import json
import os
import stat

import numpy as np
import pytest
from sklearn.datasets import load_iris

from gramian import KernelDiscriminant, LagrangianSVC, LeastSquaresSVC, TableModel
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
        ["kernel", "gamma", "degree", "coef0", "centres", "coefficients", "intercept", "classes",
         "scale", "flat"]
    )  # fmt: skip
    distances = ((X[:, None] - arrays["centres"]) ** 2).sum(axis=2)
    F = np.exp(-arrays["gamma"] * distances) @ arrays["coefficients"] + arrays["intercept"]
    np.testing.assert_allclose(F, model.decision_function(X), atol=1e-9)
    assert arrays["classes"][F.argmax(axis=1)].tolist() == model.predict(X).tolist()


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_file_is_private(tmp_path):
    predict_only(KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, Y), tmp_path / "m.npz")
    assert stat.S_IMODE((tmp_path / "m.npz").stat().st_mode) == 0o600


def test_linear_models_hold_no_samples():
    model = LeastSquaresSVC("linear", C=1.0).fit(X, Y)
    expansion = expansion_of(model)
    assert expansion.centres.shape == (0, 4)
    np.testing.assert_allclose(expansion.coefficients.T, model.coef_, atol=1e-12)


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


def test_skops(tmp_path):
    skops = pytest.importorskip("skops.io")
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, Y)
    skops.dump(model, tmp_path / "m.skops")
    assert set(skops.get_untrusted_types(file=tmp_path / "m.skops")) <= set(trusted_types())
    twin = skops.load(tmp_path / "m.skops", trusted=trusted_types())
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    assert len(twin.forget([3]).ids_) == 149
