"""`metric="diagonal"` and `kernel="loo"`: what is chosen, and that it stays until `reselect`."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

import gramian
from gramian import (
    ChoiceWarning,
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LeastSquaresSVC,
    LeastSquaresSVR,
)
from gramian.core.engines import DenseSpec
from gramian.core.equations import feature_scales
from tests.estimators.conftest import values
from tests.estimators.tuning.conftest import strength, strength_name

MODELS = {
    "kda": KernelDiscriminant(gamma=0.2, ridge=0.1, metric="diagonal"),
    "kda-laplacian": KernelDiscriminant("laplacian", gamma=0.2, ridge=0.1, metric="diagonal"),
    "kfd": KernelFisherDiscriminant(gamma=0.2, ridge=0.01, metric="diagonal"),
    "lssvc": LeastSquaresSVC("exponential", gamma=0.2, C=10.0, metric="diagonal"),
    "lssvr": LeastSquaresSVR("laplacian", gamma=0.2, C=10.0, metric="diagonal"),
}
KERNELS = ("rbf", "laplacian", "exponential")


def samples(model, n=100, d=8, seed=0):
    """Only the first two features say something."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signal = X[:, 0] + np.sin(2 * X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, (signal > 0).astype(int) if is_classifier(model) else signal


def plain(model):
    """The same estimator without a metric, with the values in use."""
    given = {strength_name(model): 1 / strength(model) if hasattr(model, "C_") else strength(model)}
    return clone(model).set_params(
        metric=None, kernel=model.kernel_.name, gamma=model.gamma_, **given
    )


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def test_the_metric_multiplies_the_features(model):
    X, y = samples(model)
    model.fit(X, y)
    assert np.all(model.metric_[:2] > 1.1 * model.metric_[2:].max())
    assert model.gamma_ == 0.2
    assert model.chosen_on_data_ == ("metric",)
    scaled = plain(model).fit(X * model.metric_, y)
    queries, _ = samples(model, seed=1)
    np.testing.assert_allclose(values(model, queries), values(scaled, queries * model.metric_))


def test_the_metric_is_that_of_the_machine_without_one(model):
    X, y = samples(model)
    first = clone(model).set_params(metric=None).fit(X, y)
    kernel, Z = first.kernel_, first.dual_coef_.reshape(len(X), -1)
    expected = feature_scales(kernel, X, Z, np.ones(len(X)))
    np.testing.assert_allclose(model.fit(X, y).metric_, expected, rtol=1e-9)


def test_the_metric_stays_under_edits_and_in_files(model, tmp_path):
    X, y = samples(model)
    model.fit(X[:90], y[:90])
    metric = model.metric_
    model.partial_fit(X[90:], y[90:]).forget([3, 7, 91])
    gramian.save(model, tmp_path / "model")
    loaded = gramian.load(tmp_path / "model")
    expected = plain(model).fit(model.X_fit_ * metric, model.y_fit_)
    for one in (model, loaded):
        np.testing.assert_array_equal(one.metric_, metric)
        assert one.chosen_on_data_ == ("metric",)
        got, wanted = values(one, one.X_fit_), values(expected, model.X_fit_ * metric)
        np.testing.assert_allclose(got, wanted, atol=1e-9)
        loo = expected.loo_decision_function()
        np.testing.assert_allclose(one.loo_decision_function(), loo, atol=1e-9)
    loaded.forget(9)
    model.reselect(fresh=True)
    assert not np.array_equal(model.metric_, metric)
    again = clone(model).fit(model.X_fit_, model.y_fit_)
    np.testing.assert_allclose(model.metric_, again.metric_, rtol=1e-9)


def test_sparse_samples_have_the_same_metric(model):
    X, y = samples(model)
    X[:, 2:][X[:, 2:] < 0] = 0.0
    dense, csr = clone(model).fit(X, y), model.fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.metric_, dense.metric_, rtol=1e-9)
    np.testing.assert_allclose(values(csr, sparse.csr_array(X)), values(dense, X), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_that_of_the_samples(dtype):
    model = clone(MODELS["lssvc"])
    X, y = samples(model)
    assert values(model.fit(X.astype(dtype), y), X.astype(dtype)).dtype == dtype


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramian.ChoiceWarning")
@pytest.mark.parametrize("one", [LeastSquaresSVC, LeastSquaresSVR, KernelDiscriminant])
def test_a_metric_that_noise_has_bought_is_dropped(one):
    """The factors alone make the leave-one-out error of coin flips what one likes."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 150))
        y = rng.integers(0, 2, 60) if is_classifier(one()) else rng.standard_normal(60)
        model, plain = one(metric="diagonal").fit(X, y), one().fit(X, y)
        bought = model._spec().with_factors(plain._now.holdings, plain._now.spec).selection.value
        assert bought < 0.8 * plain.selection_.value
        np.testing.assert_array_equal(model.metric_, np.ones(150))
        assert model.loo_score() == pytest.approx(plain.loo_score())


def test_dropping_a_metric_is_said_and_so_are_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 40)), rng.integers(0, 2, 30)
    model = LeastSquaresSVC(gamma=0.1, C=1.0, metric="diagonal")
    with (
        pytest.warns(ChoiceWarning, match="fits 40 numbers, one for each feature, to 30 samples"),
        pytest.warns(ChoiceWarning, match="the metric was dropped"),
    ):
        model.fit(X, y)
    np.testing.assert_allclose(
        values(model, X), values(LeastSquaresSVC(gamma=0.1, C=1.0).fit(X, y), X), atol=1e-12
    )


def test_everything_is_tuned_again_with_the_metric():
    model = LeastSquaresSVR(metric="diagonal", random_state=0)
    X, y = samples(model, 80, d=8)
    model.fit(X, y)
    assert model.chosen_on_data_ == ("gamma", "C", "metric")
    given = {"gamma": model.gamma_, "C": model.C_}
    unit = LeastSquaresSVR(random_state=0).fit(X, y)
    assert model.loo_score() > unit.loo_score()
    assert LeastSquaresSVR(**given).fit(X * model.metric_, y).loo_score() == pytest.approx(
        model.loo_score()
    )


@pytest.mark.parametrize("bad", ["full", 3, np.ones(4)])
def test_metrics_that_there_are(bad):
    model = LeastSquaresSVC(gamma=0.5, C=1.0, metric=bad)
    with pytest.raises(ValueError, match="metric must be one of"):
        model.fit(*samples(model))


@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed", np.dot])
def test_a_metric_needs_a_kernel_of_a_distance(kernel):
    model = LeastSquaresSVC(kernel, C=1.0, metric="diagonal")
    with pytest.raises(ValueError, match="metric='diagonal' needs one of the kernels"):
        model.fit(*samples(model))


@pytest.mark.parametrize(
    ("metric", "gamma", "wanted"),
    [
        ("diagonal", np.ones(4), "one number or"),
        ("ard", np.ones(4), '"loo"'),
        ("ard", 1.0, '"loo"'),
    ],
)
def test_a_metric_leaves_one_width_to_choose(metric, gamma, wanted):
    model = LeastSquaresSVC(gamma=gamma, C=1.0, metric=metric)
    with pytest.raises(ValueError, match=f"gamma must be {wanted}"):
        model.fit(*samples(model))


# -- the kernel ---------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [None, "diagonal"])
def test_the_kernel_has_the_least_criterion(metric, tmp_path):
    model = LeastSquaresSVC("loo", metric=metric, random_state=0)
    X, y = samples(model, 50)
    model.fit(X, y)
    each = [LeastSquaresSVC(kernel, random_state=0).fit(X, y) for kernel in KERNELS]
    best = min(each, key=lambda one: one.selection_.value)
    assert model.kernel_.name == best.kernel_.name == best.kernel
    assert model.chosen_on_data_[:3] == ("kernel", "gamma", "C")
    if metric is None:
        assert (model.gamma_, model.C_) == (best.gamma_, best.C_)
    gramian.save(model, tmp_path / "model")
    loaded = gramian.load(tmp_path / "model")
    assert loaded.kernel_ == model.kernel_
    assert loaded.chosen_on_data_ == model.chosen_on_data_
    np.testing.assert_array_equal(values(loaded, X), values(model, X))
    assert loaded.forget([1, 2]).kernel_ == model.kernel_
    assert type(loaded._now.spec) is DenseSpec
    loaded.reselect()


def test_the_lagrangian_machine_takes_the_kernel_of_the_least_squares_one(tmp_path):
    X, y = samples(LeastSquaresSVC(), 50)
    model, expected = gramian.LagrangianSVC("loo").fit(X, y), LeastSquaresSVC("loo").fit(X, y)
    assert (model.kernel_, model.gamma_, model.C_) == (
        *(expected.kernel_, expected.gamma_),
        expected.C_,
    )
    gramian.save(model, tmp_path / "model")
    assert gramian.load(tmp_path / "model").forget(3).kernel_ == model.kernel_
    assert gramian.LagrangianSVC("linear", C=1.0).fit(X, y).kernel_.name == "poly"


def test_other_searches_do_not_choose_the_kernel():
    with pytest.raises(ValueError, match='kernel="loo" chooses a width for each kernel'):
        LeastSquaresSVC("loo", gamma=0.5).fit(*samples(LeastSquaresSVC()))
    with pytest.raises(ValueError, match=r"kernel must be .* got 'loo'"):
        gramian.EllipsoidalFuzzyClassifier("loo").fit(*samples(LeastSquaresSVC()))


@pytest.mark.parametrize("kernel", ["laplacian", "exponential"])
def test_widths_of_features_are_for_every_kernel_of_a_distance(kernel):
    model = LeastSquaresSVR(kernel, metric="ard", random_state=0)
    X, y = samples(model, 40, d=4)
    common = LeastSquaresSVR(kernel, random_state=0).fit(X, y)
    assert model.fit(X, y).gamma_.shape == (4,)
    assert model.gamma_[:2].min() > model.gamma_[2:].max()
    assert model.loo_score() > common.loo_score()
