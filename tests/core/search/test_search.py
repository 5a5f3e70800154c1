import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from gramian.core.equations import CRITERIA, KERNEL_RIDGE, LS_SVM, ClassTargets, Responses
from gramian.core.gram import _memory
from gramian.core.kernels import Precomputed, make_kernel
from gramian.core.kernels._precomputed import GramSamples
from gramian.core.search import Problem, select
from gramian.core.search._ladder import Place, _descend
from gramian.core.search._search import SUBSAMPLE
from gramian.discriminant._equations import KDA_RMSE
from tests.core.equations.conftest import all_equations

rbf = make_kernel("rbf")


def rings(n, n_classes=2, seed=0):
    """Classes as noisy rings of growing radius."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1.0 + labels + 0.2 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), labels


def ring_problem(n, equations=KDA_RMSE, n_classes=2, kind="signs"):
    X, labels = rings(n, n_classes)
    return Problem(equations, ClassTargets(labels, n_classes, kind), X, rbf)


def criterion_by_refits(problem, gamma, ridge, name):
    """The criterion at one setting from n kernel ridge refits."""
    K, Y = problem.gram(gamma), problem.targets.own
    F = np.empty_like(Y)
    for i in range(problem.n):
        stay = np.arange(problem.n) != i
        A = K[np.ix_(stay, stay)] + ridge * np.eye(problem.n - 1)
        F[i] = K[i, stay] @ np.linalg.solve(A, Y[stay])
    return CRITERIA[name].value(F, problem.targets)


@all_equations
@pytest.mark.parametrize("kind", ["signs", "fisher"])
def test_rings_are_told_apart(equations, kind):
    problem = ring_problem(90, equations, n_classes=3, kind=kind)
    found = select(problem, random_state=0)
    F = problem.loo_path(problem.spectrum(found.gamma), np.array([found.ridge]))
    assert CRITERIA["error"].value(F, problem.targets) < 0.1


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_value_is_that_of_real_refits(criterion):
    problem = ring_problem(40, KERNEL_RIDGE)
    found = select(problem, criterion=criterion, random_state=0)
    expected = criterion_by_refits(problem, found.gamma, found.ridge, criterion)
    # The temperature of the log-loss is found to 1e-5, the loss to its square.
    np.testing.assert_allclose(found.value, expected, rtol=1e-8)


def test_no_setting_of_a_fine_grid_is_much_better():
    problem = ring_problem(60, KERNEL_RIDGE)
    found = select(problem, random_state=0)
    ridges = np.geomspace(1e-6, 60.0, 60)
    grid = [
        CRITERIA["log"].value(problem.loo_path(problem.spectrum(g), ridges), problem.targets).min()
        for g in np.geomspace(1e-3, 1e2, 60)
    ]
    assert found.value < min(grid) + 2.0 / problem.n  # the prior may cost a nat or two


def test_regression_finds_a_smooth_function():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (80, 1))
    Y = np.sin(2 * X) + 0.1 * rng.standard_normal((80, 1))
    found = select(Problem(LS_SVM, Responses(Y), X, rbf), random_state=0)
    assert found.criterion == "squared"
    assert found.value < 2 * 0.1**2


@pytest.mark.parametrize("fixed", [{"gamma": 0.7}, {"ridge": 0.2}, {"gamma": 0.7, "ridge": 0.2}])
def test_what_is_given_stays(fixed):
    found = select(ring_problem(30), **fixed, random_state=0)
    for name, value in fixed.items():
        assert getattr(found, name) == value
    assert np.isfinite(found.value)


def test_large_problems_begin_on_a_subsample():
    problem = ring_problem(SUBSAMPLE + 100, n_classes=3)
    trials = []
    found = select(problem, random_state=0, callback=trials.append)
    stages = [trial.stage for trial in trials]
    whole = stages.index("all samples")
    assert set(stages[:whole]) == {"subsample"}
    assert set(stages[whole:]) == {"all samples"}
    assert {trial.n for trial in trials[whole:]} == {problem.n}
    assert all(trial.n <= SUBSAMPLE for trial in trials[:whole])
    assert len(stages[whole:]) <= 7
    assert found.value == min(t.value for t in trials if t.gamma == found.gamma and t.n > SUBSAMPLE)


def test_a_search_is_repeatable():
    problem = ring_problem(SUBSAMPLE + 50)
    first, again = (select(problem, random_state=3) for _ in range(2))
    assert (first.gamma, first.ridge) == (again.gamma, again.ridge)
    np.testing.assert_array_equal(first.values, again.values)


def responses(n):
    X = np.random.default_rng(0).uniform(-2.0, 2.0, (n, 2))
    Y = np.column_stack([np.sin(2.0 * X[:, 0]), X[:, 1] ** 2])
    return Problem(LS_SVM, Responses(Y + 0.3 * np.cos(9.0 * X)), X, rbf)


@pytest.mark.slow
@all_equations
@pytest.mark.parametrize("ridge", ["loo", 0.1])
def test_the_ladder_is_as_good_as_the_path(equations, ridge):
    problem = ring_problem(300, equations, n_classes=3)
    by_path = select(problem, ridge=ridge, search="path", random_state=0)
    found = select(problem, ridge=ridge, random_state=0)
    assert found.value < by_path.value + 1.0 / problem.n  # a nat in all
    assert ("subsample" in found.stages) == equations.climbs


def test_the_ladder_serves_regressions():
    problem = responses(300)
    by_path, found = (select(problem, search=search) for search in ("path", "ladder"))
    assert np.log(found.value / by_path.value) < 2.0 / problem.n


def test_many_classes_have_fewer_ridges():
    problem = ring_problem(270, LS_SVM, n_classes=10)
    found = select(problem)
    first = (found.stages == "subsample") & (found.gammas == found.gammas[0])
    assert np.count_nonzero(first) == 12


def test_nothing_is_random_unless_asked_for():
    problem = ring_problem(300)
    first, again, seeded = (select(problem, random_state=state) for state in (None, None, 7))
    np.testing.assert_array_equal(first.values, again.values)
    assert not np.array_equal(first.values, seeded.values)


@pytest.mark.parametrize("gamma", ["loo", 1.0])
def test_large_problems_are_searched_in_part(monkeypatch, gamma):
    monkeypatch.setattr(Problem, "largest", 300)
    found = select(ring_problem(420), gamma=gamma)
    assert found.sizes.max() == 300
    assert set(found.stages) == {"subsample"}
    assert "on up to 300 samples" in repr(found)


class Bowl:
    """A quadratic in place of an objective, with its minimum at ``x``; it counts its calls."""

    problem = SimpleNamespace(n=100)

    def __init__(self, x, curvature):
        self.x, self.curvature, self.calls = np.array(x), np.array(curvature), 0

    def least_ridge(self):
        return 1e-3

    def nats_and_slopes(self, x):
        self.calls += 1
        apart = self.curvature @ (x - self.x)
        return None, 0.5 * float((x - self.x) @ apart), apart


@pytest.mark.parametrize("guess", [np.eye(2), [[40.0, 0.0], [0.0, 1.0]]])
@pytest.mark.parametrize("x", [[0.5, 1.0], [-2.0, -4.0], [1.0, np.log(1e-3)]])
def test_a_rung_goes_down_to_what_is_promised(x, guess):
    bowl = Bowl(x, [[9.0, -4.0], [-4.0, 6.0]])
    place = _descend(bowl, Place(np.zeros(2), np.array(guess), 100), 0.1, 6)
    assert bowl.calls <= 7
    assert place.nats < 0.5
    assert place.x[1] >= np.log(1e-3)


def test_a_rung_stays_above_the_least_ridge():
    bowl = Bowl([0.0, -9.0], np.eye(2))
    place = _descend(bowl, Place(np.array([1.0, -6.5]), np.eye(2), 100), 0.1, 6)
    np.testing.assert_allclose(place.x, [0.0, np.log(1e-3)], atol=1e-6)


def test_a_start_is_searched_around():
    problem = ring_problem(SUBSAMPLE + 50)
    cold = select(problem, random_state=0)
    trials = []
    warm = select(problem, start=(cold.gamma, cold.ridge), random_state=0, callback=trials.append)
    on_all = [trial for trial in trials if trial.stage == "all samples"]
    assert on_all[0].gamma == pytest.approx(cold.gamma)
    assert len(trials) - len(on_all) == 3  # widths on a subsample, for the curvature
    assert warm.value <= cold.value * (1 + 1e-9) + 1.0 / problem.n


def test_the_path_is_kept():
    found = select(ring_problem(30), random_state=0)
    lengths = {len(getattr(found, n)) for n in ("stages", "sizes", "gammas", "ridges", "values")}
    assert len(lengths) == 1
    assert lengths.pop() > 100
    at = (found.gammas == found.gamma) & (found.ridges == found.ridge)
    np.testing.assert_array_equal(found.values[at], [found.value])


def test_a_selection_is_shown_in_one_line():
    problem = ring_problem(30)
    shown = repr(select(problem, ridge=0.5))
    assert re.fullmatch(
        r"Selection\(gamma=[\d.]+, ridge=0.5, log=[\d.]+, \d+ settings on up to 30 samples\)", shown
    )
    each = repr(select(problem, by_feature=True))
    assert each.startswith("Selection(gamma=2 widths around ")
    linear = Problem(problem.equations, problem.targets, problem.samples, make_kernel("linear"))
    assert repr(select(linear, gamma=None)).startswith("Selection(ridge=")


@pytest.mark.parametrize("criterion", ["log", "error"])
def test_of_equal_ridges_the_largest_wins(criterion):
    """Equal samples say nothing of their labels, at any ridge."""
    labels = np.arange(20) % 2
    problem = Problem(LS_SVM, ClassTargets(labels, 2), np.ones((20, 2)), rbf)
    found = select(problem, criterion=criterion)
    assert found.ridge == found.ridges.max()
    assert found.gamma == 1.0


def test_memory_is_asked_for(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 3 * 30**2 * 8 - 1)
    with pytest.raises(MemoryError, match="Choosing by the leave-one-out of 30 samples needs"):
        select(ring_problem(30), gamma=1.0)
    monkeypatch.setattr(_memory, "available_memory", lambda: 8 * 30**2 * 8 - 1)
    assert select(ring_problem(30)).gamma > 0
    with pytest.raises(MemoryError, match="Choosing by the leave-one-out of 30 samples needs"):
        select(ring_problem(30), by_feature=True)


@pytest.mark.parametrize("n", [2, 3, 4, 9])
@all_equations
@pytest.mark.parametrize("kind", ["signs", "fisher"])
def test_few_samples(n, equations, kind):
    found = select(ring_problem(n, equations, kind=kind), random_state=0)
    assert np.isfinite([found.gamma, found.ridge, found.value]).all()
    assert found.ridge > 0
    assert found.gamma > 0


@all_equations
@pytest.mark.parametrize("case", ["copies", "all equal", "constant feature", "singletons", "zero"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_awkward_samples(equations, case, criterion):
    X, labels = rings(24, 3)
    if case == "copies":
        X, labels = np.repeat(X[:6], 4, axis=0), np.repeat(labels[:6], 4)
    elif case == "all equal":
        X = np.full_like(X, 3.0)
    elif case == "constant feature":
        X[:, 1] = 1e6
    elif case == "singletons":
        labels = np.where(np.arange(24) < 22, 0, np.arange(24) - 21)
    else:
        X = np.zeros_like(X)
    problem = Problem(equations, ClassTargets(labels, 3, "fisher"), X, rbf)
    found = select(problem, criterion=criterion, random_state=0)
    assert np.isfinite([found.gamma, found.ridge, found.value]).all()
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("search", ["nelder-mead", "gradient"])
@all_equations
def test_other_searches_agree_with_the_path(search, equations):
    problem = ring_problem(60, equations)
    by_path = select(problem, random_state=0)
    found = select(problem, search=search, random_state=0)
    assert found.value < by_path.value + 1.0 / problem.n  # less than a nat in all


@pytest.mark.parametrize("search", ["nelder-mead", "gradient"])
def test_other_searches_keep_a_given_ridge(search):
    found = select(ring_problem(40), ridge=0.3, search=search, random_state=0)
    assert found.ridge == 0.3


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_both_kernels_with_a_width_are_tuned(kernel):
    X, labels = rings(60)
    targets = ClassTargets(labels, 2)
    problem = Problem(LS_SVM, targets, X, make_kernel(kernel))
    by_path, by_gradient = (
        select(problem, search=search, random_state=0) for search in ("path", "gradient")
    )
    assert abs(by_path.value - by_gradient.value) < 1.0 / problem.n


def noisy_rings(n):
    """The rings, and four features that say nothing."""
    X, labels = rings(n)
    noise = np.random.default_rng(1).standard_normal((n, 4))
    return Problem(KDA_RMSE, ClassTargets(labels, 2), np.hstack([X, noise]), rbf)


@pytest.mark.parametrize("n", [120, SUBSAMPLE + 50])
def test_widths_of_features_that_say_nothing_shrink(n):
    problem = noisy_rings(n)
    common = select(problem, random_state=0)
    found = select(problem, by_feature=True, random_state=0)
    assert found.gamma.shape == (6,)
    assert found.gamma[:2].min() > 1.2 * found.gamma[2:].max()
    assert found.value < common.value


def test_widths_of_features_start_again_where_they_were():
    problem = noisy_rings(120)
    cold = select(problem, by_feature=True, random_state=0)
    warm = select(problem, by_feature=True, start=(cold.gamma, cold.ridge), random_state=0)
    assert warm.value < cold.value + 1.0 / problem.n


def test_widths_of_features_of_sparse_samples():
    problem = noisy_rings(60)
    compressed = replace(problem, samples=sparse.csr_array(problem.samples))
    dense, csr = (select(one, by_feature=True) for one in (problem, compressed))
    np.testing.assert_allclose(csr.gamma, dense.gamma, rtol=1e-3)  # of a search, to its tolerance


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_widths_of_features_do_not_depend_on_the_unit_of_the_targets(unit):
    problem = responses(80)
    Y = problem.targets.columns
    plain, scaled = (
        select(replace(problem, targets=Responses(Y * factor)), by_feature=True)
        for factor in (1.0, unit)
    )
    np.testing.assert_allclose(scaled.gamma, plain.gamma, rtol=1e-3)  # of the same steps
    assert len(scaled.values) == len(plain.values)


def test_widths_of_features_begin_at_a_common_one():
    problem = noisy_rings(SUBSAMPLE + 50)
    common = select(problem, random_state=0)
    trials = []
    found = select(
        problem,
        by_feature=True,
        start=(common.gamma, common.ridge),
        random_state=0,
        callback=trials.append,
    )
    assert trials[0].n == SUBSAMPLE
    np.testing.assert_allclose(trials[0].gamma, common.gamma)
    assert found.value < common.value


@pytest.mark.parametrize("n", [2, 3, 9])
@pytest.mark.parametrize("case", ["rings", "all equal", "copies"])
@pytest.mark.parametrize("options", [{"search": "gradient"}, {"by_feature": True}])
def test_descent_on_few_or_equal_samples(n, case, options):
    X, labels = rings(n)
    X = {"rings": X, "all equal": np.ones_like(X), "copies": X[np.arange(n) // 2]}[case]
    problem = Problem(KDA_RMSE, ClassTargets(labels, 2), X, rbf)
    found = select(problem, random_state=0, **options)
    assert np.isfinite(found.value)
    assert np.isfinite(found.gamma).all()


def test_precomputed_kernels_tune_the_ridge():
    X, labels = rings(50)
    by_function = select(Problem(KDA_RMSE, ClassTargets(labels, 2), X, rbf), gamma=0.5)
    K = rbf.with_gamma(0.5)(X, X)
    before = K.copy()
    given = select(
        Problem(KDA_RMSE, ClassTargets(labels, 2), GramSamples(K), Precomputed()),
        gamma=None,
    )
    assert given.ridge == by_function.ridge
    assert given.gamma is None
    np.testing.assert_array_equal(K, before)


def test_precomputed_kernels_are_subsampled_on_both_sides():
    problem = ring_problem(20)
    K = problem.gram(0.5)
    taken = Problem(problem.equations, problem.targets, GramSamples(K), Precomputed()).take(
        np.array([1, 5, 6])
    )
    np.testing.assert_array_equal(taken.gram(None), K[np.ix_([1, 5, 6], [1, 5, 6])])


def test_sparse_samples():
    X, labels = rings(40)
    targets = ClassTargets(labels, 2)
    dense = select(Problem(LS_SVM, targets, X, rbf), random_state=0)
    compressed = Problem(LS_SVM, targets, sparse.csr_array(X), rbf)
    found = select(compressed, random_state=0)
    # Distances of sparse rows round differently.
    np.testing.assert_allclose([found.gamma, found.ridge], [dense.gamma, dense.ridge], rtol=1e-6)


def test_single_precision_is_searched_in_single_precision():
    X, labels = rings(60)
    problem = Problem(KDA_RMSE, ClassTargets(labels, 2), X.astype(np.float32), rbf)
    spectrum = problem.spectrum(1.0)
    assert problem.loo_path(spectrum, np.array([0.1])).dtype == np.float32
    double = select(Problem(KDA_RMSE, ClassTargets(labels, 2), X, rbf), random_state=0)
    # The criterion is known to about 1e-6 in single precision, and flat where it is least.
    np.testing.assert_allclose(select(problem, random_state=0).value, double.value, atol=1e-3)


def test_indefinite_kernels_get_a_ridge_that_suffices():
    K = np.diag([2.0, 1.0, -0.5, 0.3])
    targets = ClassTargets(np.array([0, 1, 0, 1]), 2)
    assert select(Problem(LS_SVM, targets, GramSamples(K), Precomputed()), gamma=None).ridge > 0.5


def test_weights_count():
    X, labels = rings(40)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, 40)
    found = select(Problem(KDA_RMSE, ClassTargets(labels, 2, "signs", weight), X, rbf))
    plain = select(Problem(KDA_RMSE, ClassTargets(labels, 2), X, rbf))
    assert found.value != plain.value


def test_errors_say_what_to_do():
    problem = ring_problem(10)
    with pytest.raises(ValueError, match="gamma='loo' needs a kernel with a width"):
        select(
            Problem(
                problem.equations, problem.targets, GramSamples(problem.gram(1.0)), Precomputed()
            ),
            gamma="loo",
        )
    with pytest.raises(ValueError, match="ridge must be > 0 or \"loo\", got 'best'"):
        select(problem, ridge="best")
    with pytest.raises(ValueError, match="gamma must be > 0 or \"loo\", got 'scale'"):
        select(problem, gamma="scale")
    with pytest.raises(ValueError, match=r"search must be one of .* got 'grid'"):
        select(problem, search="grid")
    with pytest.raises(ValueError, match="needs a smooth criterion, got 'error'"):
        select(problem, search="gradient", criterion="error")
    with pytest.raises(ValueError, match="gamma='loo' needs a ridge > 0 or \"loo\", got 0"):
        select(problem, ridge=0.0)
    regression = Problem(LS_SVM, Responses(np.ones((10, 1))), problem.samples, rbf)
    with pytest.raises(ValueError, match=r"criterion must be one of \('squared',\) here"):
        select(regression, criterion="log")
    with pytest.raises(ValueError, match="needs at least 2 samples, got 1"):
        select(problem.take(np.array([0])))
