import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gramian.core.equations import fit_calibration, probabilities
from gramian.core.equations._calibration import smoothed_labels


def make_values(n_classes, *, n=60, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % n_classes)
    columns = slice(1, None) if n_classes == 2 else slice(None)
    F = 2.0 * np.eye(n_classes)[labels][:, columns] - 1.0
    return F + noise * rng.standard_normal(F.shape), labels


def cross_entropy(scale, F, labels, n_classes, weight):
    """Of smoothed labels under softmax(a z), written out sample by sample."""
    counts = [weight[labels == k].sum() for k in range(n_classes)]
    total = 0.0
    for f, label, w in zip(F, labels, weight, strict=True):
        z = scale * (np.array([0.0, f[0]]) if n_classes == 2 else f)
        log_p = z - z.max() - np.log(np.sum(np.exp(z - z.max())))
        q = np.full(n_classes, 1.0 / (counts[label] + 2) / (n_classes - 1))
        q[label] = (counts[label] + 1) / (counts[label] + 2)
        total -= w * q @ log_p
    return total / weight.sum()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e4, 1e-6])
def test_the_fit_is_the_minimum(n_classes, weighted, scale):
    F, labels = make_values(n_classes)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(labels)) if weighted else None
    found = fit_calibration(scale * F, labels, n_classes, weight)
    w = np.ones(len(labels)) if weight is None else weight
    best = minimize_scalar(cross_entropy, (0.0, 1.0), args=(F, labels, n_classes, w), tol=1e-10)
    np.testing.assert_allclose(found * scale, best.x, rtol=1e-6)  # the loss is flat: √1e-12
    assert cross_entropy(found * scale, F, labels, n_classes, w) <= best.fun + 1e-13


def test_rounding_errors_are_not_amplified():
    F, labels = make_values(2, noise=0.0)
    found = fit_calibration(1e-16 * F, labels, 2)
    assert found == 0.0
    np.testing.assert_allclose(probabilities(F, found), 0.5)


def test_two_classes_are_a_sigmoid():
    F, labels = make_values(2)
    found = fit_calibration(F, labels, 2)
    p = probabilities(F, found)
    np.testing.assert_allclose(p[:, 1], 1.0 / (1.0 + np.exp(-found * F[:, 0])))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_smoothed_labels_are_platts():
    labels = np.array([0, 0, 0, 1])
    np.testing.assert_allclose(smoothed_labels(labels, 2)[:, 1], [1 / 5, 1 / 5, 1 / 5, 2 / 3])
    np.testing.assert_allclose(smoothed_labels(labels, 3).sum(axis=1), 1.0)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_separable_values_keep_a_finite_fit(n_classes, scale):
    F, labels = make_values(n_classes, noise=0.0)
    found = fit_calibration(scale * F, labels, n_classes)
    p = probabilities(scale * F, found)
    assert np.isfinite(p).all()
    assert np.all(p[np.arange(len(labels)), labels] > 0.8)
    assert p.max() < 1.0


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 0, 0, 1], [0, 1, 2], [0, 0, 1, 1, 1, 1, 2]])
def test_singletons(labels):
    labels = np.array(labels)
    n_classes = labels.max() + 1
    F = np.random.default_rng(0).standard_normal((len(labels), 1 if n_classes == 2 else n_classes))
    found = fit_calibration(F, labels, n_classes)
    assert found >= 0
    p = probabilities(F, found)
    assert np.isfinite(p).all()
    assert p.min() > 0


@pytest.mark.parametrize("factor", [-1.0, 0.0])
def test_values_that_mislead_or_say_nothing_make_all_classes_equally_probable(factor):
    labels = np.array([0] * 30 + [1] * 10)
    F = factor * np.where(labels == 1, 1.0, -1.0)[:, None]
    np.testing.assert_allclose(probabilities(F, fit_calibration(F, labels, 2)), 0.5)


def test_an_outlier_far_away_does_not_break_newton():
    F, labels = make_values(2)
    F[0] *= -1e6
    found = fit_calibration(F, labels, 2)
    assert np.isfinite(found)
    assert found >= 0
