"""Forward selection against direct solves, refits and its own rules."""

import numpy as np
import pytest

from gramian.orthogonal._forward import forward_select
from gramian.orthogonal._rules import ForwardRules
from tests.orthogonal.test_equations import orthogonality
from tests.tolerance import tolerance


def gram(X, Z, gamma=1.0):
    return np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def problem(n=60, t=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    phases = np.arange(t)
    Y = np.sin(2 * X[:, :1] + phases) + X[:, 1:] + noise * rng.standard_normal((n, t))
    return X, Y


def select(X, Y, gammas=(1.0,), **options):
    keywords = {name: options.pop(name) for name in ("weight", "start", "rng") if name in options}
    return forward_select(
        lambda samples, kernel: gram(X[samples], X, gammas[kernel]),
        Y,
        ForwardRules(**options),
        n_kernels=len(gammas),
        **keywords,
    )


def design(X, selection, gammas=(1.0,), epsilon=0.0):
    """The bias and the chosen columns of K + εI."""
    columns = np.empty((len(X), len(selection.samples)))
    for kernel, gamma in enumerate(gammas):
        mine = selection.kernels == kernel
        columns[:, mine] = gram(X, X[selection.samples[mine]], gamma)
    columns[selection.samples, np.arange(len(selection.samples))] += epsilon
    return np.column_stack([np.ones(len(X)), columns])


def triangle(selection):
    """U of ``K_m = Q U``."""
    return selection.regression.basis.U


def ridge_of(selection):
    return selection.regression.ridge


@pytest.mark.slow
@pytest.mark.parametrize("selection", ["gain", "residual"])
def test_a_thousand_columns_are_orthogonal(selection):
    X = np.random.default_rng(0).uniform(-2, 2, (1100, 3))
    Y = np.sin(X[:, :1])
    # max_condition: so near to dependent are the last of these columns
    found = select(
        X, Y, selection=selection, stopping="lambda", tol=0.0, max_basis=1000, max_condition=1e9
    )
    assert len(found.samples) == 1000
    assert found.path.condition[-1] > 1e5
    assert orthogonality(found.regression.basis.Q) < 1e-10  # the bound asked for; measured: 1e-15
    np.testing.assert_allclose(
        found.regression.basis.Q.T @ triangle(found),
        design(X, found),
        atol=tolerance(1100, updates=1000),
    )


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("selection", ["gain", "residual"])
def test_result_equals_a_direct_ridge_solve(selection, weighted, penalize_bias):
    X, Y = problem()
    gammas, epsilon = (0.5, 2.0), 1e-3
    weight = np.random.default_rng(1).uniform(0.2, 3.0, len(X)) if weighted else np.ones(len(X))
    found = select(
        X,
        Y,
        gammas,
        weight=weight if weighted else None,
        selection=selection,
        epsilon=epsilon,
        penalize_bias=penalize_bias,
        patience=5,
    )
    K = design(X, found, gammas, epsilon)
    assert set(found.kernels) == {0, 1}
    rtol = tolerance(60, cond=np.linalg.cond(K), power=1)
    root = np.sqrt(weight)[:, None]
    # U makes the columns orthogonal under the weights: the triangular factor of a QR, unit diagonal
    R = np.linalg.qr(K * root)[1]
    np.testing.assert_allclose(triangle(found), R / np.diagonal(R)[:, None], rtol=rtol, atol=rtol)
    penalty = ridge_of(found) * (np.arange(len(R)) >= 1 - penalize_bias)
    M = K.T @ (K * weight[:, None]) + triangle(found).T @ (penalty[:, None] * triangle(found))
    w = np.linalg.solve(M, K.T @ (Y * weight[:, None]))
    rtol = tolerance(60, cond=np.linalg.cond(M), power=1)
    np.testing.assert_allclose(found.weights, w, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(found.regression.residual.T / root, Y - K @ w, atol=rtol)
    H = K @ np.linalg.solve(M, K.T * weight)
    np.testing.assert_allclose(found.regression.hat, np.diagonal(H), atol=rtol)


@pytest.mark.parametrize("weighted", [True, False])
def test_leave_one_out_equals_refits_with_the_basis_and_penalty_kept(weighted):
    X, Y = problem(n=30, noise=0.5)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, 30) if weighted else np.ones(30)
    found = select(X, Y, weight=weight, patience=5)
    K, U = design(X, found), triangle(found)
    penalty = ridge_of(found) * U.T @ U
    loo_residual = found.regression.loo().T / np.sqrt(weight)[:, None]
    for i in range(30):
        keep = np.arange(30) != i
        weighted_rows = K[keep] * weight[keep, None]
        w = np.linalg.solve(weighted_rows.T @ K[keep] + penalty, weighted_rows.T @ Y[keep])
        rtol = tolerance(30, cond=np.linalg.cond(K), power=2)
        np.testing.assert_allclose(loo_residual[i], Y[i] - K[i] @ w, rtol=rtol)


def test_path_holds_the_criteria_of_each_size():
    X, Y = problem()
    found = select(X, Y, max_basis=15, patience=50)
    longest = select(X, Y, max_basis=15, patience=50, stopping="lambda", tol=0.0)
    for size, ridge, gcv in zip(found.path.size, found.path.ridge, found.path.gcv, strict=True):
        Q = longest.regression.basis.Q[: size + 1]
        H = Q.T @ np.linalg.solve(Q @ Q.T + ridge * np.eye(size + 1), Q)
        rss, left = np.square(Y - H @ Y).sum(), 60 - np.trace(H)
        rtol = tolerance(60, cond=1e3, power=1)
        np.testing.assert_allclose(gcv, 60 * rss / left**2, rtol=rtol)
    best = np.argmin(found.path.loo)
    assert len(found.samples) == found.path.size[best]
    assert ridge_of(found) == found.path.ridge[best]
    press = np.square(found.regression.loo()).sum() / 60
    # On the way the leave-one-out error follows λ with a lag of two per cent.
    np.testing.assert_allclose(press, found.path.loo[best], rtol=1e-2)


def test_ridge_can_follow_the_leave_one_out_error():
    X, Y = problem(n=100, noise=0.5)
    found = select(X, Y, ridge="loo", max_basis=20)
    K, U = design(X, found), triangle(found)

    def press(ridge):
        H = K @ np.linalg.solve(K.T @ K + ridge * U.T @ U, K.T)
        return np.square((Y - H @ Y) / (1 - np.diagonal(H))[:, None]).sum()

    assert press(ridge_of(found)) < min(press(0.5 * ridge_of(found)), press(2.0 * ridge_of(found)))


def test_weights_count_as_repetitions():
    X, Y = problem(n=30, t=1, noise=1.0)
    times = np.random.default_rng(1).integers(1, 4, 30)
    rows = np.repeat(np.arange(30), times)
    options = {"selection": "residual", "stopping": "gcv", "max_basis": 8}
    weighted = select(X, Y, weight=times.astype(float), **options)
    repeated = select(X[rows], Y[rows], **options)
    np.testing.assert_array_equal(X[weighted.samples], X[rows][repeated.samples])
    rtol = 1e-5  # how far λ settles
    np.testing.assert_allclose(ridge_of(weighted), ridge_of(repeated), rtol=rtol)
    np.testing.assert_allclose(
        weighted.path.gcv, repeated.path.gcv, rtol=tolerance(60, cond=1e3, power=1)
    )


def test_an_unpenalised_bias_carries_constants_through():
    X, Y = problem()
    options = {"penalize_bias": False, "patience": 5}
    plain, raised = select(X, Y, **options), select(X, Y + 1000.0, **options)
    np.testing.assert_array_equal(plain.samples, raised.samples)
    atol = tolerance(60, cond=1e3 * plain.path.condition[-1], power=1)
    np.testing.assert_allclose(raised.regression.residual, plain.regression.residual, atol=atol)


def test_one_pass_of_columns_and_no_more():
    X, Y = problem(n=200)
    asked = []

    def columns(samples, kernel):
        asked.extend(samples)
        return gram(X[samples], X)

    rules = ForwardRules(selection="residual", max_basis=20, patience=50)
    found = forward_select(columns, Y, rules)
    assert len(asked) == 20 == len(found.path.size) - 1
    asked.clear()
    forward_select(columns, Y, ForwardRules(max_basis=20, patience=50))
    assert len(asked) == 64 + 4 * 32  # a pool, and half of it every four steps


@pytest.mark.parametrize("stopping", ["loo", "gcv", "bic", "lambda"])
def test_each_criterion_stops_and_returns_to_its_best_size(stopping):
    X, Y = problem(n=200, noise=0.3)
    found = select(X, Y, stopping=stopping, patience=10, tol=1e-2 if stopping == "lambda" else 0.0)
    assert found.stop_reason == stopping
    assert len(found.samples) == found.path.size[found.path.best(stopping)]
    if stopping != "lambda":
        assert found.path.size[-1] == len(found.samples) + 10


def test_other_reasons_to_stop():
    X, Y = problem(n=40)
    assert select(X, Y, max_basis=3).stop_reason == "max_basis"
    assert select(X, np.zeros_like(Y)).stop_reason == "exact"
    endless = {"patience": 1000, "ridge": 1e-3}
    repeated = X[:6].repeat(100, axis=0), np.random.default_rng(0).standard_normal((600, 1))
    assert select(*repeated, **endless).stop_reason == "ill-conditioned"
    assert select(repeated[0][::50], repeated[1][::50], **endless).stop_reason == "exhausted"
    assert select(X, Y, (50.0,), **endless).stop_reason == "exact"


@pytest.mark.parametrize("selection", ["gain", "residual"])
def test_no_ridge_is_plain_least_squares(selection):
    X, Y = problem(n=40)
    found = select(X, Y, ridge=0.0, max_basis=12, patience=50, selection=selection)
    K = design(X, found)
    expected = np.linalg.lstsq(K, Y, rcond=None)[0]
    np.testing.assert_allclose(
        found.weights, expected, rtol=tolerance(40, cond=np.linalg.cond(K), power=2)
    )


def test_no_ridge_up_to_interpolation():
    X, Y = problem(n=30)
    found = select(X, Y, (20.0,), ridge=0.0, patience=50)
    assert found.stop_reason == "exact"
    assert np.isfinite(found.weights).all()
    assert np.isinf(found.path.gcv[-1])


@pytest.mark.parametrize("selection", ["gain", "residual"])
def test_duplicates_with_contrary_targets_do_no_harm(selection):
    X, Y = problem(n=40, t=1)
    X, Y = np.concatenate([X, X]), np.concatenate([Y, -Y + 1.0])
    found = select(X, Y, selection=selection, patience=10)
    assert len(np.unique(X[found.samples], axis=0)) == len(found.samples)
    assert np.isfinite(found.weights).all()


def test_selection_goes_on_from_where_another_ended():
    X, Y = problem(n=100)
    options = {"selection": "residual", "patience": 100, "stopping": "lambda", "tol": 0.0}
    whole = select(X, Y, max_basis=12, **options)
    part = select(X, Y, max_basis=5, **options)
    grown = select(X, Y, start=(part.samples, part.kernels), max_basis=12, **options)
    np.testing.assert_array_equal(grown.samples, whole.samples)
    assert grown.path.size == list(range(5, 13))
    rtol = tolerance(100, cond=1e4, power=1)
    np.testing.assert_allclose(ridge_of(grown), ridge_of(whole), rtol=1e-4)  # how far λ settles
    fixed = select(X, Y, start=(part.samples, part.kernels), max_basis=5, ridge=0.1)
    np.testing.assert_allclose(triangle(fixed), triangle(part), rtol=rtol, atol=rtol)
    assert fixed.stop_reason == "max_basis"
    kept = select(X, Y, start=(part.samples, part.kernels), max_basis=2, ridge=0.1)
    np.testing.assert_array_equal(kept.samples, part.samples)


def test_starting_centres_must_be_independent():
    X, Y = problem(n=20)
    with pytest.raises(np.linalg.LinAlgError, match="sample 4 and kernel 0"):
        select(X, Y, start=(np.array([4, 4]), np.array([0, 0])))


def test_float32_stays_float32():
    X, Y = problem()
    found = select(X.astype(np.float32), Y.astype(np.float32), patience=5)
    regression = found.regression
    assert found.weights.dtype == regression.basis.Q.dtype == regression.loo().dtype == np.float32
    K = design(X, found)
    np.testing.assert_allclose(
        regression.residual.T,
        Y - K @ found.weights,
        atol=tolerance(60, dtype=np.float32, cond=100.0, power=1),
    )


def test_targets_are_left_alone_and_seeds_repeat():
    X, Y = problem(n=200)
    given = Y.copy()
    first, second = select(X, Y), select(X, Y, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(Y, given)
    np.testing.assert_array_equal(first.samples, second.samples)


def test_sinc_is_learned_with_few_centres():
    errors, sizes = [], []
    grid = np.linspace(-10, 10, 200)[:, None]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-10, 10, (100, 1))
        Y = np.sinc(X / np.pi) + 0.2 * rng.standard_normal((100, 1))
        found = select(X, Y, (0.1,))
        f = found.weights[0] + gram(grid, X[found.samples], 0.1) @ found.weights[1:]
        errors.append(np.sqrt(np.mean((f - np.sinc(grid / np.pi)) ** 2)))
        sizes.append(len(found.samples))
    assert np.mean(errors) < 0.08
    assert np.mean(sizes) < 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"selection": "best"},
            r"selection must be one of \('gain', 'residual', 'random'\), got 'best'\.",
        ),
        ({"stopping": "aic"}, "stopping must be"),
        ({"ridge": -1.0}, r'ridge must be >= 0, "loo" or "gcv", got -1\.0\.'),
        ({"ridge": "auto"}, r'ridge must be >= 0, "loo" or "gcv", got \'auto\'\.'),
        ({"ridge": 1.0, "stopping": "lambda"}, 'stopping="lambda" watches λ'),
        ({"ridge": "loo", "stopping": "lambda"}, 'stopping="lambda" watches λ'),
        ({"patience": 0}, "patience must be >= 1, got 0"),
        ({"tol": -1e-3}, "tol must be >= 0"),
        ({"epsilon": -1.0}, "epsilon must be >= 0"),
        ({"max_condition": 0.5}, "max_condition must be >= 1"),
        ({"max_basis": 0}, "max_basis must be >= 1 or None, got 0"),
    ],
)
def test_rules_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        ForwardRules(**options)
