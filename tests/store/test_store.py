"""A store answers as a model fitted to its rows does, whatever was learned and forgotten."""

import threading
from datetime import timedelta

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier

import gramian
from gramian.estimators import ESTIMATORS
from gramian.files import difference_to_refit
from gramian.store import Store, StoreError, is_store
from tests.store.conftest import fitted, make_rows


def values(store, X):
    return store.decision_function(X) if is_classifier(store.model) else store.predict(X)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "form"),
    [*((name, np.asarray) for name in ESTIMATORS), ("KernelDiscriminant", sparse.csr_array)],
)
def test_each_estimator_is_what_it_holds_also_after_reopening(name, form, place):
    X, labels = make_rows(30, seed=3)
    estimator = ESTIMATORS[name](gamma=0.3)
    estimator.set_params(**{k: 1.0 for k in ("ridge", "C") if k in estimator.get_params()})
    y = labels if is_classifier(estimator) else X[:, 0]
    X = form(np.where(X > -1.0, X, 0.0))
    with place.create(estimator.fit(X[:20], y[:20])) as store:
        store.learn(X[20:25], y[20:25])
        store.learn(X[25:27], y[25:27], ids=[100, 200])
        store.forget([3, 22, 100])
        store.relabel([7], y[[8]])
        assert store.version == 4
        assert store.model.ids_.tolist() == [*range(3), *range(4, 7), *range(8, 22), 23, 24, 200, 7]
        assert store.model.y_fit_[-1] == y[8]
        assert store.read(difference_to_refit) < 1e-8
        before = values(store, X)
    with place.open() as store:
        np.testing.assert_array_equal(values(store, X), before)
        store.learn(X[28:], y[28:])
        assert store.model.ids_.tolist()[-2:] == [201, 202]
        assert store.audit(refit=True).passed


def test_equals_a_fresh_fit(store):
    X, y = make_rows()
    store.learn(X[30:], y[30:], ids=range(30, 40))
    store.forget([*range(5), 33])
    rows = [i for i in range(5, 40) if i != 33]
    fresh = fitted(X[rows], y[rows])
    np.testing.assert_allclose(store.decision_function(X), fresh.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(store.predict_proba(X), fresh.predict_proba(X), atol=1e-7)
    assert (store.predict(X) == fresh.predict(X)).all()
    options = {"mondrian": True, "score": "adaptive", "random_state": 0}
    sets = store.predict_set(X, 0.8, **options)
    np.testing.assert_array_equal(sets, fresh.predict_set(X, 0.8, **options))
    assert store.read(lambda model: model.loo_score()) == fresh.loo_score()


def test_rows_of_a_person_come_with_it_and_leave_together(place):
    X, y = make_rows()
    people = np.array([f"person {i // 3}" for i in range(40)])
    with place.create(fitted(X[:30], y[:30], groups=people[:30])) as store:
        with pytest.raises(ValueError, match="have groups; pass `groups`"):
            store.learn(X[30:], y[30:])
        store.learn(X[30:], y[30:], groups=np.r_[["person 2"], people[31:]])
        for wrong in ({}, {"ids": [1], "groups": ["person 1"]}):
            with pytest.raises(ValueError, match="needs ids, or groups"):
                store.forget(**wrong)
        with pytest.raises(ValueError, match="group nobody, of which the model holds no sample"):
            store.forget(groups="nobody")
        receipt = store.forget(groups="person 2", verify=True)
        assert (receipt.count, receipt.n_after, receipt.verified) == (4, 36, True)
        assert all(store.find(name)[-1].number == receipt.number for name in (6, 7, 8, 30))
    with place.open() as store:
        assert "person 2" not in store.model.groups_
        stay = np.setdiff1d(np.arange(40), [6, 7, 8, 30])
        fresh = fitted(X[stay], y[stay], groups=people[stay])
        found = store.read(lambda model: model.loo_decision_function())
        np.testing.assert_allclose(found, fresh.loo_decision_function(), atol=1e-12)
        assert store.audit(refit=True).passed


@pytest.mark.parametrize("column", [None, "owner"])
def test_a_table_whose_rows_belong_to_somebody(path, column):
    table = {
        "name": list("abcdefgh"),
        "weight": [30.0, 4.0, 28.0, 3.5, 25.0, 4.4, 27.0, 5.0],
        "animal": ["dog", "cat"] * 4,
    }
    owners = ["Ann", "Bob", "Ann", "Bob", "Cy", "Cy", "Di", "Di"]
    model = gramian.TableModel(
        gramian.KernelDiscriminant(gamma=0.5, ridge=0.1),
        target="animal",
        id_column="name",
        subject_column=column,
    )
    own = {} if column is None else {column: owners}
    model.fit({**table, **own}, groups=None if column else owners)
    new = {"name": ["i"], "weight": [26.0], "animal": ["dog"]}
    with Store.create(path, model) as store:
        store.learn(new, groups=["Ann"])
        assert store.model.groups_.tolist() == [*owners, "Ann"]
        store.forget(["b"], after=timedelta(days=1))
        store.take_back(["b"])
        assert store.model.groups_.tolist()[-1] == "Bob"
        assert store.forget(groups=["Ann", "Cy"]).count == 5
    with Store.open(path) as store:
        assert sorted(store.model.ids_.tolist()) == ["b", "d", "g", "h"]


def test_weights_targets_and_single_precision_come_back(place):
    X = make_rows(12)[0].astype(np.float32)
    Y, weight = np.column_stack([X[:, 0], X[:, 1] ** 2]), np.linspace(0.5, 2.0, 12)
    model = gramian.LeastSquaresSVR(gamma=0.3, C=10.0).fit(X, Y, sample_weight=weight)
    with place.create(model, snapshot=False) as store:
        store.relabel([3], [[1.0, 2.0]])
    with place.open(readonly=True) as store:
        held = store.model
        np.testing.assert_array_equal(
            held.sample_weight_, np.append(np.delete(weight, 3), weight[3])
        )
        np.testing.assert_array_equal(held.y_fit_[-1], [1.0, 2.0])
        assert held.X_fit_.dtype == np.float32


def test_a_model_of_a_table(place, tmp_path):
    sounds = ["woof", "meow", "growl", "meow", "woof", "hiss"]
    table = {
        "weight": [30.0, 4.0, None, 3.5, 25.0, 4.4],
        "sound": sounds,
        "animal": ["dog", "cat", "dog", "cat", "dog", "cat"],
    }
    machine = gramian.KernelDiscriminant(gamma=0.5, ridge=0.1)
    model = gramian.TableModel(machine, target="animal").fit(table)
    with place.create(model) as store:
        store.learn({"weight": [28.0, 5.0], "sound": ["woof", ""]}, ["dog", "cat"])
        store.forget([5])  # the only one that hisses
        store.relabel([7], ["dog"])
        assert store.model.ids_.tolist() == [0, 1, 2, 3, 4, 6, 7]
        assert "hiss" not in store.model.columns_[1].levels
        before = store.predict_proba(table)
        with pytest.raises(ValueError, match="numbers its rows by itself"):
            store.learn(table, ids=range(6))
    assert not any(b"hiss" in file.read_bytes() for file in tmp_path.iterdir())
    with place.open() as store:
        np.testing.assert_allclose(store.predict_proba(table), before, atol=1e-7)
        store.learn(table)
        assert store.model.ids_.tolist()[-6:] == [8, 9, 10, 11, 12, 13]
        assert store.audit(refit=True).passed


def test_what_cannot_be_a_store(path, tmp_path):
    X, y = make_rows()
    with pytest.raises(StoreError, match="precomputed kernel has none"):
        Store.create(path, gramian.LeastSquaresSVC(kernel="precomputed", C=1.0).fit(X @ X.T, y))
    own = gramian.LeastSquaresSVC(kernel=lambda a, b: a @ b.T, C=1.0).fit(X, y)
    with pytest.raises(ValueError, match="is a function"):
        Store.create(path, own)
    path.write_text("something")
    with pytest.raises(StoreError, match="is there already"):
        Store.create(path, fitted(X, y))
    with pytest.raises(StoreError, match="is damaged or no store"):
        Store.open(path)
    with pytest.raises(FileNotFoundError):
        Store.open(tmp_path / "none.store")
    assert not is_store(path)
    assert path.read_text() == "something"


def test_export_and_compact(store, path, tmp_path):
    X, y = make_rows()
    before = path.stat().st_size
    for _ in range(3):
        store.learn(np.repeat(X, 5, axis=0), np.repeat(y, 5), ids=range(1000, 1200))
        store.forget(range(1000, 1200))
    values = store.decision_function(X)
    store.export(tmp_path / "a.gram")
    np.testing.assert_array_equal(gramian.load(tmp_path / "a.gram").decision_function(X), values)
    size = path.stat().st_size
    store.compact()
    assert before <= path.stat().st_size < size
    assert path.stat().st_mode & 0o777 == 0o600
    assert store.version == 6
    np.testing.assert_allclose(store.decision_function(X), values, atol=1e-12)
    store.forget(7)
    assert store.audit().passed


def test_forgetting_uses_places_again(store, place):
    X, y = make_rows()
    for i in range(8):
        store.learn(X[:1], y[:1], ids=[100 + i])
        store.forget(100 + i)
    assert len(place.tamper("SELECT place FROM rows")) == 31


def test_a_snapshot_goes_with_the_next_edit(store, place):
    assert store._backend.read()[0].snapshot is not None
    store.forget(3)
    assert store._backend.read()[0].snapshot is None
    store.close()
    with place.open(readonly=True) as reader:
        assert reader._backend.read()[0].snapshot is not None


def test_a_receipt_names_who_asked(store):
    named = store.forget(3, user="office"), store.relabel(5, ["yes"], user="lab")
    assert [receipt.user for receipt in named] == ["office", "lab"]
    assert store.forget(4).user == store.receipts()[0].user
    assert store.audit().passed


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.forget(3)
    with pytest.raises(StoreError, match="is closed"):
        store.predict(make_rows()[0])


@pytest.mark.slow
def test_threads_see_one_version(store):
    """Every answer is that of some version that was on disk during the call."""
    X, y = make_rows()
    answers, seen, done = {0: store.decision_function(X)}, [], threading.Event()

    def read():
        while not done.is_set():
            seen.append(store.decision_function(X))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for i in range(30, 36):
        store.learn(X[i : i + 1], y[i : i + 1])
        answers[store.version] = store.decision_function(X)
        store.forget(i - 30)
        answers[store.version] = store.decision_function(X)
    done.set()
    for reader in readers:
        reader.join()
    assert seen
    for found in seen:
        assert min(np.abs(found - answer).max() for answer in answers.values()) < 1e-12
