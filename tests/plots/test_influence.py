"""The influence of samples on a model, against n real refits."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.gaussian_process.kernels import RBF

from gramian import (
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LagrangianSVC,
    LeastSquaresSVC,
    LeastSquaresSVR,
)
from gramian.plots import InfluenceDisplay, sample_influence
from tests.plots.conftest import draw, make_samples
from tests.tolerance import tolerance

N = 24
MODELS = {
    "kda": (KernelDiscriminant(gamma=0.5, ridge=0.1), 2),
    "kda-3": (KernelDiscriminant(gamma=0.5, ridge=0.1), 3),
    "kda-fisher": (KernelDiscriminant(gamma=0.5, ridge=0.1, targets="fisher"), 2),
    "kda-fisher-3": (KernelDiscriminant(gamma=0.5, ridge=0.1, targets="fisher"), 3),
    "kda-cholesky": (KernelDiscriminant(gamma=0.5, ridge=0.1, factor="cholesky"), 2),
    "kda-class-weight": (KernelDiscriminant(gamma=0.5, ridge=0.1, class_weight={"a": 3.0}), 2),
    "kfd": (KernelFisherDiscriminant(gamma=0.5, ridge=0.1), 2),
    "kfd-3": (KernelFisherDiscriminant(gamma=0.5, ridge=0.1, penalize_bias=True), 3),
    "ls-svc": (LeastSquaresSVC(gamma=0.5, C=10.0), 3),
    "ls-svc-linear": (LeastSquaresSVC(kernel="linear", C=10.0), 2),
    "ls-svr": (LeastSquaresSVR(gamma=0.5, C=10.0), None),
}


def outputs(model, X):
    """Decision values or predictions, of shape (n, t)."""
    values = model.decision_function(X) if is_classifier(model) else model.predict(X)
    return values.reshape(len(values), -1)


def by_refits(estimator, X, y, weight):
    """Distances ‖f₋ᵢ(x_j) − f(x_j)‖, of shape (n, n), one column for each leaving sample i."""
    before = outputs(clone(estimator).fit(X, y, sample_weight=weight), X)
    distance = np.empty((len(X), len(X)))
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        fresh = clone(estimator).fit(X[rest], y[rest], sample_weight=weight[rest])
        distance[:, i] = np.linalg.norm(outputs(fresh, X) - before, axis=1)
    return distance


def assert_is(influence, distance):
    own = np.diagonal(distance).copy()
    others = distance - np.diag(own)
    atol = max(1.0, distance.max()) * tolerance(len(own), cond=len(own) / 0.1, power=1)
    np.testing.assert_allclose(influence.own, own, rtol=0, atol=atol)
    np.testing.assert_allclose(influence.largest, others.max(axis=0), rtol=0, atol=atol)
    rms = np.sqrt(np.mean(distance**2, axis=0))
    np.testing.assert_allclose(influence.rms, rms, rtol=0, atol=atol)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_refits(name, weighted):
    estimator, classes = MODELS[name]
    X, labels, response = make_samples(n=N, classes=classes or 2)
    y = response if classes is None else labels
    weight = np.random.default_rng(1).uniform(0.5, 2.0, N) if weighted else np.ones(N)
    model = clone(estimator).fit(X, y, sample_weight=weight)
    assert_is(sample_influence(model), by_refits(estimator, X, y, weight))


def test_after_edits():
    X, y, _ = make_samples(n=N + 10)
    estimator = MODELS["kda"][0]
    model = clone(estimator).fit(X[:N], y[:N]).partial_fit(X[N:], y[N:]).forget(range(10))
    assert_is(sample_influence(model), by_refits(estimator, X[10:], y[10:], np.ones(N)))


def test_several_targets():
    X, _, response = make_samples(n=N)
    y = np.column_stack([response, response**2])
    estimator = MODELS["ls-svr"][0]
    model = clone(estimator).fit(X, y)
    assert_is(sample_influence(model), by_refits(estimator, X, y, np.ones(N)))


def test_precomputed_kernels():
    X, y, _ = make_samples(n=N)
    K = RBF()(X)  # exp(−½‖x − y‖²)
    model = KernelDiscriminant(kernel="precomputed", ridge=0.1).fit(K, y)
    assert_is(sample_influence(model), by_refits(MODELS["kda"][0], X, y, np.ones(N)))


def test_in_blocks(monkeypatch):
    """More samples than a block of bounded memory holds."""
    X, y, _ = make_samples(n=N, classes=3)
    model = clone(MODELS["kda-fisher-3"][0]).fit(X, y)
    whole = sample_influence(model)
    monkeypatch.setattr(
        "gramian.core.estimators._influence.row_blocks",
        lambda n, _: (slice(start, min(start + 5, n)) for start in range(0, n, 5)),
    )
    for part, expected in zip(sample_influence(model), whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=tolerance(N))


def test_models_without_a_closed_form():
    X, y, _ = make_samples(n=N)
    for estimator in (
        KernelDiscriminant(gamma=4.0, ridge=0.0),
        LagrangianSVC(),
        LagrangianSVC(kernel="linear"),
    ):
        with pytest.raises(ValueError, match=f"this {type(estimator).__name__} does not"):
            sample_influence(estimator.fit(X, y))


def test_display():
    X, y, _ = make_samples(n=N)
    model = clone(MODELS["kda"][0]).fit(X, y, ids=np.arange(100, 100 + N))
    display = draw(InfluenceDisplay.from_estimator(model, n_samples=6))
    top = np.argsort(-sample_influence(model).rms)[:6]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [str(100 + i) for i in top]
    widths = {round(bar.get_y() + 0.35): bar.get_width() for bar in display.ax_.patches}
    np.testing.assert_array_equal([widths[k] for k in range(6)], display.influence[top])
    np.testing.assert_array_equal(display.wrong, model.loo_predict() != y)
    legend = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert {"right when left out", "wrong when left out"} < legend


def test_display_of_a_regressor():
    X, _, response = make_samples(n=N)
    model = clone(MODELS["ls-svr"][0]).fit(X, response)
    display = draw(InfluenceDisplay.from_estimator(model))
    assert display.wrong is None
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["median of all samples"]
