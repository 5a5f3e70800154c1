"""Exchanging: learning samples and forgetting others, as one edit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from gramian import KernelDiscriminant, LeastSquaresSVR, OrthogonalKernelClassifier
from gramian.core.engines import DenseEngine
from tests.estimators.conftest import (
    assert_same_model,
    assert_unchanged,
    close_values,
    every_form,
    make_samples,
    snapshot,
)


@every_form
def test_equals_learning_and_then_forgetting(estimator):
    X, y = make_samples(estimator, classes=3)
    weight = np.random.default_rng(1).integers(1, 3, 30).astype(float)
    model = clone(estimator).fit(X[:27], y[:27], sample_weight=weight[:27])
    new = {"ids": [30, 40, 50], "sample_weight": weight[27:]}
    twin = model.refitted().partial_fit(X[27:], y[27:], **new).forget([4, 0])
    model.exchange([4, 0], X[27:], y[27:], new_ids=new["ids"], sample_weight=weight[27:])
    assert_same_model(model, twin, updates=5)
    assert model.ids_.tolist() == twin.ids_.tolist()


def test_without_ids_it_learns_and_new_ids_are_numbered(estimator):
    X, y = make_samples(estimator, 14)
    model = estimator.fit(X[:12], y[:12])
    assert model.exchange([], X[12:13], y[12:13]).ids_.tolist() == list(range(13))
    assert model.exchange(3, X[13:], y[13:]).ids_.tolist() == [0, 1, 2, *range(4, 14)]


def test_classes_come_and_go_at_once():
    X = np.arange(6.0)[:, None]
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[:3], [0, 1, 1])
    model.exchange([0], X[3:4], [2])  # between the two, only one class would be left
    assert model.classes_.tolist() == [1, 2]
    fresh = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[1:4], [1, 1, 2])
    close_values(model.decision_function(X), fresh.decision_function(X), updates=2)


def test_classes_stay_what_they_were_and_two_must_be_left(classifier):
    X, y = make_samples(classifier, 30)
    model = classifier.fit(X[:28], y[:28]).exchange([0], X[28:29], y[28:29])
    assert model.classes_.dtype == y.dtype
    assert model.predict(X).dtype == y.dtype
    before, own = snapshot(model), y[28]
    gone = model.ids_[model.y_fit_ != own]
    with pytest.raises(ValueError, match="fewer than two classes"):
        model.exchange(gone, X[28:29], [own])
    assert_unchanged(model, before)


def test_two_classes_must_be_left_beside_rows_that_are_not_held():
    X, y = make_samples(OrthogonalKernelClassifier(), 30)
    model = OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=9).fit(X[:20], y[:20])
    model.learn_rows(X[20:][y[20:] == 0], y[20:][y[20:] == 0])
    model.exchange(model.ids_[model.y_fit_ == 1][1:], X[20:21], y[20:21])
    assert model.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="fewer than two classes"):
        model.forget(model.ids_[model.y_fit_ == 1])


def test_with_a_precomputed_kernel():
    X, y = make_samples(KernelDiscriminant(), 14)
    K = rbf_kernel(X, gamma=0.5)
    model = KernelDiscriminant(kernel="precomputed", ridge=0.1).fit(K[:12, :12], y[:12])
    model.exchange([0, 5], K[12:], y[12:])
    holdings = model.ids_
    np.testing.assert_allclose(
        model.X_fit_, K[np.ix_(holdings, holdings)], rtol=1e-14
    )  # rounding of K
    other = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[holdings], y[holdings])
    close_values(model.decision_function(K[:, holdings]), other.decision_function(X), updates=4)


@pytest.mark.parametrize(
    ("ids", "new_ids", "y", "error"),
    [
        ([99], None, [0], "exchange got id 99, which the model does not hold"),
        ([1, 1], None, [0], "exchange got id 1 twice"),
        ([1], [2], [0], "id 2 is already held"),
        ([1], None, ["a"], "y must be numbers"),
        (np.arange(12), None, [0], "fewer than two classes"),
    ],
)
def test_what_cannot_be_exchanged_leaves_the_model_as_it_was(ids, new_ids, y, error):
    X, labels = make_samples(KernelDiscriminant(), 13)
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[:12], labels[:12])
    before = snapshot(model)
    with pytest.raises(ValueError, match=error):
        model.exchange(ids, X[12:], y, new_ids=new_ids)
    assert_unchanged(model, before)


def test_an_update_that_fails_half_way_leaves_the_model_as_it_was(monkeypatch):
    X, y = make_samples(LeastSquaresSVR(), 13)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X[:12], y[:12])
    before = snapshot(model)

    def fail(*args):
        raise RuntimeError("half-way")

    with monkeypatch.context() as patch:
        patch.setattr(DenseEngine, "remove", fail)
        with pytest.raises(RuntimeError, match="half-way"):
            model.exchange([0], X[12:], y[12:])
    assert_unchanged(model, before)
