"""Sets and intervals against brute force: n + 1 real refits for every query and every label."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from tests.estimators.conftest import CLASSIFIERS, ESTIMATORS, REGRESSORS

TOL = 1e-8  # what the closed forms promise against refits; ties are wider, see `p_values`
LARGE = 30.0  # logarithms of distances that are 0 but for rounding, or infinite
KNOWN = [0, 1, 2]
SLOW = {"lsvc-iteration", "kda-inverse"}  # the engine of "lsvc", the factor of "kda"
OTHER = {
    "class-weight": LeastSquaresSVC(gamma=0.5, C=10.0, class_weight={1: 3.0}),
    "class-weight-linear": LeastSquaresSVC("linear", C=1.0, class_weight={1: 3.0}),
    "balanced": LeastSquaresSVC(gamma=0.5, C=10.0, class_weight="balanced"),
    "balanced-linear": LeastSquaresSVC("linear", C=1.0, class_weight="balanced"),
}


def samples(seed=0, n=11, two=False, targets=None, weights=False):
    """Samples with a class of one sample; numbers in place of labels if targets are asked for."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 1 if two else 2, n)
    y[n // 2 :] += 1
    y[-1] = y.max()
    if targets is not None:
        y = rng.normal(size=(n, targets)) if targets else rng.normal(size=n)
    return X, y, rng.uniform(0.5, 2.0, n) if weights else np.ones(n)


def edited(model, X, y, w):
    """A model after a random script of edits, that holds all samples but three."""
    model, known = clone(model), {} if np.ndim(y[0]) or y.dtype.kind == "f" else {"classes": KNOWN}
    n = len(y)
    model.partial_fit(X[:9], y[:9], sample_weight=w[:9], ids=np.arange(9), **known)
    model.forget([2, 5])
    model.partial_fit(X[9:], y[9:], sample_weight=w[9:], ids=np.arange(9, n))
    model.forget([9])
    return model


def refitted_values(model, X, y, w, at, classes):
    """Values at some samples of a model trained on others, by a fit with the same parameters."""
    if "max_basis" in model.get_params():
        return basis_values(model, X, y, w, at, classes)
    fresh = clone(model)
    if classes is None:
        return fresh.fit(X, y, sample_weight=w).predict(at).reshape(len(at), -1)
    fresh.partial_fit(X, y, sample_weight=w, classes=classes)
    return np.clip(fresh._outputs(at)[1], -LARGE, LARGE)


def basis_values(model, X, y, w, at, classes):
    """The same on the fixed centres of a model, from its normal equations."""
    C, K = model.basis_, rbf_kernel(model.basis_, gamma=model.gamma_)
    columns = [
        np.column_stack([np.ones(len(Z)), rbf_kernel(Z, C, gamma=model.gamma_)]) for Z in (X, at)
    ]
    Y = y.reshape(len(y), -1) if classes is None else np.where(y[:, None] == classes, 1.0, -1.0)
    penalty = np.zeros((len(K) + 1, len(K) + 1))
    penalty[1:, 1:] = model.ridge_ * K
    solved = np.linalg.solve((columns[0].T * w) @ columns[0] + penalty, (columns[0].T * w) @ Y)
    values = columns[1] @ solved
    return values[:, 1:] if classes is not None and len(classes) == 2 else values


def brute_force(model, X, y, w, classes=None):
    """Left-out values of all samples, by refits."""
    stay = ~np.eye(len(y), dtype=bool)
    rows = [
        refitted_values(model, X[s], y[s], w[s], X[i : i + 1], classes) for i, s in enumerate(stay)
    ]
    return np.concatenate(rows)


def scores_of(F, labels):
    if F.shape[1] == 1:
        return np.where(labels == 1, -F[:, 0], F[:, 0])
    own = F[np.arange(len(labels)), labels]
    return np.array([np.delete(f, k).max() for f, k in zip(F, labels, strict=True)]) - own


@pytest.mark.slow
@pytest.mark.parametrize("name", [*sorted({*CLASSIFIERS} - SLOW), *OTHER])
def test_p_values_are_those_of_refits_with_the_query(name):
    X, y, w = samples(weights=True)
    model = edited({**CLASSIFIERS, **OTHER}[name], X, y, w)
    X, y, w = model.X_fit_, model.y_fit_, model.sample_weight_
    queries = np.array([X[0] + 0.01, [3.0, -2.0]])
    if name != "kda-ridge-0":
        queries[0] = X[0]  # a sample once more: a tie, if it has its label
    found, within = model.p_values(queries), model.p_values(queries, mondrian=True)
    low, high = (model.p_values(queries, smoothed=True, random_state=k) for k in (0, 1))
    now, classes = model._serving(), model.classes_
    if "max_basis" not in model.get_params():
        model = clone(model)
    for rows, block in now.engine.added(now.holdings, queries):
        for label in range(len(classes)):
            F = np.clip(block.decisions(label), -LARGE, LARGE)
            for q, query in enumerate(queries[rows]):
                joint = np.vstack([X, query]), np.append(y, classes[label]), np.append(w, 1.0)
                values = brute_force(model, *joint, classes)
                np.testing.assert_allclose(F[q], values, atol=TOL, rtol=TOL)
                labels = np.append(np.searchsorted(classes, y), label)
                scores = scores_of(values, labels)
                as_strange = (scores >= scores[-1] - 1e-7) * joint[2]
                tied = (np.abs(scores - scores[-1]) <= 1e-7) * joint[2]
                total, own = joint[2].sum(), labels == label
                assert found[q, label] == pytest.approx(as_strange.sum() / total)
                assert within[q, label] == pytest.approx(
                    as_strange[own].sum() / joint[2][own].sum()
                )
                least = (as_strange - tied).sum() / total
                for smoothed, seed in ((low, 0), (high, 1)):
                    u = np.random.RandomState(seed).uniform(size=len(queries))[q]
                    assert smoothed[q, label] == pytest.approx(least + u * tied.sum() / total)


@pytest.mark.parametrize("name", sorted({*CLASSIFIERS} - SLOW))
def test_p_values_of_two_classes(name):
    X, y, w = samples(seed=1, two=True)
    model = clone(CLASSIFIERS[name]).fit(X, y)
    query = np.array([[0.3, 0.1]])
    for label, p in enumerate(model.p_values(query)[0]):
        joint = np.vstack([X, query]), np.append(y, label), np.append(w, 1.0)
        scores = scores_of(brute_force(model, *joint, model.classes_), joint[1])
        assert p == np.mean(scores >= scores[-1] - 1e-7)


shapes = pytest.mark.parametrize(
    ("targets", "weights"), [(0, False), (2, True)], ids=["one", "several-weighted"]
)


def residuals_at(model, X, y, w, query, value):
    """Sizes of the left-out residuals with a query of this target, by refits."""
    joint = np.vstack([X, query]), np.concatenate([y, value]), np.append(w, 1.0)
    Y = joint[1].reshape(len(joint[1]), -1)
    return np.abs(Y - brute_force(model, *joint))


@pytest.mark.slow
@shapes
@pytest.mark.parametrize("name", REGRESSORS)
def test_regions_are_those_of_refits_with_the_query(name, targets, weights):
    X, y, w = samples(seed=3, targets=targets, weights=weights)
    model = edited(REGRESSORS[name], X, y, w)
    X, y, w = model.X_fit_, model.y_fit_, model.sample_weight_
    queries = np.array([X[0], [3.0, -2.0]])
    regions, hulls = model.predict_region(queries, 0.7), model.predict_interval(queries, 0.7)
    assert hulls.shape == (2, 2) if targets == 0 else (2, 2, 2)
    hulls = hulls.reshape(2, -1, 2)
    for q, query in enumerate(queries):
        parts = regions[q] if targets else [regions[q]]
        for j, part in enumerate(parts):
            assert np.array_equal(hulls[q, j], [part[0, 0], part[-1, 1]])
            ends = part[np.isfinite(part)]
            nudge = 1e-6 * (1.0 + np.abs(ends))
            grid = np.concatenate([[-30.0, 0.0, 30.0], ends - nudge, ends + nudge])
            for value in grid:
                sizes = residuals_at(model, X, y, w, query, np.full_like(y[:1], value))[:, j]
                p = np.append(w, 1.0)[sizes >= sizes[-1]].sum() / (1.0 + w.sum())
                inside = np.any((part[:, 0] <= value) & (value <= part[:, 1]))
                assert inside == (p > 0.3)


def ends(values, reach, w, most):
    """Both ends of a jackknife+ interval: order statistics, counted by weight."""
    out = []
    for sign in (-1.0, 1.0):
        each = values + sign * reach
        order = np.argsort(-sign * each)
        few = np.cumsum(w[order]) <= most
        out.append(each[order][few][-1] if few.any() else sign * np.inf)
    return out


@shapes
@pytest.mark.parametrize("name", REGRESSORS)
def test_jackknife_plus_is_that_of_refits_without_each_sample(name, targets, weights):
    X, y, w = samples(seed=3, targets=targets, weights=weights)
    model = edited(REGRESSORS[name], X, y, w)
    X, y, w = model.X_fit_, model.y_fit_, model.sample_weight_
    queries, Y = np.array([X[0], [3.0, -2.0]]), y.reshape(len(y), -1)
    stay, most = ~np.eye(len(y), dtype=bool), 0.3 * (1.0 + w.sum())
    found = model.predict_interval(queries, 0.7, "jackknife+", "constant").reshape(2, -1, 2)
    both = [
        refitted_values(model, X[s], y[s], w[s], np.vstack([queries, X[i]]), None)
        for i, s in enumerate(stay)
    ]
    values = np.stack(both)  # (n, 2 queries and the sample itself, targets)
    size = np.abs(Y - values[:, -1])
    for q in range(2):
        for j in range(Y.shape[1]):
            expected = ends(values[:, q, j], size[:, j], w, most)
            assert found[q, j] == pytest.approx(expected, abs=TOL)


def test_classes_without_samples_are_never_excluded_within_their_class():
    X, y, _ = samples()
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).partial_fit(X, y, classes=[0, 1, 2, 3])
    assert np.all(model.p_values(X, mondrian=True)[:, 3] == 1.0)
    assert model.predict_set(X, mondrian=True)[:, 3].all()


@pytest.mark.parametrize("kernel", ["precomputed", "rbf"])
def test_a_precomputed_kernel_takes_the_querys_own_value(kernel):
    X, y, _ = samples()
    K = rbf_kernel(X, gamma=0.5)
    queries = X[:3] + 0.1
    kq = np.column_stack([rbf_kernel(queries, X, gamma=0.5), np.ones(3)])
    model = LeastSquaresSVC("precomputed", C=10.0).fit(K, y)
    plain = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)
    np.testing.assert_allclose(model.p_values(kq), plain.p_values(queries))
    with pytest.raises(ValueError, match="k\\(x, x\\) in a last column"):
        model.p_values(kq[:, :-1])
    numbers = LeastSquaresSVR("precomputed", C=10.0).fit(K, X[:, 0])
    plain = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, X[:, 0])
    full, left = (
        numbers.predict_interval(kq[:, :k], 0.5, m) for k, m in ((None, "full"), (-1, "jackknife+"))
    )
    np.testing.assert_allclose(full, plain.predict_interval(queries, 0.5))
    np.testing.assert_allclose(left, plain.predict_interval(queries, 0.5, "jackknife+"))


def test_few_samples_give_everything():
    X, y, _ = samples(n=8, targets=0)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    everything = [[-np.inf, np.inf]] * 2
    assert model.predict_interval(X[:2]).tolist() == everything
    assert model.predict_interval(X[:2], method="jackknife+").tolist() == everything
    assert np.isfinite(model.predict_interval(X[:2], 8 / 9 - 0.01)).all()
    assert np.isfinite(model.predict_interval(X[:2], 8 / 9)).all()  # p = 1/9 does not exceed 1/9
    one = model.fit(X[:1], y[:1])
    assert one.predict_interval(X[:1]).tolist() == everything[:1]
    with pytest.raises(ValueError, match="at least two samples"):
        one.predict_interval(X[:1], method="jackknife+")


@pytest.mark.parametrize("confidence_level", [0.0, 1.0, -0.1, np.nan, True, "0.9"])
def test_a_confidence_lies_between_0_and_1(confidence_level):
    X, y, _ = samples()
    model = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)
    with pytest.raises(ValueError, match="confidence_level must be a number between 0 and 1, got"):
        model.predict_set(X, confidence_level)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, X[:, 0])
    for method in ("full", "jackknife+"):
        with pytest.raises(
            ValueError, match="confidence_level must be a number between 0 and 1, got"
        ):
            model.predict_interval(X, confidence_level, method)
    with pytest.raises(ValueError, match="method must be"):
        model.predict_interval(X, method="split")


@pytest.mark.parametrize("name", sorted({*ESTIMATORS} - SLOW))
def test_asking_changes_nothing(name):
    """Neither the model nor the result of the next edits."""
    X, y, _ = samples(targets=0 if name in REGRESSORS else None)
    model, twin = (clone(ESTIMATORS[name]).fit(X[:-2], y[:-2]) for _ in range(2))
    ask = model.predict_interval if name in REGRESSORS else model.p_values
    first = ask(X[-2:])
    for one in (model, twin):
        one.partial_fit(X[-2:], y[-2:], ids=[50, 51]).forget([50, 51])
    # Reading checks and refines, so that the last digits may differ.
    found, expected = model.loo_decision_function(), twin.loo_decision_function()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ask(X[-2:]), first, rtol=1e-9, atol=1e-9)


def test_the_prediction_is_inside_at_any_confidence():
    X = np.random.default_rng(0).standard_normal((30, 2))
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, X[:, 0])
    found = model.predict_interval(X[:5], confidence_level=1e-17)
    assert (found[:, 0] <= found[:, 1]).all()
