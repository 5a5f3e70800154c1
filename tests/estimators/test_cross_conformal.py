"""Sets and intervals after tuning: p-values and ends against their definition, and coverage."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from gramian import LeastSquaresSVC, LeastSquaresSVR, StackedKernelClassifier
from tests.estimators.conftest import TUNED, make_samples, queries, values

CLASSIFIERS = [name for name, model in TUNED.items() if is_classifier(model)]
REGRESSORS = [name for name in TUNED if name not in CLASSIFIERS]


def apart(model):
    """A model fitted without each fold with what was chosen without it, for each sample."""
    now, found = model._now, {}
    for k, spec in enumerate(now.fold_specs):
        rest = now.holdings.without(np.flatnonzero(now.holdings.folds == k))
        found[k] = spec.build(rest).predictor(rest)
    return [found[k] for k in now.holdings.folds]


def score(f, label):
    """Best other output minus own."""
    f = np.array([-f[0], f[0]]) / 2 if len(f) == 1 else f
    return np.delete(f, label).max() - f[label]


@pytest.mark.slow
@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_p_values_are_those_of_the_definition(name, classes, mondrian):
    model = clone(TUNED[name])
    X, y = make_samples(model, 30, classes=classes)
    found = model.fit(X, y).p_values(queries(), mondrian)
    without = apart(model)
    own = [score(without[i].outputs(X[[i]])[0], y[i]) for i in range(30)]
    for q, x in enumerate(queries()):
        for label in range(classes):
            at = [score(one.outputs(x[None])[0], label) for one in without]
            counted = [i for i in range(30) if not mondrian or y[i] == label]
            larger = sum(own[i] >= at[i] for i in counted)
            assert found[q, label] == pytest.approx((1 + larger) / (1 + len(counted)))


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSORS)
def test_intervals_are_those_of_the_definition(name):
    model = clone(TUNED[name])
    X, y = make_samples(model, 30)
    found = model.fit(X, y).predict_interval(queries(), 0.8, width="constant")
    without = apart(model)
    R = np.array([abs(y[i] - without[i].outputs(X[[i]])[0, 0]) for i in range(30)])
    k = int(0.2 * 31)
    for x, (low, high) in zip(queries(), found, strict=True):
        f = np.array([one.outputs(x[None])[0, 0] for one in without])
        assert low == pytest.approx(np.sort(f - R)[k - 1])
        assert high == pytest.approx(np.sort(f + R)[-k])


def test_which_method_is_taken():
    given, tuned = LeastSquaresSVC(gamma=0.5, C=1.0), LeastSquaresSVC(random_state=0)
    X, y = make_samples(given, 40)
    given.fit(X, y), tuned.fit(X, y)
    for model, method in ((given, "full"), (tuned, "cv+")):
        expected = model.p_values(queries(), method=method)
        np.testing.assert_array_equal(model.p_values(queries()), expected)
    aside = LeastSquaresSVC(tuning_fraction=0.4, random_state=0).fit(X, y)
    full = aside.p_values(queries(), method="full")
    np.testing.assert_array_equal(aside.p_values(queries()), full)
    with pytest.raises(ValueError, match="method must be one of"):
        given.predict_set(queries(), method="cv")


@pytest.mark.slow
def test_persons_count_as_one_each():
    """Persons with many rows and an answer of their own: new persons are what is promised for."""
    rng = np.random.default_rng(0)
    hit = {"alone": [], "together": []}
    for _ in range(6):
        persons = np.repeat(np.arange(50), rng.integers(1, 9, 50))
        centre, own = rng.standard_normal((2, 50)), 2.0 * rng.standard_normal(50)
        X = centre.T[persons] + 0.1 * rng.standard_normal((len(persons), 2))
        y = own[persons] + 0.1 * rng.standard_normal(len(persons))
        new = rng.standard_normal((200, 2)), 2.0 * rng.standard_normal(200)
        for name, groups in (("alone", None), ("together", persons)):
            model = LeastSquaresSVR(gamma=2.0, C=30.0).fit(X, y, groups=groups)
            low, high = model.predict_interval(new[0]).T
            hit[name].append(np.mean((low <= new[1]) & (new[1] <= high)))
    assert np.mean(hit["alone"]) < 0.75
    assert 0.85 < np.mean(hit["together"]) < 0.97


@pytest.mark.slow
def test_noise_is_covered_as_promised():
    """Coin flips, and features enough to buy any error: sets hold nine in ten, in the mean."""
    hit = {"auto": [], "full": []}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 120)), rng.permutation(np.arange(60) % 2)
        new, truth = rng.standard_normal((200, 120)), rng.integers(0, 2, 200)
        model = StackedKernelClassifier(("laplacian", "laplacian+diagonal")).fit(X, y)
        for method, found in hit.items():
            sets = model.predict_set(new, method=method)
            found.append(sets[np.arange(200), truth].mean())
    assert np.mean(hit["auto"]) > 0.85
    assert np.mean(hit["full"]) < np.mean(hit["auto"])


def test_values_are_read_as_the_model_reads_them():
    model = LeastSquaresSVC("precomputed", C=1.0)
    X, y = make_samples(model, 30)
    K = lambda A, B: np.exp(-0.5 * ((A[:, None] - B) ** 2).sum(axis=2))  # noqa: E731
    groups = np.arange(30) // 2
    rows = np.column_stack([K(queries(), X), np.ones(len(queries()))])
    found = model.fit(K(X, X), y, groups=groups).predict_set(rows)
    plain = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y, groups=groups)
    folds = model._now.holdings.folds
    assert found.shape == (7, 2)
    assert all(len(set(folds[groups == g])) == 1 for g in groups)
    close = np.abs(values(plain, X) - model.decision_function(K(X, X))).max()
    assert close < 1e-8  # the same model, by rounding
