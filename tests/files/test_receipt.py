"""Receipts: true numbers, and nothing of the samples."""

import json
from copy import deepcopy
from datetime import datetime

import numpy as np
import pytest
from sklearn.base import clone

import gramian
from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR
from gramian.files import fingerprint
from tests.estimators.conftest import make_samples


def test_receipt_of_every_estimator(unfitted):
    X, y = make_samples(unfitted)
    model = unfitted.fit(X, y)
    before = fingerprint(model, key=b"secret")
    receipt = gramian.forget(model, [3, 4], verify=True, key=b"secret")
    assert model.ids_.tolist() == [i for i in range(30) if i not in (3, 4)]
    assert receipt.model == type(model).__name__
    assert receipt.ids == (3, 4)
    assert (receipt.count, receipt.n_before, receipt.n_after) == (2, 30, 28)
    assert receipt.fingerprint_before == before
    assert receipt.fingerprint_after == fingerprint(model, key=bytes.fromhex(receipt.salt))
    assert receipt.drift < 1e-11  # eps · cond
    assert receipt.difference < 1e-10  # eps · cond, and more where the ridge was chosen
    assert (receipt.tolerance, receipt.verified) == (1e-8, True)
    assert receipt.user
    assert receipt.seconds > 0
    assert datetime.fromisoformat(receipt.time).tzinfo is not None
    assert receipt.versions["gramian"] == gramian.__version__


def test_difference_is_that_to_a_refit(monkeypatch):
    X, y = make_samples(LeastSquaresSVR())
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y).forget(0)
    other = clone(model).set_params(C=1.0).fit(X[1:], y[1:])  # as if ours were wrong
    monkeypatch.setattr(LeastSquaresSVR, "refitted", lambda self: other, raising=False)
    receipt = gramian.forget(model, [], verify=True)
    ours, theirs = model.predict(X[1:]), other.predict(X[1:])
    assert receipt.count == 0
    assert receipt.difference == pytest.approx(np.abs(ours - theirs).max() / np.abs(theirs).max())
    assert receipt.difference > 0.1
    assert receipt.verified is False


def test_verify_keeps_weights_and_declared_classes():
    X, y = make_samples(LeastSquaresSVC())
    model = LeastSquaresSVC(gamma=0.5, C=10.0)
    weight = np.linspace(0.5, 2.0, 30)
    model.partial_fit(X, y, classes=[0, 1, 2], sample_weight=weight)
    assert gramian.forget(model, 7, verify=True).difference < 1e-12  # eps · cond


def test_what_has_seen_the_samples_is_named():
    X, y = make_samples(LeastSquaresSVC())
    chosen = KernelDiscriminant(gamma="scale", ridge="loo").fit(X, y)
    given = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    assert gramian.forget(given, 1).chosen_on_data == ()
    assert gramian.forget(clone(chosen).fit(X, y), 1).chosen_on_data == ("gamma", "ridge")
    assert gramian.forget(chosen, 1, reselect=True).chosen_on_data == ()


def test_receipt_of_a_table(table, table_model):
    receipt = gramian.forget(table_model, "pet 23", verify=True)
    assert receipt.model == "KernelDiscriminant"
    assert receipt.ids == ("pet 23",)
    assert receipt.chosen_on_data == (
        "means and deviations of columns",
        "choice of levels of columns",
    )
    assert receipt.difference < 1e-12  # eps · cond
    again = gramian.forget(table_model, "pet 3", reselect=True)
    assert again.chosen_on_data == ()


def test_json_has_nothing_of_the_samples(table, table_model):
    receipt = gramian.forget(table_model, ["pet 23", "pet 2"], verify=True)
    text = receipt.to_json()
    assert json.loads(text)["ids"] == ["pet 23", "pet 2"]
    for word in ("yodel", "dog", "cat", "meow", repr(float(table["weight"][23]))):
        assert word not in text


def test_unknown_id_leaves_the_model(table_model):
    before = fingerprint(table_model)
    with pytest.raises(ValueError, match="forget got id nobody"):
        gramian.forget(table_model, "nobody")
    assert fingerprint(table_model) == before


# -- fingerprints -------------------------------------------------------------------------------


def test_fingerprint_before_cannot_be_computed_from_the_receipt(table, table_model):
    """With a plain hash, a row of a few categories is found by trying them all."""
    before, model, twin = (deepcopy(table_model) for _ in range(3))
    one, two = gramian.forget(model, "pet 23"), gramian.forget(twin, "pet 23")
    assert one.fingerprint_before != two.fingerprint_before
    known = [None, *(bytes.fromhex(r.salt) for r in (one, two))]
    assert one.fingerprint_before not in [fingerprint(before, key=key) for key in known]
    assert one.fingerprint_after != two.fingerprint_after
    assert fingerprint(model) == fingerprint(twin)


# -- a failure leaves the model -----------------------------------------------------------------


@pytest.mark.parametrize("options", [{"verify": True}, {"reselect": True}], ids=str)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_evidence_that_fails_leaves_the_model(options, error, monkeypatch):
    X, y = make_samples(LeastSquaresSVC())
    model = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)
    before = fingerprint(model)

    def fail(*args, **options):
        raise error("no evidence")

    for name in ("refitted", "reselect"):
        monkeypatch.setattr(LeastSquaresSVC, name, fail, raising=False)
    with pytest.raises(error, match="no evidence"):
        gramian.forget(model, [1], **options)
    assert fingerprint(model) == before


def test_measure_that_fails_is_none(monkeypatch):
    X, y = make_samples(LeastSquaresSVC())
    model = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)

    def fail(self):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(LeastSquaresSVC, "drift", fail)
    receipt = gramian.forget(model, [1])
    assert receipt.drift is None
    assert receipt.count == 1


@pytest.mark.parametrize(
    "estimator",
    [
        gramian.OrthogonalKernelRegressor(gamma=5.0, ridge=0.01, max_basis=10),
        gramian.OrthogonalKernelClassifier(gamma=5.0, ridge=0.01, max_basis=10),
        gramian.EllipsoidalFuzzyClassifier(gamma=0.5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_model_that_chose_on_all_samples_is_forgotten_or_as_it_was(estimator):
    X, y = make_samples(estimator)
    model = clone(estimator).fit(X, y)
    before = fingerprint(model)
    try:
        receipt = gramian.forget(model, [3], verify=True)
    except Exception:
        assert fingerprint(model) == before
        return
    assert 3 not in model.ids_
    assert receipt.verified == (receipt.difference <= receipt.tolerance)
    assert receipt.chosen_on_data
    assert receipt.verified


@pytest.mark.parametrize("cls", gramian.estimators.ESTIMATORS.values())
def test_what_is_named_by_nothing_is_at_rounding_level(cls):
    """With numbers for all that can be given: what still was chosen is named."""
    given = {"gamma": 0.5, "ridge": 0.1, "C": 10.0, "tune": False}
    known = cls().get_params()
    model = cls(**{key: value for key, value in given.items() if key in known})
    model.fit(*make_samples(model))
    receipt = gramian.forget(model, [3], verify=True)
    assert receipt.verified
    if receipt.chosen_on_data == ():
        fresh = clone(model).fit(model.X_fit_, model.y_fit_)
        np.testing.assert_allclose(model.predict(model.X_fit_), fresh.predict(model.X_fit_))


def test_tolerance_is_stated_and_kept():
    X, y = make_samples(LeastSquaresSVC())
    model = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X, y)
    receipt = gramian.forget(model, 1, verify=True, tolerance=1e-30)
    assert (receipt.tolerance, receipt.verified) == (1e-30, False)
    single = LeastSquaresSVC(gamma=0.5, C=10.0).fit(X.astype(np.float32), y)
    receipt = gramian.forget(single, 1, verify=True)
    assert (receipt.tolerance, receipt.verified) == (1e-3, True)
    receipt = gramian.forget(single, 2)
    assert (receipt.tolerance, receipt.verified, receipt.difference) == (None, None, None)


def test_table_that_reselects_holds_what_stays(table, table_model):
    receipt = gramian.forget(table_model, "pet 23", verify=True, reselect=True)
    assert receipt.verified
    assert "pet 23" not in table_model.ids_
    assert "yodel 8128" not in table_model.table_["sound"]
