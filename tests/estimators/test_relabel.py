"""Relabelling: forgetting and learning again under the same id, as one edit."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import rbf_kernel

from gramian import KernelDiscriminant, LeastSquaresSVR
from gramian.core.engines import DenseEngine, DenseSpec
from gramian.core.gram import NotPositiveDefiniteError
from tests.estimators.conftest import (
    assert_same_model,
    assert_unchanged,
    close_values,
    every_form,
    make_samples,
    snapshot,
)
from tests.interrupts import interrupted, lines_of, places

IDS = ["s29", "s3", "s7"]
NAMES = [f"s{i}" for i in range(30)]
AT = [29, 3, 7]


@every_form
def test_equals_forgetting_and_learning(estimator):
    X, y = make_samples(estimator, classes=3)
    weight = np.random.default_rng(1).integers(1, 3, 30).astype(float)
    model = clone(estimator).fit(X, y, sample_weight=weight, ids=NAMES)
    new = (y[AT] + 1) % 3 if is_classifier(model) else y[AT] + 1.0
    twin = model.refitted().forget(IDS)
    twin.partial_fit(X[AT], new, ids=IDS, sample_weight=weight[AT])
    model.relabel(IDS, new)
    assert_same_model(model, twin, updates=6)
    holdings = dict(zip(model.ids_.tolist(), model.y_fit_.tolist(), strict=True))
    assert [holdings[name] for name in IDS] == new.tolist()
    kept = dict(zip(model.ids_.tolist(), model.sample_weight_.tolist(), strict=True))
    assert [kept[name] for name in IDS] == weight[AT].tolist()


def test_classes_come_and_go():
    X, y = make_samples(KernelDiscriminant(), 12, classes=3)
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    model.relabel(np.flatnonzero(y == 2)[:3], [1, 7, 1])
    assert model.classes_.tolist() == [0, 1, 2, 7]
    model.relabel(np.flatnonzero(y == 2)[3], 1)
    assert model.classes_.tolist() == [0, 1, 7]
    assert model.relabel([], []).classes_.tolist() == [0, 1, 7]


def test_with_a_precomputed_kernel():
    X, y = make_samples(KernelDiscriminant(), 12)
    K = rbf_kernel(X, gamma=0.5)
    model = KernelDiscriminant(kernel="precomputed", ridge=0.1).fit(K, y).relabel([11, 2], [5, 5])
    other = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y).relabel([11, 2], [5, 5])
    order = model.ids_
    np.testing.assert_array_equal(model.X_fit_, K[np.ix_(order, order)])
    np.testing.assert_allclose(
        model.decision_function(K[:, order]), other.decision_function(X), atol=1e-12
    )


def test_an_interrupt_leaves_the_model_before_or_after():
    """The buffer of a precomputed kernel is the one that an edit could write into."""
    X, y = make_samples(KernelDiscriminant(), 12)
    K = rbf_kernel(X, gamma=0.5)
    unfitted = KernelDiscriminant(kernel="precomputed", ridge=0.1)
    labels = {"before": y.tolist(), "after": [*np.delete(y, [2, 11]), 1 - y[2], 1 - y[11]]}

    def relabel(model):
        return lambda: model.relabel([11, 2], 1 - y[[11, 2]])

    for k in places(lines_of(relabel(clone(unfitted).fit(K, y))), most=30):
        model = clone(unfitted).fit(K, y)
        assert interrupted(relabel(model), k)
        assert model.y_fit_.tolist() in labels.values()
        np.testing.assert_array_equal(model.X_fit_, K[np.ix_(model.ids_, model.ids_)])
        fresh = clone(unfitted).fit(model.X_fit_, model.y_fit_)
        rows = K[:4][:, model.ids_]
        close_values(model.decision_function(rows), fresh.decision_function(rows), updates=4)


@pytest.mark.parametrize(
    ("ids", "y", "error"),
    [
        ([1, 99], [0, 1], "relabel got id 99, which the model does not hold"),
        ([1, 1], [0, 1], "relabel got id 1 twice"),
        ([1, 2], [0], "relabel got 2 ids and 1 targets"),
        ([1, 2], ["a", "b"], "y must be numbers"),
        (np.arange(12), np.ones(12), "too many at once: forget would leave 0 samples"),
    ],
)
def test_what_cannot_be_relabelled_leaves_the_model_as_it_was(ids, y, error):
    X, labels = make_samples(KernelDiscriminant(), 12)
    model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, labels)
    before = snapshot(model)
    with pytest.raises(ValueError, match=error):
        model.relabel(ids, y)
    assert_unchanged(model, before)


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        ("remove", np.linalg.LinAlgError("no")),
        ("append", NotPositiveDefiniteError(0, 0.0, 0.0, new=True)),
    ],
)
def test_an_update_that_fails_is_replaced_by_a_rebuild(edit, error, monkeypatch):
    X, y = make_samples(LeastSquaresSVR(), 12)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr(DenseEngine, edit, raising(error))
        model.relabel([3], [9.0])
    assert len(model.rebuilds_) == 1
    fresh = LeastSquaresSVR(gamma=0.5, C=10.0).fit(model.X_fit_, model.y_fit_)
    assert model.y_fit_[-1] == 9.0
    close_values(model.predict(X), fresh.predict(X))


def test_a_rebuild_that_fails_leaves_the_model_as_it_was(monkeypatch):
    X, y = make_samples(LeastSquaresSVR(), 12)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    before, refused = model.predict(X), NotPositiveDefiniteError(0, 0.0, 0.0, new=True)
    with monkeypatch.context() as patch:
        patch.setattr(DenseEngine, "append", raising(refused))
        patch.setattr(DenseEngine, "fresh", raising(np.linalg.LinAlgError("no")))
        with pytest.raises(NotPositiveDefiniteError, match="relabel failed at new sample 0"):
            model.relabel([3], [9.0])
    close_values(model.predict(X), before)
    assert model.y_fit_.tolist() == y.tolist()


def raising(error):
    def call(*args, **kwargs):
        raise error

    return call


@pytest.mark.parametrize("edit", ["relabel", "partial_fit", "exchange", "forget"])
def test_a_model_that_owes_its_engine_can_be_edited(edit, monkeypatch):
    X, y = make_samples(LeastSquaresSVR(), 13)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X[:12], y[:12])

    def fail(*args):
        raise np.linalg.LinAlgError("for now.")

    with monkeypatch.context() as patch:
        patch.setattr(DenseEngine, "remove", fail)
        build = DenseSpec.build
        few = 11 if edit != "relabel" else 10
        patch.setattr(DenseSpec, "build", lambda *a: fail() if len(a[1]) == few else build(*a))
        model.forget(3)
        with pytest.raises(np.linalg.LinAlgError, match="for now") if few == 11 else nullcontext():
            model.predict(X)
        if edit == "relabel":
            model.relabel(5, 0.5)
        elif edit == "partial_fit":
            model.partial_fit(X[12:], y[12:])
        elif edit == "exchange":
            model.exchange([5, 6], X[12:], y[12:])
        else:
            model.forget(5)
    assert_same_model(
        model, LeastSquaresSVR(gamma=0.5, C=10.0).fit(model.X_fit_, model.y_fit_, ids=model.ids_)
    )
