"""Derivatives of leave-one-out criteria, against central differences of the path formulas."""

import numpy as np
import pytest

from gramian.core.equations import (
    CRITERIA,
    LS_SVM,
    ClassTargets,
    Responses,
    differentiate,
)
from gramian.core.gram._spectrum import decompose
from gramian.core.kernels import RBF
from tests.core.equations.conftest import all_equations
from tests.tolerance import tolerance

STEP = 1e-5
# Central differences of a function known to 1e-13 or so are right to 1e-13/STEP + STEP².
RTOL = 1e-6


def gram(X, gamma):
    return np.exp(-(((X[:, None] - X[None]) ** 2) * gamma).sum(axis=2))


def make_targets(kind, n, weighted):
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    if kind == "responses":
        return Responses(rng.standard_normal((n, 2)), weight)
    n_classes = 3 if kind == "fisher" else 2
    return ClassTargets(rng.permutation(np.arange(n) % n_classes), n_classes, kind, weight)


def value(equations, criterion, K, targets, ridge):
    spectrum = decompose(K.copy(), targets.weight)
    F = equations.loo_path(spectrum, targets.fitted, np.array([ridge]))
    return criterion.value(targets.decisions(F), targets)[0]


def central(function, x):
    """Derivative of a function of log x."""
    return (function(x * np.exp(STEP)) - function(x * np.exp(-STEP))) / (2 * STEP)


@all_equations
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("responses", "squared"),
        ("signs", "log"),
        ("signs", "hinge"),
        ("fisher", "log"),
        ("fisher", "squared"),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_equal_central_differences(equations, kind, name, weighted):
    n, d, ridge = 20, 3, 0.3
    X, gamma = np.random.default_rng(0).standard_normal((n, d)), np.array([0.2, 0.5, 0.1])
    targets, criterion = make_targets(kind, n, weighted), CRITERIA[name]
    K = gram(X, gamma)
    before = K.copy()

    found = differentiate(equations, criterion, K, targets, ridge)
    np.testing.assert_array_equal(K, before)
    scale = np.abs(found.gram).max()
    np.testing.assert_allclose(found.gram, found.gram.T, rtol=0, atol=tolerance(n) * scale)
    np.testing.assert_allclose(
        found.value, value(equations, criterion, K, targets, ridge), rtol=1e-9
    )

    by_ridge = central(lambda x: value(equations, criterion, K, targets, x), ridge)
    np.testing.assert_allclose(ridge * found.ridge, by_ridge, rtol=RTOL, atol=1e-9)

    def at_width(scale, feature=slice(None)):
        widths = gamma.copy()
        widths[feature] *= scale
        return value(equations, criterion, gram(X, widths), targets, ridge)

    np.testing.assert_allclose(
        RBF().gamma_gradient(K, found.gram, X)[0], central(at_width, 1.0), rtol=RTOL, atol=1e-9
    )
    by_feature = [central(lambda x, f=f: at_width(x, f), 1.0) for f in range(d)]
    np.testing.assert_allclose(
        RBF(gamma).gamma_gradient(K, found.gram, X + 1e3), by_feature, rtol=RTOL, atol=1e-9
    )


def test_an_indefinite_matrix_is_refused():
    targets = Responses(np.ones((2, 1)))
    with pytest.raises(np.linalg.LinAlgError, match=r"not positive definite .* Raise the ridge"):
        differentiate(LS_SVM, CRITERIA["squared"], np.diag([1.0, -2.0]), targets, 1.0)
