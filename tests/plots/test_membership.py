"""Membership regions against the model's own degrees."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from gramian import EllipsoidalFuzzyClassifier, KernelDiscriminant
from gramian.datasets import make_banana
from gramian.plots import MembershipDisplay


@pytest.fixture(scope="module")
def model():
    X, y = make_banana(60, random_state=0)
    return EllipsoidalFuzzyClassifier(tau=1e-3).fit(X, y)


def test_degrees_are_those_of_the_model(model):
    display = MembershipDisplay.from_estimator(model, grid_resolution=12)
    x, y = display.grid
    for row, column in ((0, 0), (3, 7), (11, 2)):
        query = np.array([[x[column], y[row]]])
        np.testing.assert_allclose(
            display.degrees[:, row, column], model.predict_membership(query)[0], atol=1e-12
        )  # degrees are at most 1
        expected = model.novelty(query)[0] / model.novelty_threshold_
        assert display.newness[row, column] == pytest.approx(expected)


def test_draws_samples_lines_and_a_legend(model):
    display = MembershipDisplay.from_estimator(model, grid_resolution=30)
    assert sum(len(c.get_offsets()) for c in display.ax_.collections if len(c.get_offsets()) > 1)
    assert display.ax_.get_xlabel() == "feature 0"
    labels = (
        [text.get_text() for text in display.figure_.legends[0].get_texts()]
        if (display.figure_.legends)
        else [text.get_text() for text in display.ax_.get_legend().get_texts()]
    )
    assert labels == [str(label) for label in model.classes_]


def test_other_features_are_held_at_their_means():
    X, y = load_iris(return_X_y=True)
    model = EllipsoidalFuzzyClassifier(tau=1e-3).fit(X, y)
    display = MembershipDisplay.from_estimator(model, features=(2, 3), grid_resolution=8)
    assert display.degrees.shape == (3, 8, 8)
    assert display.n_fixed == 2
    query = X.mean(axis=0)[None].copy()
    query[0, [2, 3]] = display.grid[0][5], display.grid[1][1]
    expected = model.predict_membership(query)[0]
    np.testing.assert_allclose(display.degrees[:, 1, 5], expected, atol=1e-12)  # at most 1


def test_refuses_other_classifiers():
    X, y = make_banana(30, random_state=0)
    other = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    with pytest.raises(ValueError, match="need an EllipsoidalFuzzyClassifier, got KernelDisc"):
        MembershipDisplay.from_estimator(other)
