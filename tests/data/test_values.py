"""Values of samples, against refits without each of them and against all coalitions."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel

from gramian import (
    KernelDiscriminant,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    TableModel,
)
from gramian.core.equations import probabilities
from gramian.core.estimators import free_copy, output_loss, outputs, outputs_without_each
from gramian.data import sample_values
from tests.estimators.conftest import (
    CLASSIFIERS,
    ESTIMATORS,
    MAIN,
    PRECOMPUTABLE,
    REGRESSORS,
    make_samples,
    queries,
)

CLOSED = [name for name, model in ESTIMATORS.items() if "max_basis" not in model.get_params()]


def edited(name, classes=3):
    """A model with weights after learning and forgetting."""
    model = clone(ESTIMATORS[name])
    X, y = make_samples(model, 24, classes=classes)
    if name == "lssvr":
        y = np.column_stack([y, X[:, 2]])
    weight = np.random.default_rng(1).integers(1, 3, 20).astype(float)
    return (
        model.fit(X[:20], y[:20], sample_weight=weight).partial_fit(X[20:], y[20:]).forget([3, 21])
    )


@pytest.mark.parametrize("name", CLOSED)
def test_outputs_without_each_sample(name):
    model, X = edited(name), queries()
    before = model.predict(X)
    F = np.concatenate([F for _, F in outputs_without_each(model, X)])
    scale = max(1.0, np.abs(F).max())
    for k in range(0, len(model.ids_), 2):
        refit = outputs(free_copy(model).forget(model.ids_[k]), X)
        np.testing.assert_allclose(F[:, k], refit, rtol=0, atol=1e-9 * scale)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("name", ["oks", "okr"])
def test_outputs_without_samples_that_are_no_centres(name):
    """A centre stays in the basis here, as in `loo_predict`; `forget` takes it out."""
    model, X = edited(name), queries()
    (_, F), *_ = outputs_without_each(model, X)
    others = np.flatnonzero(~np.isin(model.ids_, model.basis_ids_))
    assert len(others) > 5
    for k in others:
        refit = outputs(free_copy(model).forget(model.ids_[k]), X)
        np.testing.assert_allclose(F[:, k], refit, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "name", [name for name in PRECOMPUTABLE if ESTIMATORS[name].kernel == "rbf"]
)
def test_outputs_without_each_sample_of_a_precomputed_kernel(name):
    model = edited(name)
    gamma, held = model.gamma, model.X_fit_
    other = clone(model).set_params(kernel="precomputed")
    other.fit(rbf_kernel(held, gamma=gamma), model.y_fit_, sample_weight=model.sample_weight_)
    (_, F), *_ = outputs_without_each(model, queries())
    (_, G), *_ = outputs_without_each(other, rbf_kernel(queries(), held, gamma=gamma))
    np.testing.assert_allclose(G, F, rtol=0, atol=1e-8 * max(1.0, np.abs(F).max()))


def test_a_guess_is_wrong_as_often_as_chance():
    model = edited("kda")
    assert output_loss(model, "error").guess(np.zeros(4, dtype=int)).tolist() == [1 - 1 / 3] * 4


@pytest.mark.parametrize(
    ("name", "classes", "loss"),
    [
        *(
            (name, classes, loss)
            for name in CLOSED
            if name in MAIN and name in CLASSIFIERS
            for classes in (2, 3)
            for loss in ("log", "error")
        ),
        *(
            (name, 0, loss)
            for name in CLOSED
            if name in REGRESSORS
            for loss in ("squared", "absolute")
        ),
    ],
)
def test_leave_one_out_values_equal_refits(name, classes, loss):
    model, X = edited(name, classes or 3), queries(9)
    rng = np.random.default_rng(5)
    shape = (9, *model.y_fit_.shape[1:])
    y = rng.integers(0, classes, 9) if classes else rng.standard_normal(shape)
    found = sample_values(model, X, y, loss=loss)
    scale = output_loss(model).scale if classes else None
    base = test_loss(model, X, y, loss, scale)
    refits = [test_loss(free_copy(model).forget(i), X, y, loss, scale) for i in model.ids_]
    assert found.base == pytest.approx(base, rel=1e-12)
    np.testing.assert_allclose(found.values, np.array(refits) - base, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.ids, model.ids_)
    assert not found.standard_errors.any()
    assert found.ranked()[0] == model.ids_[np.argmin(found.values)]
    assert list(found.to_dict()) == ["id", "value", "standard_error"]


def test_loss(model, X, y, loss, scale):
    """The loss by scikit-learn's names, with the probabilities of another model's scale."""
    if loss == "error":
        return np.mean(model.predict(X) != y)
    if loss == "log":
        return log_loss(y, probabilities(outputs(model, X), scale), labels=model.classes_)
    error = (model.predict(X) - y).reshape(len(y), -1)
    return np.mean(np.sum(error**2 if loss == "squared" else np.abs(error), axis=1))


test_loss.__test__ = False


def coalition_losses(model, X, y, empty, loss):
    """Test loss of every coalition, by its members; ``empty`` where there is no model."""
    ids, found = model.ids_.tolist(), {}
    for size in range(len(ids) + 1):
        for members in combinations(ids, size):
            gone = [i for i in ids if i not in members]
            classes = set(model.y_fit_[[ids.index(i) for i in members]].tolist())
            possible = len(classes) >= 2 if is_classifier(model) else members
            found[members] = loss(free_copy(model).forget(gone)) if possible else empty
    return found


@pytest.mark.parametrize("method", ["banzhaf", "shapley"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_coalitions_against_all_of_them(method, kind):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((6, 2)), rng.standard_normal((20, 2))
    if kind == "classes":
        y, y_test = np.array([0, 1, 2, 0, 1, 0]), np.where(T[:, 0] > 0, 1, 0)
        model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y, sample_weight=[1, 2, 1, 1, 3, 1])
        scale, empty, loss = output_loss(model).scale, np.log(3), "log"
    else:
        y, y_test = X[:, 0] + 1.0, T[:, 0] + 1.0
        model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
        scale, empty, loss = None, np.mean(np.abs(y_test)), "absolute"
    y_cols = y_test if kind == "classes" else y_test[:, None]
    losses = coalition_losses(
        model, T, y_test, empty, lambda m: test_loss(Shaped(m), T, y_cols, loss, scale)
    )
    exact, n = np.zeros(6), 6
    for members, value in losses.items():
        for k, i in enumerate(model.ids_.tolist()):
            if i in members:
                without = losses[tuple(j for j in members if j != i)]
                orders = n * comb(n - 1, len(members) - 1)
                exact[k] += (without - value) / (orders if method == "shapley" else 2 ** (n - 1))
    seen = []
    with pytest.warns(ConvergenceWarning, match="above tol=0 after max_draws=25"):
        found = sample_values(
            model, T, y_test, method=method, loss=loss, tol=0.0, max_draws=25, random_state=0,
            callback=seen.append,
        )  # fmt: skip
    assert [values.draws for values in seen] == list(range(1, 26))
    assert np.all(np.abs(found.values - exact) < 4.5 * found.standard_errors + 1e-9)
    if method == "shapley":  # what all are worth together
        assert exact.sum() == pytest.approx(empty - found.base)
    assert sorted(model.ids_) == list(range(6))


class Shaped:
    """A model whose predictions and outputs have two dimensions, as `test_loss` wants."""

    def __init__(self, model):
        self._model = model
        self.classes_ = getattr(model, "classes_", None)

    def _outputs(self, X):
        return self._model._outputs(X)

    def predict(self, X):
        return self._model.predict(X)[:, None]


def test_sampling_ends_and_is_reproducible():
    X, y = make_samples(LeastSquaresSVC(), 40)
    model = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X[:15], y[:15])
    found = sample_values(model, X[15:], y[15:], method="banzhaf", tol=0.5, random_state=3)
    again = sample_values(model, X[15:], y[15:], method="banzhaf", tol=0.5, random_state=3)
    assert found.converged
    assert 10 <= found.draws < 200
    np.testing.assert_array_equal(found.values, again.values)
    assert np.sqrt(np.mean(found.standard_errors**2)) <= 0.5 * np.std(found.values)


def test_a_table_has_its_own_targets():
    rng = np.random.default_rng(0)
    x, late = rng.standard_normal(80), slice(30, None)
    x[0] = 1.0
    y = np.where(x > 0, "up", "down")
    y[0] = "down"
    table = {"x": x.tolist(), "y": y.tolist()}
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="y")
    model.fit({name: cells[:30] for name, cells in table.items()})
    found = sample_values(model, {name: cells[late] for name, cells in table.items()})
    assert found.ranked()[0] == 0


@pytest.mark.parametrize("options", [{}, {"method": "banzhaf"}])
def test_of_precomputed_kernels(options):
    X, y = make_samples(LeastSquaresSVC(), 20)
    K = rbf_kernel(X, gamma=0.5)
    model = LeastSquaresSVC(kernel="precomputed", C=1.0).fit(K[:12, :12], y[:12])
    if options:
        with pytest.raises(ValueError, match="coalitions need samples, not a precomputed kernel"):
            sample_values(model, K[12:, :12], y[12:], **options)
        return
    other = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X[:12], y[:12])
    found = sample_values(model, K[12:, :12], y[12:])
    expected = sample_values(other, X[12:], y[12:])
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)


def test_refusals_name_the_way_out():
    X, y = make_samples(LeastSquaresSVC(), 20)
    model = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"method must be one of .*, got 'core'"):
        sample_values(model, X, y, method="core")
    with pytest.raises(ValueError, match=r"loss must be one of .* for a classifier, got 'squared'"):
        sample_values(model, X, y, loss="squared")
    with pytest.raises(ValueError, match="y has the label 7, which is none of the model's classes"):
        sample_values(model, X[:1], [7])
    with pytest.raises(ValueError, match="a target for each sample: 1 of 2"):
        sample_values(model, X[:2], [0])
    with pytest.raises(ValueError, match="y must be given"):
        sample_values(model, X)
    basis = OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=5).fit(X, y)
    with pytest.raises(ValueError, match=r'chooses centres among its samples.*method="loo"'):
        sample_values(basis, X, y, method="shapley")
