"""Labels to doubt, against the model without each sample."""

import warnings

import numpy as np
import pytest

from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR, TableModel
from gramian.core.equations import probabilities
from gramian.data import doubtful, label_issues
from gramian.datasets import make_banana


@pytest.fixture
def flipped():
    X, y = make_banana(120, random_state=0)
    y[[3, 14, 15]] *= -1
    return LeastSquaresSVC(gamma=1.0, C=1.0).fit(X, y)


def test_the_probability_is_that_of_the_model_without_the_sample(flipped):
    flipped.forget([7, 8]).partial_fit(flipped.X_fit_[:1] + 0.1, [1])
    issues = label_issues(flipped)
    P = flipped.loo_predict_proba()
    scale = np.log(P[0, 1] / P[0, 0]) / flipped.loo_decision_function()[0]  # one for all samples
    for name, given, suggested, probability in zip(*issues.to_dict().values(), strict=True):
        i = flipped.ids_.tolist().index(name)
        refit = flipped.refitted().forget(name)
        (p,) = probabilities(refit.decision_function(flipped.X_fit_[[i]])[:, None], scale)
        assert given == flipped.y_fit_[i]
        assert suggested == refit.classes_[np.argmax(p)] == -given
        assert probability == pytest.approx(p.max(), rel=1e-8)


def test_flips_come_first_and_are_mended(flipped):
    issues = label_issues(flipped, top=3)
    assert sorted(issues.ids.tolist()) == [3, 14, 15]
    before = flipped.loo_score()
    flipped.relabel(issues.ids, issues.suggested)
    assert flipped.loo_score() > before
    assert not {3, 14, 15} & set(label_issues(flipped).ids.tolist())


def test_all_samples_can_be_ranked(flipped):
    issues = label_issues(flipped, top=1000)
    assert len(issues) == 120
    assert np.all(np.diff(issues.probability) <= 0)
    by_default = label_issues(flipped)
    np.testing.assert_array_equal(by_default.ids, issues.ids[issues.suggested != issues.given])


def test_of_several_classes_and_of_a_table():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    x = np.repeat([0.0, 3.0, 6.0], 20) + 0.3 * rng.standard_normal(60)
    y[5] = "c"
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="y")
    model.fit({"x": x.tolist(), "y": y.tolist()})
    issues = label_issues(model)
    assert issues.to_dict().items() >= {"id": [5], "given": ["c"], "suggested": ["a"]}.items()
    model.relabel(issues.ids, issues.suggested)
    assert model.table_["x"][-1] == x[5]
    assert model.y_fit_[-1] == "a"
    assert len(label_issues(model)) == 0
    model.relabel(5, "b")
    assert model.y_fit_[-1] == "b"
    with pytest.raises(ValueError, match="relabel got id 99"):
        model.relabel([99], ["a"])
    assert model.loo_predict_proba().shape == (60, 3)


def test_cleanlab_takes_them_as_they_are(flipped):
    cleanlab = pytest.importorskip("cleanlab", reason="cleanlab is not installed")
    issues = label_issues(flipped)
    found = cleanlab.filter.find_label_issues(issues.labels, issues.pred_probs)
    assert found.any()
    assert set(flipped.ids_[found].tolist()) <= set(issues.ids.tolist())


def test_numbers_have_no_labels():
    model = LeastSquaresSVR(gamma=1.0, C=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="needs a classifier, got LeastSquaresSVR"):
        label_issues(model)


def test_top_is_a_number_of_samples(flipped):
    with pytest.raises(ValueError, match="top must be ≥ 0, got -1"):
        label_issues(flipped, top=-1)


def test_a_model_that_knows_nothing_doubts_no_label():
    X, y = np.zeros((12, 1)), np.repeat([0, 1, 2], 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all samples are copies
        model = KernelDiscriminant(gamma=1.0, ridge=1.0).fit(X, y)
    np.testing.assert_allclose(model.loo_predict_proba(), 1 / 3)
    assert len(label_issues(model).ids) == 0
    assert len(label_issues(model, top=2).ids) == 2


def test_doubtful_samples_of_a_classifier_are_its_label_issues(flipped):
    issues, found = label_issues(flipped, top=5), doubtful(flipped, 5)
    assert found.to_dict() == issues.to_dict()
    assert found.rows()[0] == {name: column[0] for name, column in issues.to_dict().items()}
    assert len(found) == 5


@pytest.mark.parametrize("several", [False, True])
def test_doubtful_samples_of_a_regressor_have_the_largest_errors_left_out(several):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.column_stack([X[:, 0], X[:, 1] ** 2]) if several else X[:, 0].copy()
    y[4] += 5.0
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    found = doubtful(model, 3)
    assert found.ids[0] == 4
    assert found.probability is None
    for name, given, suggested, error in zip(*found.to_dict().values(), strict=True):
        refit = model.refitted().forget(name)
        (expected,) = refit.predict(X[[name]])
        np.testing.assert_allclose(suggested, expected, rtol=1e-8)
        np.testing.assert_array_equal(given, y[name])
        np.testing.assert_allclose(error, np.sqrt(np.mean((y[name] - expected) ** 2)), rtol=1e-8)
