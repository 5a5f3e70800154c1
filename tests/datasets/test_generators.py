import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from gramian import datasets

N = 20_000
SIGMAS = 5.0  # a statistic of N draws stays within so many standard errors for any fair seed

SEEDED = [
    datasets.make_banana,
    datasets.make_ringnorm,
    datasets.make_sinc,
    datasets.make_twonorm,
    datasets.make_waveform,
]


def assert_normal(Z, mean, std):
    """Columns of Z have the given mean and standard deviation, up to sampling error."""
    n, d = Z.shape
    error = SIGMAS * std / np.sqrt(n)
    np.testing.assert_allclose(Z.mean(axis=0), np.broadcast_to(mean, d), rtol=0, atol=error)
    np.testing.assert_allclose(Z.std(axis=0), std, rtol=0, atol=error)


def assert_rate(events, rate):
    error = SIGMAS * np.sqrt(rate * (1 - rate) / len(events))
    assert abs(np.mean(events) - rate) < error


def linearly_separable(X, y):
    """Whether some (w, b) has y (w·x + b) ≥ 1 everywhere: a linear feasibility problem."""
    signed = -y[:, None] * np.column_stack([X, np.ones(len(y))])
    found = linprog(np.zeros(3), A_ub=signed, b_ub=-np.ones(len(y)), bounds=(None, None))
    return found.status == 0


@pytest.mark.parametrize("make", SEEDED)
def test_same_seed_same_data(make):
    X, y = make(30, random_state=3)
    for state in (3, np.random.default_rng(3)):
        again = make(30, random_state=state)
        np.testing.assert_array_equal(again[0], X)
        np.testing.assert_array_equal(again[1], y)
    assert (make(30, random_state=4)[0] != X).any()
    assert (make(30)[0] != X).any()


@pytest.mark.parametrize("make", SEEDED)
def test_shapes(make):
    X, y = make(7, random_state=0)
    assert X.ndim == 2
    assert len(X) == len(y) == 7
    assert X.dtype == float


def test_sinc_without_noise():
    X, y = datasets.make_sinc(1000, noise=0.0, interval=(-3, 5), random_state=0)
    assert X.min() >= -3
    assert X.max() <= 5
    np.testing.assert_allclose(y, np.sin(X[:, 0]) / X[:, 0], rtol=1e-12)  # two roundings of sin


def test_sinc_noise_has_its_deviation():
    X, y = datasets.make_sinc(N, noise=0.3, random_state=0)
    assert_normal((y - np.sinc(X[:, 0] / np.pi))[:, None], 0.0, 0.3)


def test_twonorm_moments_and_bayes_error():
    X, y = datasets.make_twonorm(N, random_state=0)
    a = 2 / np.sqrt(20)
    for label in (-1, 1):
        assert_normal(X[y == label], label * a, 1.0)
    assert_rate(y == 1, 0.5)
    assert_rate(np.sign(X.sum(axis=1)) != y, norm.cdf(-2))


def test_ringnorm_moments_and_bayes_error():
    X, y = datasets.make_ringnorm(N, random_state=0)
    a = 2 / np.sqrt(20)
    assert_normal(X[y == 1], 0.0, 2.0)
    assert_normal(X[y == -1], a, 1.0)
    outer = norm.logpdf(X, 0, 2).sum(axis=1)
    inner = norm.logpdf(X, a, 1).sum(axis=1)
    assert_rate(np.where(outer > inner, 1, -1) != y, 0.0124)  # by 400,000 draws of each class


def test_waveform_class_means_lie_half_way_between_two_waves():
    X, y = datasets.make_waveform(N, random_state=0)
    h = [[max(6 - abs(i - peak), 0) for i in range(1, 22)] for peak in (11, 15, 7)]
    for label, (p, q) in enumerate([(0, 1), (0, 2), (1, 2)]):
        Z = X[y == label]
        error = SIGMAS * Z.std(axis=0).max() / np.sqrt(len(Z))
        np.testing.assert_allclose(Z.mean(axis=0), np.add(h[p], h[q]) / 2, rtol=0, atol=error)
        # x = (h + h')/2 + (u − 1/2)(h − h') + N(0, 1), and the variance of u is 1/12
        spread = np.sqrt(np.subtract(h[p], h[q]) ** 2 / 12 + 1)
        np.testing.assert_allclose(Z.std(axis=0), spread, rtol=0, atol=error)
    for label in range(3):
        assert_rate(y == label, 1 / 3)


def test_banana_arcs_lie_on_their_circles():
    X, y = datasets.make_banana(N, noise=0.0, random_state=0)
    for label, centre in ((1, 0.0), (-1, -0.75)):
        radius = np.linalg.norm(X[y == label] - centre, axis=1)
        np.testing.assert_allclose(radius, 1.0, rtol=1e-12)  # roundings of sin, cos and a shift
    noisy, _ = datasets.make_banana(N, noise=0.5, random_state=0)
    assert_normal(noisy - X, 0.0, 0.5)


def test_banana_needs_a_curved_boundary():
    assert not linearly_separable(*datasets.make_banana(200, noise=0.0, random_state=0))


def test_twelve_points_are_not_linearly_separable():
    X, y = datasets.make_twelve_points()
    assert X.shape == (12, 2)
    assert np.unique(X, axis=0).shape == X.shape
    assert y.tolist() == [-1] * 5 + [1] * 7
    assert not linearly_separable(X, y)


def test_the_other_reading_of_the_twelfth_point_would_be_separable():
    X, y = datasets.make_twelve_points()
    X[-1, 1] = 14
    assert linearly_separable(X, y)
