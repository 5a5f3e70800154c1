"""Intervals whose width follows x: against refits without pairs, and against their promises."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from gramian import (
    EllipsoidalFuzzyClassifier,
    LeastSquaresSVR,
    OrthogonalKernelRegressor,
    StackedKernelRegressor,
)
from tests.core.equations.test_local_scale import defined
from tests.estimators.conftest import REGRESSORS, make_samples, queries
from tests.estimators.test_conformal import edited, ends, refitted_values, samples, shapes
from tests.estimators.test_cross_conformal import apart

LOCAL = {"method": "jackknife+", "width": "local"}


def closeness(model, A, B):
    """−½ squared distance in the space of the kernel, up to a number that the query has."""
    kernels = {"rbf": 0.5, "laplacian": 0.5, "linear": None}
    names = model.kernel if isinstance(model.kernel, tuple) else (model.kernel,)
    shares = getattr(model, "weights_", [1.0])
    total = 0.0
    for share, name in zip(shares, names, strict=True):
        away = A[:, None] - B
        if name == "rbf":
            k = np.exp(-kernels[name] * (away**2).sum(axis=2)) - 0.5
        elif name == "laplacian":
            k = np.exp(-kernels[name] * np.abs(away).sum(axis=2)) - 0.5
        else:
            k = A @ B.T - 0.5 * (B**2).sum(axis=1)
        total = total + share * k
    return total


@pytest.mark.slow
@shapes
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_local_widths_are_those_of_refits_without_pairs(name, targets, weights, grouped):
    X, y, w = samples(seed=3, n=13, targets=targets, weights=weights)
    codes = np.array([0, 1, 0, 2, 3, 3, 4, 4, 4, 5, 6, 6, 6]) if grouped else np.arange(13)
    model = clone(REGRESSORS[name])
    if grouped:
        model.fit(X, y, sample_weight=w, groups=codes)
    else:
        model = edited(model, X, y, w)
        X, y, w = model.X_fit_, model.y_fit_, model.sample_weight_
        codes = np.arange(len(y))
    new, Y, n = np.array([X[0], [3.0, -2.0]]), y.reshape(len(y), -1), len(y)
    found = model.predict_interval(new, 0.7, **LOCAL).reshape(2, -1, 2)
    at = np.vstack([X, new])
    S, t = closeness(model, at, X), Y.shape[1]
    values, own, scale = np.empty((n, 3, t)), np.empty((n, t)), np.empty((n, 2, t))
    for i in range(n):
        rest = codes != codes[i]
        fit = refitted_values(model, X[rest], y[rest], w[rest], at[[i, n, n + 1]], None)
        values[i] = fit
        sizes = np.empty((rest.sum(), t))
        for place, j in enumerate(np.flatnonzero(rest)):
            left = rest & (codes != codes[j])
            without = refitted_values(model, X[left], y[left], w[left], X[[j]], None)
            sizes[place] = np.abs(Y[j] - without[0])
        for c in range(t):
            own[i, c], *scale[i, :, c] = (
                defined(S[x, rest], sizes[:, c], w[rest]) for x in (i, n, n + 1)
            )
    counts = w / np.bincount(codes, w)[codes] if grouped else w
    most = 0.3 * (1.0 + counts.sum())
    scores = np.abs(Y - values[:, 0]) / own
    for q in range(2):
        for c in range(t):
            reach = scores[:, c] * scale[:, q, c]
            expected = ends(values[:, 1 + q, c], reach, counts, most)
            np.testing.assert_allclose(found[q, c], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["svr", "stack", "orthogonal"])
def test_by_folds_scales_are_those_of_the_models_of_the_folds(kind):
    model = {
        "svr": LeastSquaresSVR(random_state=0),
        "stack": StackedKernelRegressor(("rbf", "laplacian"), random_state=0),
        "orthogonal": OrthogonalKernelRegressor(gamma=0.5, ridge="loo", max_basis=6),
    }[kind]
    X, y = make_samples(model, 30)
    found = model.fit(X, y).predict_interval(queries(), 0.8, "cv+", "local")
    without, now = apart(model), model._now
    fold, k = now.holdings.folds, int(0.2 * 31)
    f = np.stack([one.outputs(queries())[:, 0] for one in without])
    own = np.array([without[i].outputs(X[[i]])[0, 0] for i in range(30)])
    scale, at_own = np.empty((30, len(queries()))), np.empty(30)
    for i in range(30):
        spec, rest = now.fold_specs[fold[i]], fold != fold[i]
        held = now.holdings.without(np.flatnonzero(~rest))
        sizes = np.abs(y[rest] - spec.build(held).loo(held)[:, 0])
        at = np.vstack([X[[i]], queries()])
        S = sum(a * (np.asarray(kernel(at, X[rest])) - 0.5) for a, kernel in spec.near())
        at_own[i], *scale[i] = (defined(row, sizes, np.ones(rest.sum())) for row in S)
    reach = (np.abs(y - own) / at_own)[:, None] * scale
    np.testing.assert_allclose(found[:, 0], np.sort(f - reach, axis=0)[k - 1])
    np.testing.assert_allclose(found[:, 1], np.sort(f + reach, axis=0)[-k])
    if kind != "orthogonal":  # what is taken where something was chosen on the samples
        np.testing.assert_array_equal(model.predict_interval(queries(), 0.8), found)


def noisy(rng, n):
    """A curve that is quiet at the left and noisy at the right."""
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(X[:, 0]) + np.where(X[:, 0] > 0, 0.6, 0.1) * rng.standard_normal(n)


def test_widths_follow_the_noise_and_cover_everywhere():
    rng = np.random.default_rng(0)
    model = LeastSquaresSVR(gamma=1.0, C=3.0)
    hit = {"local": [], "constant": []}
    widths = {"local": [], "constant": []}
    for _ in range(5):
        model.fit(*noisy(rng, 200))
        X, y = noisy(rng, 400)
        right = X[:, 0] > 0
        for width, found in hit.items():
            low, high = model.predict_interval(X, 0.9, "jackknife+", width).T
            inside = (low <= y) & (y <= high)
            found.append([inside[right].mean(), inside[~right].mean()])
            widths[width].append([(high - low)[right].mean(), (high - low)[~right].mean()])
    right, left = np.mean(hit["local"], axis=0)
    assert 0.86 < right < 0.95
    assert 0.86 < left < 0.98
    assert np.mean(hit["constant"], axis=0)[0] < 0.85
    right, left = np.mean(widths["local"], axis=0)
    assert right > 2.5 * left


def test_live_after_learning_and_forgetting():
    rng = np.random.default_rng(1)
    X, y = noisy(rng, 60)
    whole = LeastSquaresSVR(gamma=1.0, C=3.0).fit(X[10:50], y[10:50])
    live = LeastSquaresSVR(gamma=1.0, C=3.0).fit(X[:30], y[:30])
    live.predict_interval(X, **LOCAL)  # what is known of the first samples must not stay
    live.partial_fit(X[30:50], y[30:50]).forget(np.arange(10))
    expected = whole.predict_interval(X, **LOCAL)
    np.testing.assert_allclose(live.predict_interval(X, **LOCAL), expected, atol=1e-9)


def test_values_of_a_precomputed_kernel():
    rng = np.random.default_rng(2)
    X, y = noisy(rng, 40)
    new, _ = noisy(rng, 5)
    plain = LeastSquaresSVR(gamma=1.0, C=3.0).fit(X, y)
    known = LeastSquaresSVR("precomputed", C=3.0).fit(rbf_kernel(X, gamma=1.0), y)
    K = rbf_kernel(new, X, gamma=1.0)
    expected = plain.predict_interval(new, **LOCAL)
    np.testing.assert_allclose(known.predict_interval(K, **LOCAL), expected, atol=1e-9)
    K = np.column_stack([K, np.ones(5)])
    for width in ("local", "constant"):
        expected = plain.predict_interval(new, 0.8, "cv+", width)
        folds = known.predict_interval(K, 0.8, "cv+", width)
        assert folds.shape == expected.shape


def test_many_samples_take_no_more_memory(monkeypatch):
    """Residuals of pairs that are too many to keep are computed once more, and are the same."""
    rng = np.random.default_rng(3)
    X, y = noisy(rng, 50)
    model = LeastSquaresSVR(gamma=1.0, C=3.0).fit(X, y)
    expected = model.predict_interval(X, **LOCAL)
    monkeypatch.setattr("gramian.core.estimators._local_widths._KEPT_BYTES", 0)
    again = LeastSquaresSVR(gamma=1.0, C=3.0).fit(X, y)
    for _ in range(2):
        np.testing.assert_array_equal(again.predict_interval(X, **LOCAL), expected)
    assert "pair sizes" not in again._now.cache


def test_perfect_samples():
    X = np.arange(20.0)[:, None]
    model = LeastSquaresSVR(gamma=0.1, C=1.0).fit(X, np.full(20, 3.0))
    low, high = model.predict_interval([[4.5]], **LOCAL)[0]
    assert low == pytest.approx(3.0)
    assert high == pytest.approx(3.0)


@shapes
@pytest.mark.parametrize("name", REGRESSORS)
def test_density_regions_are_those_of_refits_with_the_query(name, targets, weights):
    """Left-out residuals over the deviations that a Gaussian process gives left-out targets."""
    X, y, w = samples(seed=3, targets=targets, weights=weights)
    model = edited(REGRESSORS[name], X, y, w)
    X, y, w = model.X_fit_, model.y_fit_, model.sample_weight_
    new = np.array([X[0], [3.0, -2.0]])
    found = model.predict_region(new, 0.7, width="density")
    hulls = model.predict_interval(new, 0.7, "full", "density").reshape(2, -1, 2)
    same = model.predict_interval(new, 0.7, width="density").reshape(hulls.shape)
    np.testing.assert_array_equal(hulls, same)
    for q, query in enumerate(new):
        joint, counts = np.vstack([X, query]), np.append(w, 1.0)
        spread = deviations(model, joint, counts)
        for c, part in enumerate(found[q] if targets else [found[q]]):
            assert hulls[q, c].tolist() == [part[0, 0], part[-1, 1]]
            finite = part[np.isfinite(part)]
            nudge = 1e-8 * (1.0 + np.abs(finite))
            for value in np.concatenate([[-30.0, 30.0], finite - nudge, finite + nudge]):
                Y = np.concatenate([y, np.full_like(y[:1], value)])
                left = [
                    refitted_values(
                        model,
                        np.delete(joint, i, axis=0),
                        np.delete(Y, i, axis=0),
                        np.delete(counts, i),
                        joint[[i]],
                        None,
                    )[0, c]
                    for i in range(len(joint))
                ]
                sizes = np.abs(Y.reshape(len(Y), -1)[:, c] - left) / spread
                p = counts[sizes >= sizes[-1]].sum() / counts.sum()
                inside = np.any((part[:, 0] <= value) & (value <= part[:, 1]))
                assert inside == (p > 0.3)


def deviations(model, X, w):
    """√(variance of a left-out target), noise included, in units of that of the noise."""
    out = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        total = 0.0
        names = model.kernel if isinstance(model.kernel, tuple) else (model.kernel,)
        for share, name in zip(getattr(model, "weights_", [1.0]), names, strict=True):
            total += share * np.sqrt(variance(model, name, X[rest], w[rest], X[i], w[i]))
        out.append(total)
    return np.array(out)


def variance(model, name, X, w, x, own):
    if hasattr(model, "basis_"):  # fixed features with a penalty
        C = model.basis_
        psi = [
            np.column_stack([np.ones(len(Z)), rbf_kernel(Z, C, gamma=0.5)]) for Z in (X, x[None])
        ]
        penalty = np.zeros((len(C) + 1, len(C) + 1))
        penalty[1:, 1:] = model.ridge_ * rbf_kernel(C, gamma=0.5)
        N = np.linalg.inv((psi[0].T * w) @ psi[0] + penalty)
        return 1.0 / own + (psi[1] @ N @ psi[1].T)[0, 0]
    kernel = {
        "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.5),
        "laplacian": lambda A, B: np.exp(-0.5 * np.abs(A[:, None] - B).sum(axis=2)),
        "linear": lambda A, B: A @ B.T,
    }[name]
    # The best linear unbiased prediction Σ v_i y_i with Σ v_i = 1, as of an intercept nothing is
    # known beforehand: its weights, and the variance of what it leaves.
    n, one = len(X), np.ones((len(X), 1))
    A, k = kernel(X, X) + np.diag(0.1 / w), kernel(X, x[None])
    v = np.linalg.solve(np.block([[A, one], [one.T, np.zeros((1, 1))]]), np.vstack([k, [[1.0]]]))
    left = (v[:n].T @ A @ v[:n] - 2.0 * v[:n].T @ k + kernel(x[None], x[None]))[0, 0]
    return 1.0 / own + left / 0.1


def test_choices_that_do_not_go_together():
    X, y, _ = samples(n=12, targets=0)
    model = LeastSquaresSVR(gamma=0.5, C=1.0).fit(X, y)
    with pytest.raises(ValueError, match="width must be one of"):
        model.predict_interval(X, width="wide")
    with pytest.raises(ValueError, match=r'"local" is not for method="full".*Take method="jackk'):
        model.predict_interval(X, method="full", width="local")
    with pytest.raises(ValueError, match=r'"density" is not for method="cv\+".*method="full"'):
        model.predict_interval(X, method="cv+", width="density")
    with pytest.raises(ValueError, match='"local" is not for method="full"'):
        model.predict_region(X, width="local")
    expected = model.predict_interval(X, 0.5, **LOCAL)
    np.testing.assert_array_equal(model.predict_interval(X, 0.5, width="local"), expected)
    full = model.predict_interval(X, 0.5, "full", "constant")
    np.testing.assert_array_equal(model.predict_interval(X, 0.5), full)


def test_a_stack_without_weights_takes_its_kernels_alike():
    X, y, _ = samples(n=30, targets=0)
    stack = StackedKernelRegressor(("rbf", "laplacian"), gamma=0.5, C=1.0, weights=[0.3, 0.7])
    spec = stack.fit(X, y)._now.spec
    assert [share for share, _ in spec.near()] == [0.3, 0.7]
    assert [share for share, _ in replace(spec, weights=np.zeros(2)).near()] == [1.0, 1.0]


def test_what_has_no_kernel_says_so():
    spec = EllipsoidalFuzzyClassifier()._spec()
    with pytest.raises(ValueError, match=r'which samples are near.*Take width="constant"'):
        spec.near()


def test_a_model_that_was_not_built_yet():
    """A pickle holds no matrix; widths build it."""
    X, y, _ = samples(n=20, targets=0)
    model = LeastSquaresSVR(gamma=0.5, C=1.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    expected = model.predict_interval(X[:3], **LOCAL)
    np.testing.assert_allclose(again.predict_interval(X[:3], **LOCAL), expected)
    now = pickle.loads(pickle.dumps(model))._now
    found = next(iter(now.engine.without_pairs(now.holdings)))
    np.testing.assert_allclose(found[1].shape, (20, 20, 1))
