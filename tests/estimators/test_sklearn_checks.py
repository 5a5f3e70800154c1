"""scikit-learn's own checks, and its tools around every estimator."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators.conftest import (
    ESTIMATORS,
    ONE_OF_EACH,
    PRECOMPUTABLE,
    close_values,
    make_samples,
    values,
)

# One configuration of each estimator, on data of any scale: the checks have their own samples, for
# which a fixed width is too narrow.
CHECKED = {
    **{name: clone(model).set_params(gamma="scale") for name, model in ONE_OF_EACH.items()},
    "documented": clone(ESTIMATORS["documented"]).set_params(gamma="scale"),
}

# Checks that an estimator cannot pass, each with its reason.
LEFT_OUT = (
    "predict_proba is calibrated on leave-one-out values, and a sample left out leaves with all of "
    "its weight, while one of its copies leaves the others behind; decision_function is equal"
)
DRAWN = "candidates for the basis are drawn among rows, of which copies make more"
WEIGHTED = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def expected_failures(estimator):
    if not is_classifier(estimator):
        return {}
    return dict.fromkeys(WEIGHTED, DRAWN if "max_basis" in estimator.get_params() else LEFT_OUT)


@parametrize_with_checks(list(CHECKED.values()), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pipeline(estimator):
    X, y = make_samples(estimator)
    shifted = 3.0 * X + 5.0
    pipe = make_pipeline(StandardScaler(), clone(estimator)).fit(shifted, y)
    scaled = StandardScaler().fit_transform(shifted)
    np.testing.assert_array_equal(pipe.predict(shifted), estimator.fit(scaled, y).predict(scaled))


def test_cross_validation(estimator):
    X, y = make_samples(estimator, 60)
    scores = cross_val_score(estimator, X, y, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > (0.5 if is_classifier(estimator) else 0.0)


@pytest.mark.parametrize("name", PRECOMPUTABLE)
def test_cross_validation_of_a_precomputed_kernel(name):
    estimator = clone(ESTIMATORS[name])
    X, y = make_samples(estimator)
    K = np.exp(-estimator.gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    expected = cross_val_score(estimator.set_params(kernel="rbf"), X, y, cv=3)
    found = cross_val_score(estimator.set_params(kernel="precomputed"), K, y, cv=3)
    np.testing.assert_allclose(found, expected, rtol=1e-9)  # scores are of order 1


def test_grid_search(estimator):
    X, y = make_samples(estimator)
    search = GridSearchCV(estimator, {"gamma": [0.5, 4.0], "kernel": ["rbf", "laplacian"]}, cv=3)
    search.fit(X, y)
    best = clone(estimator).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), best.predict(X))
    search.best_estimator_.forget(0)
    assert len(search.best_estimator_.ids_) == 29


def test_routing_of_weights(estimator):
    X, y = make_samples(estimator)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, 30)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(estimator).set_fit_request(sample_weight=True, ids=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed)
        pipe.fit(X, y, sample_weight=weight, ids=np.arange(30) + 100)
        scores = cross_validate(
            routed.set_score_request(sample_weight=True),
            X,
            y,
            params={"sample_weight": weight},
            cv=3,
        )["test_score"]
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(pipe[-1].ids_, np.arange(30) + 100)
    direct = clone(estimator).fit(scaled, y, sample_weight=weight)
    close_values(values(pipe[-1]), values(direct))
    assert scores.shape == (3,)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_lists_are_taken(estimator, method):
    X, y = make_samples(estimator)
    model = getattr(clone(estimator), method)(X.tolist(), y.tolist(), ids=list(range(30)))
    np.testing.assert_array_equal(values(model), values(estimator.fit(X, y)))
