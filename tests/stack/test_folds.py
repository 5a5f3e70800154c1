"""Parts without a fold: against real fits, and tuned from where that leads somewhere."""

import numpy as np
import pytest

import gramian
from gramian import LeastSquaresSVR, StackedKernelClassifier, StackedKernelRegressor
from gramian.stack._folds import fold_start, outputs_without_folds, readable

PARTS = ("rbf", "laplacian+diagonal", "linear", "exponential+thresholds")
GIVEN = {"gamma": [0.3, 0.2, "scale", 0.5], "C": [10.0, 3.0, 2.0, 5.0]}


def fitted(kind, classes=2):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes)) if classes else f
    return kind(PARTS, **GIVEN).fit(X[:50], y[:50]), X[50:]


@pytest.mark.parametrize("kind", [StackedKernelClassifier, StackedKernelRegressor])
@pytest.mark.parametrize("classes", [2, 3])
def test_outputs_without_each_fold_are_those_of_fits_without_it(kind, classes):
    model, queries = fitted(kind, classes if kind is StackedKernelClassifier else 0)
    holdings, parts = model._now.holdings, model._now.spec.parts
    fold = np.arange(50) % 5 + (np.arange(50) % 5 > 2)  # the numbers 0, 1, 2, 4 and 5
    engines = [part.build(holdings) for part in parts]
    found = outputs_without_folds(engines, holdings, fold, queries)
    assert sorted(found) == [0, 1, 2, 4, 5]
    for k, outputs in found.items():
        rest = holdings.without(np.flatnonzero(fold == k))
        for part, values in zip(parts, outputs, strict=True):
            expected = part.build(rest).predictor(rest).outputs(queries)
            np.testing.assert_allclose(values, expected, atol=1e-9)  # of order one


def test_what_is_only_read_predicts_the_same():
    model, queries = fitted(StackedKernelRegressor, 0)
    holdings = model._now.holdings
    for part in model._now.spec.parts:
        one, other = part.build(holdings), readable(part, holdings)
        found = [engine.predictor(holdings).outputs(queries) for engine in (one, other)]
        np.testing.assert_allclose(*found, atol=1e-9)  # of order one
        assert other.factor in ("cholesky", one.factor)


@pytest.mark.slow
def test_widths_of_features_are_found_without_a_fold_too():
    """From the geometric mean of those of all samples the search led to a poor minimum."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(300)
    model = StackedKernelRegressor(("rbf+ard", "laplacian"), random_state=0).fit(X, y)
    assert model.weights_[0] > 0.9
    assert model.nested_score().score > 0.9 * model.loo_score()
    (part, *_) = model._now.spec.parts
    start = fold_start(part)
    width, ridge = part.selection.common
    assert (start.gamma, start.ridge) == (width, ridge)
    assert not np.isclose(width, np.exp(np.mean(np.log(part.gamma))), rtol=0.5)


def test_widths_from_widths_begin_afresh_without_a_fold():
    model, _ = fitted(StackedKernelRegressor, 0)
    model.set_params(kernel="rbf+ard", gamma="loo", C="loo").reselect(fresh=True).reselect()
    (part,) = model._now.spec.parts
    assert part.selection.common is None
    assert fold_start(part) is None


def test_a_file_holds_where_widths_began(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    model = LeastSquaresSVR(metric="ard", random_state=0).fit(X, np.sin(2 * X[:, 0]))
    gramian.save(model, tmp_path / "model.gram")
    found = gramian.load(tmp_path / "model.gram").selection_.common
    assert found == model.selection_.common
    assert min(found) > 0
