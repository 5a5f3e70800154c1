from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm

from gramian import (
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LeastSquaresSVC,
)
from gramian.core.equations import CRITERIA, LS_SVM, ClassTargets
from gramian.core.gram import Spectrum
from gramian.core.kernels import make_kernel
from gramian.core.kernels._precomputed import GramSamples
from gramian.core.search import Problem, subsample
from gramian.core.search._objective import Objective, WidthPrior, ridge_grid
from gramian.core.search._order import content_order
from gramian.core.search._problem import nested
from gramian.core.search._result import Trace
from gramian.discriminant._equations import KDA_RMSE
from gramian.fisher._equations import KFD

PRIOR = WidthPrior(0.5, 2.0, 0.5)


rbf = make_kernel("rbf")


def make_problem(n=24, kernel=rbf):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((n, 3)), rng.permutation(np.arange(n) % 3)
    return Problem(KDA_RMSE, ClassTargets(labels, 3, "fisher"), X, kernel)


def test_the_prior_on_one_width_is_normal():
    densities = [norm(np.log(0.5), 2.0).logpdf(np.log(gamma)) for gamma in (0.1, 3.0)]
    fall = PRIOR.penalty(3.0) - PRIOR.penalty(0.1)
    assert fall == pytest.approx(densities[0] - densities[1])


def test_the_prior_on_widths_pulls_them_together():
    assert PRIOR.penalty(np.full(4, 0.1)) == pytest.approx(PRIOR.penalty(0.1))
    apart = np.array([0.1, 0.1, 0.1, 0.1]) * np.exp([0.5, -0.5, 0.0, 0.0])
    assert PRIOR.penalty(apart) == pytest.approx(PRIOR.penalty(0.1) + 1.0)


@pytest.mark.parametrize("name", ["log", "squared"])
@pytest.mark.parametrize("gamma", [0.3, np.array([0.1, 0.3, 1.0])], ids=["one", "each"])
def test_derivatives_equal_central_differences(name, gamma):
    objective = Objective(make_problem(), CRITERIA[name], PRIOR, None, "all samples", Trace())
    ridge, step = 0.2, 1e-5
    trial, by_width, by_ridge = objective.derivatives(gamma, ridge)
    assert trial.objective == pytest.approx(objective.point(gamma, ridge).objective)

    def difference(change):
        up, down = (objective.point(*change(sign * step)).objective for sign in (1, -1))
        return (up - down) / (2 * step)

    widths = [
        difference(lambda h, e=e: (gamma * np.exp(h * e), ridge))
        for e in (np.eye(3) if np.ndim(gamma) else [1.0])
    ]
    # Central differences are right to step² + eps/step.
    np.testing.assert_allclose(by_width, widths, rtol=1e-5, atol=1e-9)
    expected = difference(lambda h: (gamma, ridge * np.exp(h)))
    np.testing.assert_allclose(by_ridge, expected, rtol=1e-5, atol=1e-9)


def ridge_path(values, equations=LS_SVM):
    """The ridges that a path tries for a kernel matrix with these eigenvalues."""
    problem = replace(make_problem(), equations=equations)
    objective = Objective(problem, CRITERIA["log"], PRIOR, None, "all samples", Trace())
    values = np.asarray(values)
    return ridge_grid(*objective.ridge_range(Spectrum(values, np.eye(len(values)))))


def test_ridges_fall_from_the_largest_eigenvalue():
    ridges = ridge_path([1e-3, 1.0, 100.0])
    assert ridges[0] == pytest.approx(100.0)
    assert np.all(np.diff(ridges) < 0)
    assert ridges[-1] == pytest.approx(1e-9 * 101.001 / 3)
    assert ridge_path([1e-3, 1.0, 100.0], KDA_RMSE)[-1] > 1e2 * ridges[-1]
    assert ridge_path([1e-3, 1.0, 100.0], KFD)[0] == pytest.approx(100.0**2)


@pytest.mark.parametrize(
    ("values", "least"),
    [([-1e-3, 1.0], 2e-3), ([-5.0, 1.0], 5.0), ([0.0, 0.0], 0.0), ([-1.0, -1.0], 1.0)],
)
def test_ridges_make_every_matrix_positive_definite(values, least):
    ridges = ridge_path(values)
    assert ridges.min() > least * 0.999
    assert np.isfinite(ridges).all()


def test_single_precision_has_a_larger_least_ridge():
    values = np.array([1e-9, 1.0])
    assert ridge_path(values.astype(np.float32))[-1] > 1e2 * ridge_path(values)[-1]


@pytest.mark.slow
@pytest.mark.parametrize("cls", [LeastSquaresSVC, KernelDiscriminant, KernelFisherDiscriminant])
@pytest.mark.parametrize("n", [60, 300])
def test_what_is_chosen_is_the_same_for_rows_in_another_order(cls, n):
    """Few distinct rows with labels that contradict each other ask for the least ridge."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 12, n)
    X, y = rng.standard_normal((12, 3))[rows], rows % 2
    y[:2] = 1 - y[:2]
    model, order = cls().fit(X, y), rng.permutation(n)
    queries = rng.standard_normal((50, 3))
    given = {"gamma": model.gamma_}
    given |= {"C": model.C_} if hasattr(model, "C_") else {"ridge": model.ridge_}
    first, other = (cls(**given).fit(X[i], y[i]) for i in (np.arange(n), order))
    values, again = (each.decision_function(queries) for each in (first, other))
    np.testing.assert_allclose(values, again, atol=1e-4 * np.abs(values).max())


def test_subsamples_keep_every_class():
    labels = np.repeat([0, 1, 2, 3], [300, 150, 3, 1])
    targets = ClassTargets(labels, 4)
    problem = Problem(LS_SVM, targets, np.arange(454.0)[:, None], rbf)
    taken = problem.take(subsample(problem, 100, np.random.RandomState(0)))
    assert np.bincount(taken.targets.labels).tolist() == [65, 32, 2, 1]
    np.testing.assert_array_equal(taken.targets.labels, labels[taken.samples[:, 0].astype(int)])
    np.testing.assert_array_equal(subsample(problem, 454), np.arange(454))


def test_subsamples_hold_the_smaller_ones():
    problem = make_problem(60)
    part = nested(problem, np.random.RandomState(0))
    rows = [set(map(tuple, part(size).samples)) for size in (3, 12, 30)]
    assert [len(some) for some in rows] == [6, 12, 30]  # two of each of the three classes at least
    assert rows[0] < rows[1] < rows[2]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_typical_width_is_one_over_the_median_distance(kernel):
    problem = make_problem(kernel=make_kernel(kernel))
    gamma = problem.kernel.typical_gamma(problem.samples)
    K = problem.gram(gamma)[np.triu_indices(problem.n, 1)]
    assert np.median(-np.log(K)) == pytest.approx(1.0)


def test_equal_samples_do_not_count_for_the_typical_width():
    X = np.repeat([[0.0], [2.0]], [10, 2], axis=0)
    problem = Problem(LS_SVM, ClassTargets(np.arange(12) % 2, 2), X, rbf)
    assert problem.kernel.typical_gamma(problem.samples) == pytest.approx(0.25)
    same = Problem(LS_SVM, problem.targets, np.ones((12, 1)), rbf)
    assert same.kernel.typical_gamma(same.samples) == 1.0


@pytest.mark.parametrize("form", ["dense", "float32", "sparse", "precomputed"])
def test_without_a_seed_subsamples_depend_on_the_samples_alone(form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)).astype("float32" if form == "float32" else float)
    X[:, 1] *= rng.random(200) < 0.5
    X[0, 1] = -0.0
    y, moved = (X[:, 0] > 0).astype(int), rng.permutation(200)
    rows = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) if form == "precomputed" else X

    def drawn(order):
        samples = rows[order]
        if form == "sparse":
            samples = sparse.csr_matrix(samples)
        elif form == "precomputed":
            samples = GramSamples(samples[:, order])
        taken = content_order(samples)
        part = subsample(Problem(LS_SVM, ClassTargets(y[order], 2), samples, rbf), 50)
        return order[taken], y[order][part].mean()

    (first, share), (second, other) = drawn(np.arange(200)), drawn(moved)
    np.testing.assert_array_equal(first, second)
    assert share == other
    assert abs(share - y.mean()) < 0.02
    assert not np.array_equal(first, np.arange(200))


def test_dense_and_sparse_samples_have_one_order():
    X = np.random.default_rng(0).standard_normal((50, 4)).round(0)
    np.testing.assert_array_equal(content_order(X), content_order(sparse.csr_matrix(X)))


def test_the_order_looks_random():
    """Samples on a line do not stay neighbours, and equal ones keep their order."""
    order = content_order(np.arange(1000.0)[:, None])
    assert abs(np.corrcoef(order, np.arange(1000))[0, 1]) < 0.1  # 3 standard deviations
    assert content_order(np.zeros((5, 2))).tolist() == [0, 1, 2, 3, 4]
