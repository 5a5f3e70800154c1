"""The thin spectrum against the inverse of the whole matrix."""

import numpy as np
import pytest

from gramian.core.gram._thin import thin_spectrum
from tests.tolerance import tolerance


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(30, 4), (5, 5), (1, 1), (20, 1)])
def test_moments_equal_those_of_the_inverse(n, d, weighted):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, d)), rng.standard_normal((n, 2))
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    ridges = np.array([0.1, 1.0, 10.0])
    moments = thin_spectrum(X, weight).moments(Y, ridges)
    for k, ridge in enumerate(ridges):
        A = X @ X.T + ridge * np.diag(1.0 / (np.ones(n) if weight is None else weight))
        P = np.linalg.inv(A)
        atol = tolerance(n, cond=np.linalg.cond(A), power=1) * np.abs(P).max()
        np.testing.assert_allclose(moments.R[k], P @ Y, rtol=0, atol=n * atol)
        np.testing.assert_allclose(moments.s[k], P.sum(axis=1), rtol=0, atol=n * atol)
        np.testing.assert_allclose(moments.p[k], P.diagonal(), rtol=0, atol=atol)
