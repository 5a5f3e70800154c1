"""Bad input to every estimator: a clear error each, and the model exactly as it was."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gramian import KernelDiscriminant, OrthogonalKernelClassifier, ScaleWarning
from gramian.core.engines import DenseEngine, DenseSpec
from gramian.core.gram import NotPositiveDefiniteError, _memory, _slots
from gramian.orthogonal._engine import BasisEngine
from gramian.orthogonal._spec import BasisSpec
from tests.estimators.conftest import (
    ESTIMATORS,
    SQUARE,
    assert_same_model,
    assert_unchanged,
    close_values,
    make_samples,
    queries,
    refit,
    snapshot,
    values,
)


def with_entry(X, value):
    X = X.copy()
    X[1, 2] = value
    return X


BAD_SAMPLES = {
    "nan": (lambda X: with_entry(X, np.nan), "NaN"),
    "infinity": (lambda X: with_entry(X, np.inf), "infinity"),
    "sparse nan": (lambda X: sparse.csr_array(with_entry(X, np.nan)), "NaN"),
    "features": (lambda X: X[:, :2], "2 features.*expecting 3"),
    "empty": (lambda X: X[:0], "0 sample"),
    "one dimension": (lambda X: X[:, 0], "2D array"),
    "three dimensions": (lambda X: X[:, :, None], "dim 3"),
    "complex": (lambda X: X + 1j, "[Cc]omplex"),
    "text": (lambda X: np.full(X.shape, "x"), "convert string to float"),
}


def assert_still_works(model, before, X, y):
    """Exactly as it was, and a correct call follows as if nothing had happened."""
    assert_unchanged(model, before)
    n = len(model.ids_)
    model.partial_fit(X[:2] + 0.5, y[:2]).forget(model.ids_[0])
    assert len(model.ids_) == n + 1
    assert_same_model(model, refit(model), updates=3)


def test_bad_samples_and_queries(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y))
    for bad, (make, match) in BAD_SAMPLES.items():
        wrong, targets = make(X[:4]), y[: 0 if bad == "empty" else 4]
        calls = [lambda wrong=wrong, targets=targets: estimator.partial_fit(wrong, targets)]
        calls += [lambda wrong=wrong: estimator.predict(wrong)]
        if bad != "features":  # a refit may have other features than the fit before
            calls += [lambda wrong=wrong, targets=targets: estimator.fit(wrong, targets)]
        for call in calls:
            with pytest.raises(ValueError, match=match):
                call()
            assert_unchanged(estimator, before)
    assert_still_works(estimator, before, X, y)


def test_wrong_number_of_targets(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y))
    for method in (estimator.fit, estimator.partial_fit):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            method(X[:4], y[:3])
        assert_unchanged(estimator, before)
    assert_still_works(estimator, before, X, y)


def test_targets_that_are_no_numbers(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y))
    for method, bad in product((estimator.fit, estimator.partial_fit), (np.nan, np.inf)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            method(X[:4], np.array([0.0, 1.0, bad, 0.0]))
        assert_unchanged(estimator, before)
    assert_still_works(estimator, before, X, y)


BAD_WEIGHTS = {
    "negative": (np.array([1.0, -1.0, 1.0, 1.0]), "Negative values"),
    "nan": (np.array([1.0, np.nan, 1.0, 1.0]), "NaN"),
    "number": (np.ones(3), r"sample_weight\.shape == \(3,\)"),
    "zero": (np.zeros(4), "zero"),
}


def test_bad_weights(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y))
    picked = np.array([0, 1, *np.flatnonzero(y != y[0])[:2]])
    methods = estimator.fit, estimator.partial_fit
    for method, (weight, match) in product(methods, BAD_WEIGHTS.values()):
        with pytest.raises(ValueError, match=match):
            method(X[picked], y[picked], sample_weight=weight)
        assert_unchanged(estimator, before)
    assert_still_works(estimator, before, X, y)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_failed_first_call_leaves_nothing(estimator, method):
    X, y = make_samples(estimator)
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match="ids must be unique"):
        getattr(estimator, method)(X, y, ids=[0] * 30)
    vars(estimator).pop("_mutex")  # the lock by which edits take turns
    assert vars(estimator) == before
    with pytest.raises(NotFittedError):
        estimator.predict(X)


def test_before_fit(estimator):
    X = queries()
    for call in (
        lambda: estimator.predict(X),
        lambda: estimator.forget(0),
        lambda: estimator.ids_,
        lambda: estimator.X_fit_,
        lambda: estimator.y_fit_,
        lambda: estimator.sample_weight_,
        lambda: estimator.chosen_on_data_,
        lambda: estimator.drift(),
        lambda: estimator.rebuild(),
        lambda: estimator.loo_score(),
    ):
        with pytest.raises(NotFittedError):
            call()


def test_a_failed_refit_leaves_the_old_model(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y))
    wider = np.hstack([X, X])
    with pytest.raises(ValueError, match="ids must name each sample"):
        estimator.fit(wider, y, ids=[1, 2])
    assert estimator.n_features_in_ == 3
    assert_still_works(estimator, before, X, y)


# -- parameters ---------------------------------------------------------------------------------

BAD_PARAMETERS = [
    ({"ridge": -0.1}, "ridge must be >"),
    ({"ridge": np.nan}, "ridge must be >"),
    ({"ridge": "much"}, "ridge must be >"),
    ({"ridge": None}, "ridge must be >"),
    ({"C": -1.0}, "C must be > 0"),
    ({"C": 0.0}, "C must be > 0"),
    ({"gamma": -0.5}, "gamma must be > 0"),
    ({"gamma": 0.0}, "gamma must be > 0"),
    ({"gamma": np.nan}, "gamma must be > 0"),
    ({"gamma": "wide"}, "gamma must be > 0"),
    ({"gamma": np.inf, "kernel": "rbf"}, "gamma must be"),
    ({"gamma": np.ones(3), "kernel": "poly"}, "gamma"),
    ({"kernel": "cosine"}, 'kernel must be "linear"'),
    ({"kernel": None}, 'kernel must be "linear"'),
    ({"kernel": "poly", "degree": 0}, "degree >= 1"),
    ({"kernel": "poly", "coef0": -1.0}, "coef0 >= 0"),
    ({"factor": "lu"}, "factor must be one of"),
    ({"targets": "codes"}, "targets must be one of"),
    ({"kernel": lambda X, Y: np.ones(3)}, "kernel must return an array of shape"),
    ({"ridge": np.inf}, "ridge must be"),
    ({"gamma": None}, "gamma must be"),
    ({"gamma": True}, "gamma must be"),
    ({"gamma": np.ones(4)}, "gamma must be one number"),
    ({"class_weight": "even"}, "class_weight must be"),
    ({"class_weight": [1.0, 2.0]}, "class_weight must be"),
    ({"class_weight": {0: -1.0}}, "class_weight must be"),
    ({"class_weight": {0: 0.0}}, "class_weight must be"),
    ({"kernel": lambda X, Y: np.full((X.shape[0], Y.shape[0]), np.nan)}, "kernel.*NaN"),
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_parameters(name):
    """`fit` refuses them, whether it is the first or not, and a fitted model stays as it was."""
    model = clone(ESTIMATORS[name])
    X, y = make_samples(model)
    good = model.get_params()
    fresh = clone(model.fit(X, y)).fit(X, y)
    for parameters, match in BAD_PARAMETERS:
        if not parameters.keys() <= good.keys():
            continue
        for method in ("fit", "partial_fit"):
            with pytest.raises(ValueError, match=match):
                getattr(clone(model).set_params(**parameters), method)(X, y)
        model.set_params(**parameters)
        with pytest.raises(ValueError, match=match):
            model.fit(X[:20], y[:20])
        assert_same_model(model.set_params(**good), fresh)


# -- classes ------------------------------------------------------------------------------------


def test_one_class(classifier):
    X, y = make_samples(classifier)
    one = np.flatnonzero(y == 1)
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="at least two classes, got one class: 1"):
            getattr(clone(classifier), method)(X[one], y[one])
    before = snapshot(classifier.fit(X, y))
    with pytest.raises(ValueError, match="got one class: 1"):
        classifier.fit(X[one], y[one])
    assert_still_works(classifier, before, X, y)


def test_forget_all_but_one_class(classifier):
    X, y = make_samples(classifier, classes=3)
    before = snapshot(classifier.fit(X, y))
    for gone in (np.flatnonzero(y != 2), np.arange(30)):
        with pytest.raises(ValueError, match="fewer than two classes"):
            classifier.forget(gone)
        assert_unchanged(classifier, before)
    assert_still_works(classifier, before, X, y)


def test_continuous_labels(classifier):
    X, y = make_samples(classifier)
    before = snapshot(classifier.fit(X, y))
    for method in (classifier.fit, classifier.partial_fit):
        with pytest.raises(ValueError, match="continuous"):
            method(X, X[:, 0])
    assert_still_works(classifier, before, X, y)


def test_labels_in_two_columns(classifier):
    X, y = make_samples(classifier)
    with pytest.raises(ValueError, match="1d array"):
        classifier.fit(X, np.column_stack([y, y]))


def test_labels_of_another_kind_than_those_held(classifier):
    X, y = make_samples(classifier)
    before = snapshot(classifier.fit(X, np.array(["a", "b"])[y]))
    with pytest.raises((TypeError, ValueError), match=r"labels|classes"):
        classifier.partial_fit(X[:4] + 1, y[:4])
    assert_unchanged(classifier, before)


# -- duplicates and memory ----------------------------------------------------------------------


def test_exact_duplicates(estimator):
    X, y = make_samples(estimator)
    if estimator.get_params().get("ridge") != 0:
        estimator.fit(X, y).partial_fit(X[:3], y[:3]).partial_fit(X[:3], y[:3])
        estimator.forget([0, 1, 2, 33])
        assert_same_model(estimator, refit(estimator), updates=10)
        return
    before = snapshot(estimator.fit(X, y))
    with pytest.raises(ValueError, match=r"exact duplicates.*set `ridge` > 0"):
        clone(estimator).fit(np.vstack([X, X[:1]]), np.append(y, y[0]))
    with pytest.raises(ValueError, match=r"exact duplicates.*set `ridge` > 0"):
        estimator.partial_fit(X[:1], y[:1])
    assert_still_works(estimator, before, X, y)


@pytest.fixture
def no_memory(monkeypatch):
    """Only a kilobyte is free, and small matrices are checked too."""
    monkeypatch.setattr(_slots, "SMALL", 0)
    return lambda: monkeypatch.setattr(_memory, "available_memory", lambda: 1024)


@pytest.fixture(params=[name for name in SQUARE if not name.endswith("linear")])
def square(request):
    """Each estimator that holds a square matrix of its samples, unfitted."""
    return clone(ESTIMATORS[request.param])


def test_too_many_samples_for_the_memory(square, no_memory):
    X, y = make_samples(square)
    before = snapshot(square.fit(X, y))
    no_memory()
    with pytest.raises(MemoryError, match=r"30 samples needs .* GiB, and this machine has"):
        clone(square).fit(X, y)
    with pytest.raises(MemoryError, match="Gram matrix"):
        square.fit(X, y)
    assert_unchanged(square, before)


def test_no_memory_to_grow(square, no_memory):
    X, y = make_samples(square)
    before = snapshot(square.fit(X[:10], y[:10]))
    no_memory()
    with pytest.raises(MemoryError, match="Growing the Gram matrix"):
        square.partial_fit(X[10:], y[10:])
    assert_unchanged(square, before)


def test_forgetting_needs_no_memory(estimator, no_memory):
    """Who is short of memory forgets; that must not fail half-way."""
    X, y = make_samples(estimator, 60)
    estimator.fit(X, y)
    no_memory()
    gone = np.setdiff1d(np.arange(60), [np.argmin(y), np.argmax(y)])
    for part in np.array_split(gone, 4):
        estimator.forget(part)
    assert len(estimator.predict(X)) == 60


def test_integers_beyond_float(estimator):
    X, y = make_samples(estimator, 12)
    wrong = X.astype(object)
    wrong[1, 1] = 10**400
    with pytest.raises(ValueError, match="too large for float64"):
        estimator.fit(wrong, y)
    estimator.fit(X, y)
    with pytest.raises(ValueError, match="too large for float64"):
        estimator.partial_fit(wrong, y)
    with pytest.raises(ValueError, match="too large for float64"):
        estimator.predict(wrong)


@pytest.mark.parametrize("table", [False, True])
def test_columns_on_very_different_scales_are_warned_of(table):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)) * [1.0, 3e3, 0.0], np.arange(40) % 2
    model = KernelDiscriminant(gamma=1.0, ridge=1.0)
    columns, names = X, ("1", "0")
    if table:
        names = "'income'", "'age'"
        pandas = pytest.importorskip("pandas")
        columns = pandas.DataFrame(X, columns=["age", "income", "year"])
    match = f"column {names[0]} has .* column {names[1]} a range of only .*StandardScaler"
    with pytest.warns(ScaleWarning, match=match) as seen:
        model.fit(columns, y)
    assert seen[0].filename == __file__
    model.set_params(gamma=np.array([1.0, 1e-7, 1.0])).fit(X, y)  # the widths are the scales
    model.set_params(gamma=1.0).fit(sparse.csr_array(X), y)
    X[0, 1] = 1e200  # its square overflows
    model.fit(X, y)


def test_forget_never_fails(monkeypatch):
    """Where no engine can be built for what is left, the samples leave; a later use builds it."""
    model = KernelDiscriminant(gamma=0.5, ridge=0.1)
    X, y = make_samples(model, 20)
    model.fit(X, y)

    def refuse(*args):
        raise NotPositiveDefiniteError(3, 0.0, 0.0)

    with monkeypatch.context() as patch:
        patch.setattr(DenseEngine, "remove", refuse)
        patch.setattr(DenseSpec, "build", refuse)
        model.forget([4])
        assert 4 not in model.ids_
        assert len(model.X_fit_) == 19
        with pytest.raises(NotPositiveDefiniteError, match="Schur complement"):
            model.predict(X)
        model.forget([5])
    assert len(model.ids_) == 18
    stay = np.delete(np.arange(20), [4, 5])
    close_values(values(model), values(clone(model).fit(X[stay], y[stay])), n=18)
    model.partial_fit(X[4:6], y[4:6]).forget([0])


def test_forget_never_fails_on_a_basis(monkeypatch):
    model = OrthogonalKernelClassifier(gamma=0.5, ridge=0.1, max_basis=5)
    X, y = make_samples(model, 30)
    model.fit(X[:25], y[:25])

    def refuse(*args):
        raise np.linalg.LinAlgError("the rows do not determine the weights.")

    with monkeypatch.context() as patch:
        patch.setattr(BasisEngine, "_without", refuse)
        patch.setattr(BasisSpec, "bases", refuse)
        model.forget([4]).forget([5])
        with pytest.raises(np.linalg.LinAlgError, match="do not determine"):
            model.predict(X)
    assert len(model.predict(X)) == 30
    assert model.rebuilds_[-1].reason.startswith("forgetting by an update failed")
    model.learn_rows(X[25:], y[25:])
    monkeypatch.setattr(BasisEngine, "_without", refuse)
    before = values(model)
    with pytest.raises(np.linalg.LinAlgError, match="do not determine"):
        model.forget([6])
    np.testing.assert_array_equal(values(model), before)
