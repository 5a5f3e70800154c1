"""What a report holds a model against, by brute force."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge

from gramian import KernelDiscriminant, LeastSquaresSVR, TableModel
from gramian.cli._yardsticks import baselines, relevance


@pytest.fixture
def regressor():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = 3.0 * X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(60)
    return LeastSquaresSVR(gamma=0.1, C=10.0).fit(X, y)


@pytest.fixture
def classifier():
    X = np.random.default_rng(0).standard_normal((60, 3))
    return KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X, np.where(X[:, 2] > 0.3, "b", "a"))


def rmse(errors):
    return np.sqrt(np.mean(np.square(errors)))


def test_baselines_of_a_regression_are_those_of_refits(regressor):
    X, y = regressor.X_fit_, regressor.y_fit_
    means, lines = [], []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        means.append(y[i] - y[others].mean())
    fold = LeastSquaresSVR(kernel="linear").fit(X, y).nested_score().fold
    for k in range(10):  # tuned without each fold, too
        rest, left = fold != k, fold == k
        C = LeastSquaresSVR(kernel="linear").fit(X[rest], y[rest]).C_
        line = Ridge(alpha=1 / C).fit(X[rest], y[rest])
        lines += (y[left] - line.predict(X[left])).tolist()
    rows = baselines(regressor)
    assert [row[0] for row in rows] == [
        "mean of the other rows",
        "linear model, tuned too",
        "this model",
    ]
    expected = [rmse(means), rmse(lines), rmse(y - regressor.loo_predict())]
    np.testing.assert_allclose([row[1] for row in rows], expected, rtol=1e-8)


def test_baseline_of_classes_is_the_most_frequent(classifier):
    name, error = baselines(classifier)[0]
    assert name == "always a"
    assert error == pytest.approx(100 * np.mean(classifier.y_fit_ == "b"))


def test_linear_model_is_not_compared_with_itself(regressor):
    linear = LeastSquaresSVR(kernel="linear", C=1.0).fit(regressor.X_fit_, regressor.y_fit_)
    assert [row[0] for row in baselines(linear)] == ["mean of the other rows", "this model"]


def test_columns_that_matter_come_first(regressor, classifier):
    held = regressor.ids_.copy()
    assert [row[0] for row in relevance(regressor)] == ["feature 1", "feature 2", "feature 0"]
    assert relevance(classifier)[0][0] == "feature 2"
    np.testing.assert_array_equal(regressor.ids_, held)


def test_widths_of_features_stand_beside_them(regressor):
    model = LeastSquaresSVR(gamma=[0.1, 0.2, 0.3], C=1.0).fit(regressor.X_fit_, regressor.y_fit_)
    assert {row[0]: row[2] for row in relevance(model)} == {
        "feature 0": 0.1,
        "feature 1": 0.2,
        "feature 2": 0.3,
    }


def test_features_of_a_column_are_shuffled_together():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 60)
    table = {
        "size": rng.standard_normal(60),
        "colour": colour,
        "y": np.where(colour == "red", "yes", "no"),
    }
    model = TableModel(KernelDiscriminant(gamma=0.3, ridge=0.1), target="y").fit(table)
    rows = relevance(model)
    assert [row[0] for row in rows] == ["colour", "size"]
    assert rows[0][1] > 20 > rows[1][1]


def test_nothing_to_shuffle(regressor, classifier):
    X, y = classifier.X_fit_, classifier.y_fit_
    few = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X[:15], y[:15])
    sparse = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(csr_matrix(X), y)
    given = KernelDiscriminant(kernel="precomputed", ridge=0.1).fit(X @ X.T, y)
    rare = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(X, np.r_[["c"], y[1:]])
    assert [relevance(model) for model in (few, sparse, given, rare)] == [[]] * 4
    assert len(baselines(given)) == 2
