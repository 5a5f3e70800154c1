"""KernelDiscriminant against kim2006: its equations by pseudo-inverse, and kernel LDA by GSVD."""

import numpy as np
import pytest
from scipy.linalg import null_space, orth
from sklearn.base import clone

from evidence.shared.paper_algorithms import loo_by_removal
from gramian import KernelDiscriminant
from gramian.core.gram import NotPositiveDefiniteError
from tests.estimators.conftest import (
    assert_unchanged,
    class_targets,
    close_values,
    make_samples,
    queries,
    rbf,
    snapshot,
)


def pseudo_inverse_values(K, Y, K_query, ridge):
    """Decision values by eq. (18), ``[β; z] = G⁺ y`` with ``G = [1, K + λI]``, or eq. (14)."""
    G = np.column_stack([np.ones(len(K)), K + ridge * np.eye(len(K))])
    solution = np.linalg.pinv(G, rcond=1e-12) @ Y
    return np.squeeze(K_query @ solution[1:] + solution[0], axis=1 if Y.shape[1] == 1 else ())


# -- eqs. (14) to (20) --------------------------------------------------------------------------


@pytest.mark.parametrize("factor", ["auto", "inverse", "single", "cholesky", "qr"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["signs", "fisher"])
def test_equals_the_pseudo_inverse(kind, classes, factor):
    model = KernelDiscriminant(gamma=0.5, ridge=0.1, targets=kind, factor=factor)
    X, y = make_samples(model, classes=classes)
    X, y = X[3:], y[3:]  # classes of unequal size
    model.fit(X[:18], y[:18]).partial_fit(X[18:], y[18:]).forget([2, 20])
    X, y = np.delete(X, [2, 20], axis=0), np.delete(y, [2, 20])
    expected = pseudo_inverse_values(rbf(X, X), class_targets(y, kind), rbf(queries(), X), 0.1)
    close_values(model.decision_function(queries()), expected, updates=11)


def test_leave_one_out_from_a_factor_in_single_precision():
    """Its digits are few by consent; refits in double precision are near."""
    model = KernelDiscriminant(gamma=0.5, ridge=0.1, factor="single")
    X, y = make_samples(model)
    found = model.fit(X, y).loo_decision_function()
    Y = class_targets(y)
    for i in range(0, 30, 7):
        rest = np.delete(np.arange(30), i)
        K, k = rbf(X[rest], X[rest]), rbf(X[[i]], X[rest])
        expected = pseudo_inverse_values(K, Y[rest], k, 0.1)
        np.testing.assert_allclose(found[i], expected[0], rtol=0, atol=1e-4)


def test_qr_of_the_paper():
    """Eqs. (17), (19) and (20) step by step."""
    model = KernelDiscriminant(gamma=0.5, ridge=0.1)
    X, y = make_samples(model)
    Gt = np.vstack([np.ones(30), rbf(X, X) + 0.1 * np.eye(30)])
    Q, R = np.linalg.qr(Gt)
    solution = Q @ np.linalg.solve(R.T, np.where(y == 1, 1.0, -1.0))
    model.fit(X, y)
    close_values(model.intercept_, solution[0])
    close_values(model.dual_coef_, solution[1:])


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["signs", "fisher"])
def test_without_ridge_equals_the_pseudo_inverse(kind, classes, kernel):
    """Eq. (14), also where K is singular: a linear kernel of 30 samples with 3 features."""
    model = KernelDiscriminant(kernel, gamma=4.0, ridge=0.0, targets=kind)
    X, y = make_samples(model, classes=classes)
    X, y = X[3:], y[3:]
    model.fit(X[:18], y[:18]).partial_fit(X[18:], y[18:]).forget([2, 20])
    X, y = np.delete(X, [2, 20], axis=0), np.delete(y, [2, 20])
    k = (lambda A, B: A @ B.T) if kernel == "linear" else lambda A, B: rbf(A, B, 4.0)
    expected = pseudo_inverse_values(k(X, X), class_targets(y, kind), k(queries(), X), 0.0)
    close_values(model.decision_function(queries()), expected)
    assert model.factor_ == "svd"
    assert model.drift() < 1e-12  # normal equations up to some eps · cond(K)


def test_signs_are_the_default_and_fisher_moves_the_threshold_only_by_its_levels():
    """Targets of two classes are affine in each other, hence so are the decision values."""
    model = KernelDiscriminant(gamma=0.5, ridge=0.1)
    X, y = make_samples(model)
    X, y = X[4:], y[4:]
    n, n1 = len(y), int((y == 1).sum())
    high, low = n / n1, n / (n - n1)
    slope, shift = (high + low) / 2, (high - low) / 2
    fisher = KernelDiscriminant(gamma=0.5, ridge=0.1, targets="fisher").fit(X, y)
    ones = pseudo_inverse_values(rbf(X, X), np.ones((n, 1)), rbf(queries(), X), 0.1)
    expected = slope * model.fit(X, y).decision_function(queries()) + shift * ones
    close_values(fisher.decision_function(queries()), expected)


# -- leave-one-out ------------------------------------------------------------------------------


def test_leave_one_out_equals_algorithm_7():
    model = KernelDiscriminant(gamma=0.5, ridge=0.1)
    X, y = make_samples(model)
    expected = loo_by_removal(rbf(X, X), np.where(y == 1, 1.0, -1.0), 0.1)
    close_values(model.fit(X, y).loo_decision_function(), expected, updates=30)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("kind", ["signs", "fisher"])
def test_leave_one_out_without_ridge_equals_refits(kind, kernel):
    model = KernelDiscriminant(kernel, gamma=4.0, ridge=0.0, targets=kind)
    X, y = make_samples(model, 20, classes=3)
    K = X @ X.T if kernel == "linear" else rbf(X, X, 4.0)
    expected = []
    for i in range(20):
        rest = np.delete(np.arange(20), i)
        Y = class_targets(y[rest], kind)
        expected.append(pseudo_inverse_values(K[np.ix_(rest, rest)], Y, K[i : i + 1, rest], 0.0)[0])
    close_values(model.fit(X, y).loo_decision_function(), np.array(expected))


def test_weights_without_ridge_are_the_limit_of_small_ridges():
    X, y = make_samples(KernelDiscriminant())
    weight = np.random.default_rng(3).uniform(0.2, 3.0, 30)
    limit = KernelDiscriminant(gamma=4.0, ridge=1e-10).fit(X, y, sample_weight=weight)
    zero = KernelDiscriminant(gamma=4.0, ridge=0.0).fit(X, y, sample_weight=weight)
    found, expected = zero.decision_function(queries()), limit.decision_function(queries())
    np.testing.assert_allclose(found, expected, atol=1e-8)  # first order in the ridge


# -- edits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", ["auto", "inverse", "cholesky", "qr"])
def test_refused_duplicate_at_a_ridge_that_rounding_hides(factor):
    model = KernelDiscriminant(gamma=4.0, ridge=1e-18, factor=factor)
    X, y = make_samples(model)
    model.fit(X[:28], y[:28]).partial_fit(X[28:], y[28:])
    before, left_out = snapshot(model), model.loo_decision_function().copy()
    message = r"^partial_fit failed at new sample 0: its Schur complement.*raise `ridge`.*drop it"
    with pytest.raises(NotPositiveDefiniteError, match=message):
        model.partial_fit(X[3:4], y[3:4])
    assert_unchanged(model, before)
    close_values(model.loo_decision_function(), left_out, updates=2)
    assert model.rebuilds_ == []


@pytest.mark.parametrize("factor", ["auto", "inverse", "cholesky", "qr"])
def test_refused_fit_at_a_ridge_that_rounding_hides(factor):
    model = KernelDiscriminant(gamma=4.0, ridge=1e-18, factor=factor)
    X, y = make_samples(model)
    before = snapshot(model.fit(X, y))
    again = np.append(np.arange(30), 3)
    for refused in (model.fit, clone(model).fit):
        with pytest.raises(NotPositiveDefiniteError, match=r"^fit failed at sample 30: .*ridge"):
            refused(X[again], y[again])
    with pytest.raises(NotPositiveDefiniteError, match=r"^partial_fit failed at sample 30: "):
        clone(model).partial_fit(X[again], y[again])
    assert_unchanged(model, before)


def test_what_is_left_and_cannot_be_factored():
    """Class weights follow what stays, and with them how much of the ridge each sample has."""
    K, y = np.eye(80), np.repeat([0, 1], 40)
    K[0, 1] = K[1, 0] = 1.0
    model = KernelDiscriminant(kernel="precomputed", ridge=1e-15, class_weight="balanced")
    model.fit(K, y).forget(range(2, 40))  # 1 + ridge / 10.5 is 1, but what is to go is gone
    assert len(model.ids_) == 42
    with pytest.raises(NotPositiveDefiniteError, match=r"sample 1: .*ridge"):
        model.loo_score()
    assert model.forget(1).loo_score() > 0.9


def test_twelve_samples_in_the_plane():
    """An example as in kim2006, §6.2: one leaves, one enters, each time as from scratch."""
    A = np.array([[2, 3, 2, 8, 6, 4, 9, 9, 9, 6, 7, 4], [7, 6, 2, 1, 4, 8, 5, 9, 4, 9, 4, 14]]).T
    y = np.repeat([-1, 1], [5, 7])
    model = KernelDiscriminant(gamma=0.1, ridge=1e-1).fit(A, y)
    assert model.score(A, y) == 1.0
    grid = np.stack(np.meshgrid(np.arange(1, 11), np.arange(0, 15)), axis=-1).reshape(-1, 2)
    fresh = KernelDiscriminant(gamma=0.1, ridge=1e-1)
    model.forget(11)
    fresh.fit(A[:11], y[:11])
    close_values(model.decision_function(grid), fresh.decision_function(grid), updates=1)
    model.partial_fit([[9, 8]], [1])
    fresh.fit(np.vstack([A[:11], [[9, 8]]]), np.append(y[:11], 1))
    close_values(model.decision_function(grid), fresh.decision_function(grid), updates=2)


# -- kernel LDA by the generalised SVD (§2) -----------------------------------------------------
#
# Let Φ hold the features of the samples as rows, c their mean, c₁ and c₂ the class means, S_t the
# total scatter, and w = Φᵀz the direction found. With Fisher's targets, whose sum is 0,
# the normal equations of eq. (3) read β = −cᵀw and S_t w = n (c₂ − c₁), singular or not. So:
#
#   * The part of w in range(S_t) is n S_t⁺ (c₂ − c₁), and for two classes that is, up to scale,
#     the one direction which the GSVD of the scatter matrices finds.
#   * The rest of w lies in null(S_t), on which all samples have the same projection. As w is a
#     combination of samples it is a multiple of u, the part of c outside range(S_t).
#   * Hence w *is* the direction of kernel LDA where u = 0: whenever S_t has full rank in the span
#     of the samples, whether the within-class scatter S_w is singular or not.
#   * Where u ≠ 0, as for a positive definite K, the two agree up to scale and shift on the
#     samples, and differ by a multiple of u elsewhere.


def gsvd_direction(Phi, y):
    """The direction of LDA/GSVD for two classes, of which the scatter matrices may be singular.

    Of ``[H_bᵀ; H_wᵀ]`` with ``S_b = H_b H_bᵀ``, ``S_w = H_w H_wᵀ``: its SVD ``P diag(ρ) Qᵀ``, then
    that of the top rows of P, ``U Σ Wᵀ``; the direction is the first column of ``Q ρ⁻¹ W``.
    """
    means = np.array([Phi[y == c].mean(axis=0) for c in (0, 1)])
    sizes = np.bincount(y)
    Hb = np.sqrt(sizes)[:, None] * (means - Phi.mean(axis=0))
    P, rho, Qt = np.linalg.svd(np.vstack([Hb, Phi - means[y]]), full_matrices=False)
    rank = int(np.sum(rho > 1e-10 * rho[0]))
    _, _, Wt = np.linalg.svd(P[:2, :rank])
    return Qt[:rank].T @ (Wt[0] / rho[:rank])


def machine_direction(Phi, y, kind="fisher"):
    """w = Φᵀz of KDA/MSE, and its intercept."""
    model = KernelDiscriminant("linear", ridge=0.0, targets=kind).fit(Phi, y)
    return Phi.T @ model.dual_coef_, model.intercept_


def cosine(a, b):
    return abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b))


def two_classes(n, d, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 % 2  # two of the first class to one of the second
    return rng.standard_normal((n, d)) + y[:, None] * rng.standard_normal(d) + 0.5, y


def scatter(Phi, y=None):
    """Total scatter, or within-class scatter of given labels."""
    means = np.array([Phi[y == c].mean(axis=0) for c in (0, 1)])[y] if y is not None else 0
    centred = Phi - (means if y is not None else Phi.mean(axis=0))
    return centred.T @ centred


FULL_RANK = {
    "S_w regular": two_classes(30, 4),
    "S_w singular, S_t regular": two_classes(7, 6),  # rank n − 2 = 5 of 6, and n − 1 = 6
    "features depend on each other": (lambda X, y: (X @ X[:3, :].repeat(2, axis=0), y))(
        *two_classes(30, 6)
    ),
}


@pytest.mark.parametrize("kind", ["fisher", "signs"])
@pytest.mark.parametrize("name", FULL_RANK)
def test_direction_is_that_of_kernel_lda(name, kind):
    """u = 0: the same direction up to scale, with signs as targets too."""
    Phi, y = FULL_RANK[name]
    singular = np.linalg.matrix_rank(scatter(Phi, y)) < Phi.shape[1]
    assert singular == (name != "S_w regular")
    w, _ = machine_direction(Phi, y, kind)
    assert cosine(w, gsvd_direction(Phi, y)) == pytest.approx(1.0, abs=1e-10)  # cond(S_t)² eps
    if not singular:  # kim2006, eq. (6)
        difference = Phi[y == 1].mean(axis=0) - Phi[y == 0].mean(axis=0)
        assert cosine(w, np.linalg.solve(scatter(Phi, y), difference)) == pytest.approx(1.0)


@pytest.mark.parametrize("name", FULL_RANK)
def test_scale_and_intercept_with_fisher_targets(name):
    """w = n S_t⁺ (c₂ − c₁) and β = −cᵀw."""
    Phi, y = FULL_RANK[name]
    w, intercept = machine_direction(Phi, y)
    difference = Phi[y == 1].mean(axis=0) - Phi[y == 0].mean(axis=0)
    expected = len(y) * np.linalg.pinv(scatter(Phi), rcond=1e-10) @ difference
    np.testing.assert_allclose(w, expected, atol=1e-8 * np.abs(expected).max())  # cond(S_t)² eps
    assert intercept == pytest.approx(-Phi.mean(axis=0) @ w, rel=1e-8)


@pytest.mark.parametrize(
    "Phi", [two_classes(12, 20)[0], np.linalg.cholesky(rbf(*[two_classes(12, 3)[0]] * 2, 2.0))]
)
def test_direction_within_the_span_of_differences(Phi):
    """u ≠ 0 (more features than samples, or a positive definite K): equal within range(S_t)."""
    y = two_classes(12, 1)[1]
    w, intercept = machine_direction(Phi, y)
    x = gsvd_direction(Phi, y)
    Q = orth(scatter(Phi), rcond=1e-10)
    inside = Q @ (Q.T @ w)
    assert cosine(inside, x) == pytest.approx(1.0, abs=1e-10)  # cond(S_t)² eps
    u = Phi.mean(axis=0) - Q @ (Q.T @ Phi.mean(axis=0))
    assert cosine(w - inside, u) == pytest.approx(1.0, abs=1e-10)
    assert np.linalg.norm(w - inside) > 1e-3 * np.linalg.norm(w)  # so w is not that of LDA itself

    projected, decisions = Phi @ x, Phi @ w + intercept
    slope, shift = np.polyfit(projected, decisions, 1)
    np.testing.assert_allclose(slope * projected + shift, decisions, atol=1e-9)
    # Both classes collapse to a point: the samples are independent.
    np.testing.assert_allclose(decisions, class_targets(y, "fisher")[:, 0], atol=1e-9)
    assert null_space(Phi.T).shape[1] == 0


def test_direction_of_a_precomputed_kernel_with_dependent_samples():
    """The same by K alone: a polynomial kernel of 30 samples with 6 features in its space."""
    X, y = two_classes(30, 2)
    K = (1.0 + X @ X.T) ** 2
    root = np.sqrt(2.0)
    Phi = np.column_stack([np.ones(30), root * X, X**2, root * X[:, 0] * X[:, 1]])
    np.testing.assert_allclose(K, Phi @ Phi.T)
    model = KernelDiscriminant("precomputed", ridge=0.0, targets="fisher").fit(K, y)
    x = gsvd_direction(Phi, y)
    w = Phi.T @ model.dual_coef_
    Q = orth(scatter(Phi), rcond=1e-10)  # the constant feature is outside
    assert cosine(Q @ (Q.T @ w), x) == pytest.approx(1.0, abs=1e-9)  # cond(S_t)² eps
    decisions = model.decision_function(K)
    slope, shift = np.polyfit(Phi @ x, decisions, 1)
    np.testing.assert_allclose(slope * (Phi @ x) + shift, decisions, atol=1e-8)
