"""Queries against fixed bases: the features of the samples are kept, or computed for each block."""

import numpy as np
import pytest

from gramian import OrthogonalKernelClassifier
from gramian.orthogonal import _queries


@pytest.mark.parametrize("basis", ["shared", "one-vs-rest"])
def test_kept_features_change_nothing(monkeypatch, basis):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=10, basis=basis).fit(X, y)
    kept = model.p_values(X[:9] + 0.1)
    monkeypatch.setattr(_queries, "_KEPT_BYTES", 0)
    np.testing.assert_array_equal(model.p_values(X[:9] + 0.1), kept)
