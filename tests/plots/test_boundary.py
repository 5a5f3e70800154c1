"""The boundary display: its regions are the predictions, its losses those of real refits."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone

from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from gramian.plots import LeaveOneOutBoundaryDisplay
from tests.plots.conftest import draw, make_samples
from tests.tolerance import tolerance

KDA = KernelDiscriminant(gamma=0.5, ridge=0.1)


@pytest.mark.parametrize("classes", [2, 3])
def test_regions_are_the_predicted_classes(classes):
    X, y, _ = make_samples(classes=classes)
    model = clone(KDA).fit(X, y)
    display = draw(LeaveOneOutBoundaryDisplay.from_estimator(model, grid_resolution=15))
    assert display.margins.shape == (classes, 15, 15)
    queries = np.array([(u, v) for v in display.grid[1] for u in display.grid[0]])
    predicted = model.classes_[display.margins.argmax(axis=0).ravel()]
    np.testing.assert_array_equal(predicted, model.predict(queries))
    assert len(display.figure_.axes) == 2  # with the colour bar
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == list("abc")[:classes]


def test_losses_are_those_of_refits():
    X, y, _ = make_samples(n=20)
    model = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)
    display = LeaveOneOutBoundaryDisplay.from_estimator(model, grid_resolution=5)
    # Probabilities are a sigmoid of decision values: read its two parameters off the model.
    scale, bias = np.polyfit(model.decision_function(X), logit(model.predict_proba(X)[:, 1]), deg=1)
    for i in range(20):
        rest = np.arange(20) != i
        value = clone(model).fit(X[rest], y[rest]).decision_function(X[[i]])[0]
        sign = 1.0 if y[i] == "b" else -1.0
        loss = np.logaddexp(0.0, -sign * (scale * value + bias))
        assert display.losses[i] == pytest.approx(loss, rel=tolerance(20, cond=20 / 0.1, power=1))


def test_two_of_several_features():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: cli)")
    X, y, _ = make_samples(features=4)
    table = pd.DataFrame(X, columns=["u", "v", "w", "x"])
    model = clone(KDA).fit(table, y)
    display = draw(
        LeaveOneOutBoundaryDisplay.from_estimator(model, features=("w", 1), grid_resolution=8)
    )
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("w", "v")
    assert "mean of the other 2 features" in display.ax_.get_legend().get_title().get_text()
    np.testing.assert_array_equal(display.samples, X[:, [2, 1]])
    query = X.mean(axis=0)
    query[[2, 1]] = display.grid[0][3], display.grid[1][5]
    value = model.decision_function(pd.DataFrame([query], columns=table.columns))[0]
    assert display.margins[1, 5, 3] == pytest.approx(value)


def test_a_class_that_is_nowhere_predicted():
    """Balanced noise around one sample of another class: its region is empty, its legend is not."""
    X, _, _ = make_samples()
    y = np.where(np.arange(40) == 0, "rare", "often")
    model = KernelDiscriminant(gamma=0.01, ridge=10.0).fit(X, y)
    display = draw(LeaveOneOutBoundaryDisplay.from_estimator(model, grid_resolution=8))
    assert display.margins[1].max() < 0
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_errors():
    X, y, response = make_samples()
    for model in (
        LeastSquaresSVR(gamma=0.5, C=1.0).fit(X, response),
        clone(KDA).fit(X[:, :1], y),
        clone(KDA).fit(sparse.csr_matrix(X), y),
        KernelDiscriminant(kernel="precomputed", ridge=0.1).fit(X @ X.T, y),
    ):
        with pytest.raises(ValueError, match="needs a classifier of dense samples"):
            LeaveOneOutBoundaryDisplay.from_estimator(model)
    model = clone(KDA).fit(X, y)
    for features in ((0, 2), ("u", "v")):
        with pytest.raises(ValueError, match=r"features must be two of .*, got"):
            LeaveOneOutBoundaryDisplay.from_estimator(model, features=features)
