import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gramian.core.equations import CRITERIA, ClassTargets, Responses
from tests.tolerance import tolerance


def values_and_targets(n_classes, *, kind="signs", weighted=False, n=30):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(n) % n_classes)
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    targets = ClassTargets(labels, n_classes, kind, weight)
    F = targets.own + rng.standard_normal((4, *targets.own.shape))
    return F, targets, (np.ones(n) if weight is None else weight)


def scores(f):
    """One score per class for one sample."""
    return np.array([0.0, f[0]]) if len(f) == 1 else f


def log_loss_at(a, F, targets, weight):
    """Cross-entropy of smoothed labels at inverse temperature a, sample by sample."""
    counts = [weight[targets.labels == k].sum() for k in range(targets.n_classes)]
    total = 0.0
    for f, label, w in zip(F, targets.labels, weight, strict=True):
        z = a * scores(f)
        q = np.full(targets.n_classes, 1.0 / (counts[label] + 2) / (targets.n_classes - 1))
        q[label] = (counts[label] + 1) / (counts[label] + 2)
        total += w * (np.log(np.sum(np.exp(z - z.max()))) + z.max() - q @ z)
    return total / weight.sum()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["signs", "fisher"])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_follow_their_formulas(n_classes, kind, weighted):
    F, targets, w = values_and_targets(n_classes, kind=kind, weighted=weighted)
    share = w / w.sum()
    tol = tolerance(F.shape[1])
    for index, f in enumerate(F):
        wrong = [scores(row).argmax() != k for row, k in zip(f, targets.labels, strict=True)]
        squares = ((f - targets.own) ** 2).sum(axis=1)
        short = np.where(targets.own > 0, targets.own - f, f - targets.own).clip(0)
        expected = {"error": wrong, "squared": squares, "hinge": (short**2).sum(axis=1)}
        for name, losses in expected.items():
            value = CRITERIA[name].value(F, targets)
            assert value.shape == (4,)
            np.testing.assert_allclose(value[index], share @ np.asarray(losses, float), rtol=tol)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["signs", "fisher"])
@pytest.mark.parametrize("scale", [-1.0, -1e-9, 1e-16, 0.0])
def test_log_loss_of_values_that_say_nothing(n_classes, kind, scale):
    """Values that point away from the labels, and rounding errors that point to them."""
    targets = ClassTargets(np.arange(30) % n_classes, n_classes, kind)
    F = scale * targets.own
    equal = np.log(n_classes)
    np.testing.assert_allclose(CRITERIA["log"].value(F, targets), equal, rtol=tolerance(30))
    np.testing.assert_array_equal(CRITERIA["log"].gradient(F, targets), 0.0)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_is_at_the_best_temperature(n_classes, weighted):
    F, targets, w = values_and_targets(n_classes, weighted=weighted)
    found = CRITERIA["log"].value(F, targets)
    for value, f in zip(found, F, strict=True):
        best = minimize_scalar(log_loss_at, (0.0, 50.0), args=(f, targets, w))
        assert best.x > 0
        # Brent's method knows the minimum to the square root of the rounding error, squared.
        np.testing.assert_allclose(value, best.fun, rtol=1e-9)


def test_log_loss_does_not_see_the_scale():
    F, targets, _ = values_and_targets(3)
    scaled = CRITERIA["log"].value(1e-6 * F, targets)
    # The temperature is found to 1e-5, the loss to its square.
    np.testing.assert_allclose(scaled, CRITERIA["log"].value(F, targets), rtol=1e-9)


def test_log_loss_of_values_that_mislead_is_that_of_equal_probabilities():
    _, targets, _ = values_and_targets(2)
    np.testing.assert_allclose(CRITERIA["log"].value(-targets.own, targets), np.log(2.0), rtol=1e-4)
    zeros = np.zeros_like(targets.own)
    np.testing.assert_allclose(CRITERIA["log"].value(zeros, targets), np.log(2.0))


@pytest.mark.parametrize("separation", [1.0, 1e3])
def test_log_loss_of_separable_values_is_finite(separation):
    targets = ClassTargets(np.array([0, 0, 0, 1]), 2)
    assert 0 < CRITERIA["log"].value(separation * targets.own, targets) < np.log(2.0)


@pytest.mark.parametrize("name", ["squared", "hinge", "log"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradients_equal_central_differences(name, n_classes):
    F, targets, _ = values_and_targets(n_classes, weighted=True, n=12)
    F, criterion, step = F[0], CRITERIA[name], 1e-5
    numeric = np.empty_like(F)
    for index in np.ndindex(F.shape):
        move = np.zeros_like(F)
        move[index] = step
        rise = criterion.value(F + move, targets) - criterion.value(F - move, targets)
        numeric[index] = rise / (2 * step)
    # Central differences are right to step² + eps/step.
    np.testing.assert_allclose(criterion.gradient(F, targets), numeric, atol=1e-8)


def test_squared_error_of_responses():
    Y = np.arange(6.0).reshape(3, 2)
    value = CRITERIA["squared"].value(Y + 1.0, Responses(Y, np.array([1.0, 1.0, 5.0])))
    np.testing.assert_allclose(value, 2.0)


def test_priors_cost_nats():
    assert CRITERIA["log"].penalized(0.5, 3.0, 10) == pytest.approx(0.8)
    penalized = CRITERIA["squared"].penalized(0.5, 3.0, 10)
    assert 10 * 0.5 * np.log(penalized / 0.5) == pytest.approx(3.0)
