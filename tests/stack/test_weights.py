"""Weights of parts by their left-out values, against minimisers of their own."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from gramian.core.equations import ClassTargets
from gramian.stack._weights import class_weights, response_weights
from tests.core.equations.test_calibration import cross_entropy, make_values


def left_out(n_classes, noises, n=60):
    """Values of several parts with independent errors, and the labels that they share."""
    parts = []
    for seed, noise in enumerate(noises):
        F, labels = make_values(n_classes, n=n, noise=0.0)
        parts.append(F + noise * np.random.default_rng(seed).standard_normal(F.shape))
    return np.array(parts), labels


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights_are_the_minimum(n_classes, weighted):
    F, labels = left_out(n_classes, (1.5, 2.0, 30.0), n=30)
    F[0] *= 1e3  # the unit of a part does not matter
    weight = np.random.default_rng(1).uniform(0.5, 2, len(labels)) if weighted else None
    found = class_weights(F, ClassTargets(labels, n_classes, weight=weight))
    w = np.ones(len(labels)) if weight is None else weight
    unit = np.array([1e3, 1.0, 1.0])

    def loss(a):
        return cross_entropy(1.0, np.tensordot(np.abs(a) / unit, F, 1), labels, n_classes, w)

    best = minimize(loss, found * unit + 0.3, method="Nelder-Mead", options={"maxiter": 150})
    assert np.all(found >= 0)
    assert loss(found * unit) <= best.fun + 1e-9
    np.testing.assert_allclose(found * unit, np.abs(best.x), atol=0.02)  # the loss is flat there


def test_a_machine_that_errs_has_no_weight():
    F, labels = left_out(2, (1.0, 0.5))
    F[1] *= -1.0
    found = class_weights(F, ClassTargets(labels, 2))
    assert found[0] > 0
    assert found[1] == 0


def test_machines_that_all_err_weigh_the_same():
    F, labels = left_out(3, (0.5, 0.5))
    found = class_weights(-F, ClassTargets(labels, 3))
    assert np.all(found > 0)
    equal = class_weights(0 * F, ClassTargets(labels, 3))
    assert 0 < equal[0] == equal[1] < 1e-5  # all classes are equally probable
    plain = np.array([False, True])
    np.testing.assert_array_equal(class_weights(0 * F, ClassTargets(labels, 3), plain) > 0, plain)


def test_response_weights_are_the_minimum():
    rng = np.random.default_rng(0)
    Y = 5.0 + rng.standard_normal((40, 2)) * [1.0, 10.0]
    F = np.array([Y + noise * rng.standard_normal(Y.shape) * [1.0, 10.0] for noise in (0.5, 1, 9)])
    weight = rng.uniform(0.5, 2, 40)
    found, offset = response_weights(F, Y, weight)
    mean = np.average(Y, axis=0, weights=weight)
    scale = np.sqrt(weight)[:, None] / np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=weight))
    columns = np.column_stack([((part - mean) * scale).ravel() for part in F])
    expected = lsq_linear(columns, ((Y - mean) * scale).ravel(), bounds=(0, np.inf), tol=1e-14).x
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(offset, mean * (1 - expected.sum()), atol=1e-6)


def test_a_shift_of_the_targets_shifts_the_predictions():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((30, 1))
    F = np.array([Y + rng.standard_normal(Y.shape) for _ in range(2)])
    a, b = response_weights(F, Y, np.ones(30))
    moved, offset = response_weights(F + 100.0, Y + 100.0, np.ones(30))
    before, after = np.tensordot(a, F, 1) + b, np.tensordot(moved, F + 100.0, 1) + offset
    np.testing.assert_allclose(after, before + 100.0, rtol=1e-10)


def test_responses_that_are_all_the_same():
    Y = np.full((5, 1), 3.0)
    a, b = response_weights(np.array([Y, Y]), Y, np.ones(5))
    np.testing.assert_allclose(a.sum() * 3.0 + b, 3.0)
