"""gamma = "scale" and "auto"."""

import numpy as np
import pytest
from scipy import sparse

from gramian.core.kernels._defaults import default_gamma
from tests.tolerance import tolerance

LAYOUTS = [np.asarray, sparse.csr_matrix, sparse.csr_array]


def samples(m=20):
    rng = np.random.default_rng(0)
    X = 3.0 + rng.standard_normal((m, 4))
    X[rng.random(X.shape) < 0.3] = 0.0
    return X


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_as_in_scikit_learn(layout, dtype):
    X = samples().astype(dtype)
    got = default_gamma("scale", layout(X))
    assert type(got) is float
    expected = 1 / (4 * X.astype(float).var())
    np.testing.assert_allclose(got, expected, rtol=tolerance(80))
    assert default_gamma("auto", layout(X)) == 0.25


@pytest.mark.parametrize("layout", LAYOUTS)
def test_weights_count_as_repeats(layout):
    X, weight = samples(), np.arange(20) % 4
    got = default_gamma("scale", layout(X), weight)
    expected = default_gamma("scale", np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(got, expected, rtol=tolerance(80))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
def test_follows_the_scale_of_the_samples(layout, scale):
    X = samples()
    got = default_gamma("scale", layout(scale * X)) * scale * scale
    np.testing.assert_allclose(got, default_gamma("scale", X), rtol=tolerance(80))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_is_one_where_the_variance_is_no_positive_number(layout, scale):
    assert default_gamma("scale", layout(scale * samples())) == 1.0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3, -1e300])
def test_equal_entries_have_no_variance(layout, value):
    X = np.full((7, 3), value)
    assert default_gamma("scale", layout(X)) == 1.0
    assert default_gamma("scale", layout(X), np.full(7, 1 / 3)) == 1.0


def test_unknown_name():
    with pytest.raises(ValueError, match='gamma must be "scale", "auto" or a number > 0, got'):
        default_gamma("median", samples())
