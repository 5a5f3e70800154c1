"""Bad numbers: each gives a right model, or an error that a user can read.

A case makes samples, targets and ids of a strange kind and hands them to every estimator. What
comes back must be a model that equals a fresh one and predicts finite values or labels that it was
given; or a ValueError or TypeError in the house style. Every other exception is a failure.
"""

from __future__ import annotations

import copy
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier

import gramian
from tests.estimators.conftest import ONE_OF_EACH
from tests.torture.common import bad_error, distance, values


def _plain(rng, model, n=24, d=3, scale=1.0):
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] > np.median(X[:, 0]), 1, 0) if is_classifier(model) else X[:, 0] ** 2
    return X * scale, y


def _scaled(scale, one=False):
    def make(rng, model):
        X, y = _plain(rng, model)
        if one:
            X[3, 1] = scale
            return {"X": X, "y": y}
        return {"X": X * scale, "y": y}

    return make


def _labelled(make_labels):
    def make(rng, model):
        X, y = _plain(rng, model)
        return {"X": X, "y": make_labels(y)}

    return make


def _with_ids(make_ids):
    def make(rng, model):
        X, y = _plain(rng, model)
        return {"X": X, "y": y, "ids": make_ids(len(y))}

    return make


def _few(n, same=False):
    def make(rng, model):
        X, y = _plain(rng, model, n)
        return {"X": X, "y": y * 0 if same else np.arange(n) % 2 if is_classifier(model) else y}

    return make


def _many_classes(rng, model):
    quick = isinstance(model, gramian.KernelDiscriminant | gramian.LeastSquaresSVC)
    n = 1000 if quick else 100  # estimators that solve for each class on its own take minutes
    X = rng.standard_normal((n, 2))
    return {"X": X, "y": np.arange(n) if is_classifier(model) else X[:, 0]}


def _no_features(rng, model):
    return {"X": np.empty((24, 0)), "y": _plain(rng, model)[1]}


def _wide(rng, model):
    X = sparse.random_array((24, 100_000), density=1e-4, random_state=rng, format="csr")
    return {"X": X, "y": _plain(rng, model)[1]}


def _objects(cells):
    def make(rng, model):
        X, y = _plain(rng, model)
        X = X.astype(object)
        X[:, 1] = [cells[i % len(cells)] for i in range(len(X))]
        return {"X": X, "y": y}

    return make


def _weights(weight):
    def make(rng, model):
        X, y = _plain(rng, model)
        return {"X": X, "y": y, "sample_weight": weight(len(y))}

    return make


def _declared(classes):
    def make(rng, model):
        X, y = _plain(rng, model)
        return {"X": X, "y": y, "classes": classes}

    return make


def _half(low, high):
    """Labels, or targets, of two values."""
    return lambda y: np.array([high if value > np.median(y) else low for value in y])


def _text(low, high):
    return lambda y: np.array([high if value > np.median(y) else low for value in y], dtype=object)


def _dates(y):
    return np.datetime64("2020-01-01") + np.asarray(y > np.median(y), dtype="timedelta64[D]")


CASES = {
    "n = 1": _few(1),
    "n = 2": _few(2),
    "n = 3": _few(3),
    "one class or constant target": _few(24, same=True),
    "1,000 classes": _many_classes,
    "no features": _no_features,
    "100,000 sparse features": _wide,
    "scale 1e-300": _scaled(1e-300),
    "scale 1e-160": _scaled(1e-160),
    "scale 1e100": _scaled(1e100),
    "scale 1e155": _scaled(1e155),
    "scale 1e300": _scaled(1e300),
    "scale 1e308": _scaled(1e308 / 4),
    "subnormals": _scaled(5e-324 * 2**20),
    "one feature 1e155": _scaled(1e155, one=True),
    "one feature 1e300": _scaled(1e300, one=True),
    "labels 1e15": _labelled(_half(1e15, 1e15 + 1)),
    "labels 2**62": _labelled(_half(2**62, 2**62 + 1)),
    "labels 2**63": _labelled(_half(2**63, 2**63 + 1)),
    "labels 2**70": _labelled(_text(2**70, 2**70 + 1)),
    "labels 1e300": _labelled(_half(-1e300, 1e300)),
    "labels nan": _labelled(_half(np.nan, 1.0)),
    "labels infinite": _labelled(_half(0.0, np.inf)),
    "labels 0.5": _labelled(_half(0.5, 1.5)),
    "labels bool": _labelled(_half(False, True)),
    "labels a and a NUL": _labelled(_text("a", "a\0")),
    "labels of str dtype with NUL": _labelled(_half("a\0b", "b")),
    "labels empty text": _labelled(_text("", "a")),
    "labels bytes": _labelled(_half(b"a", b"b")),
    "labels None": _labelled(_text(None, "a")),
    "labels mixed": _labelled(_text(1, "a")),
    "labels tuples": _labelled(lambda y: [(int(v > 0), 1) for v in y]),
    "labels datetimes": _labelled(_dates),
    "labels timedeltas": _labelled(lambda y: _dates(y) - np.datetime64("2020-01-01")),
    "labels complex": _labelled(_half(1j, 2j)),
    "labels very long": _labelled(_text("x" * 100_000, "y")),
    "ids 2**70": _with_ids(lambda n: [2**70 + i for i in range(n)]),
    "ids 2**63": _with_ids(lambda n: [2**63 + i for i in range(n)]),
    "ids -2**70": _with_ids(lambda n: [-(2**70) - i for i in range(n)]),
    "ids -2**63": _with_ids(lambda n: [-(2**63) + i for i in range(n)]),
    "ids to 2**63 - 1": _with_ids(lambda n: [2**63 - 1 - i for i in range(n)]),
    "ids uint64": _with_ids(lambda n: np.arange(n, dtype=np.uint64) + np.uint64(2**63)),
    "ids floats": _with_ids(lambda n: np.arange(n) + 0.5),
    "ids whole floats": _with_ids(lambda n: np.arange(n) * 1.0),
    "ids nan": _with_ids(lambda n: np.full(n, np.nan)),
    "ids tuples": _with_ids(lambda n: [(i, i) for i in range(n)]),
    "ids ragged": _with_ids(lambda n: [(i,) * (i % 3) for i in range(n)]),
    "ids very long": _with_ids(lambda n: [f"{'x' * 100_000}{i}" for i in range(n)]),
    "ids with NUL": _with_ids(lambda n: [f"a{i // 2}" + "\0" * (i % 2) for i in range(n)]),
    "ids empty text": _with_ids(lambda n: ["", *(f"a{i}" for i in range(1, n))]),
    "ids bytes": _with_ids(lambda n: [f"a{i}".encode() for i in range(n)]),
    "ids dates": _with_ids(lambda n: np.datetime64("2020-01-01") + np.arange(n)),
    "ids bool": _with_ids(lambda n: [bool(i % 2) for i in range(n)]),
    "ids None": _with_ids(lambda n: [None] * n),
    "ids a dict": _with_ids(lambda n: {i: i for i in range(n)}),
    "ids a scalar": _with_ids(lambda n: 3),
    "object columns of numbers": _objects([1, 2.5]),
    "object columns of text": _objects(["a", 1]),
    "object columns of numerals": _objects(["1", "2"]),
    "object columns of None": _objects([None, 1]),
    "object columns of lists": _objects([[1], 2]),
    "object columns of 10**400": _objects([10**400, 1]),
    "weights 1e-300": _weights(lambda n: np.full(n, 1e-300)),
    "weights 1e-30 and 1e30": _weights(lambda n: 10.0 ** np.where(np.arange(n) % 2, 30, -30)),
    "weights 1e300": _weights(lambda n: np.full(n, 1e300)),
    "weights 1e-300 and 1e300": _weights(lambda n: 10.0 ** np.where(np.arange(n) % 2, 300, -300)),
    "weights negative": _weights(lambda n: np.where(np.arange(n) % 2, -1.0, 1.0)),
    "weights nan": _weights(lambda n: np.full(n, np.nan)),
    "weights zero": _weights(np.zeros),
    "weights text": _weights(lambda n: ["a"] * n),
    "classes text": _declared(["2"]),
    "classes 2": _declared([2]),
    "classes nan": _declared([np.nan]),
    "classes a scalar": _declared(3),
    "classes nested": _declared([[0, 1]]),
    "classes None inside": _declared([None]),
    "classes a date": _declared([np.datetime64("2020-01-01")]),
    "classes complex": _declared([1j]),
}
EXACT = 1e-6  # a wrong answer is far above, rounding of these few samples far below


def attempt(estimator, case, seed):
    """What goes wrong with one estimator in one case."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        made = case(rng, estimator)
        classes = made.pop("classes", None)
        if classes is not None and not is_classifier(estimator):
            return
        for how in ("fit", "partial_fit", "first partial_fit"):
            if classes is not None and how == "fit":
                continue
            try:
                yield from _use(clone(estimator), how, made, classes)
            except Exception as error:
                problem = bad_error(error, (ValueError, TypeError))
                if problem:
                    yield f"{how}: {problem}"


def _use(model, how, made, classes):
    """Hand the samples over and read everything; what is wrong with the answers."""
    made = copy.copy(made)
    if classes is not None:
        made["classes"] = classes
    if how == "partial_fit":
        X, y = made["X"], made["y"]
        start = np.random.default_rng(1).standard_normal((12, X.shape[1]))
        if sparse.issparse(X):
            start = sparse.csr_array(start)
        first = np.resize(np.array([0.0, 1.0]), 12)
        if is_classifier(model):  # of the kind of those that come
            text = isinstance(np.asarray(y).ravel()[0], str)
            first = np.resize(np.array(["a", "c"] if text else [0, 1]), 12)
        textual = isinstance(next(iter(made.get("ids", [0])), 0), str) if _many(made) else False
        model.fit(start, first, ids=[f"s{i}" for i in range(12)] if textual else -5 - np.arange(12))
    getattr(model, how.split()[-1])(**made)
    yield from _judge(model, made)
    yield from _edited(model, made)
    yield from _judge(model, made)


def _many(made):
    return np.iterable(made.get("ids", ()))


def _judge(model, made):
    X = model.X_fit_
    found = values(model, X)
    if not is_classifier(model) and not np.isfinite(found).all():
        yield "predictions are not finite"
    if np.isnan(found).any():
        yield "NaN among the decision values"
    off = distance(found, values(model.refitted(), X), least=1.0 if is_classifier(model) else 0.0)
    if not off <= EXACT:
        yield f"{off:.1e} off a fresh model"
    if is_classifier(model):
        given = {repr(label) for label in [*np.unique(model.y_fit_), *model.classes_]}
        if not {repr(label) for label in model.predict(X)} <= given:
            yield "predicts labels that nobody gave"
        if len({repr(label) for label in np.asarray(made["y"]).tolist()}) > len(model.classes_):
            yield "merged classes"
        if not np.allclose(model.predict_proba(X).sum(axis=1), 1.0):
            yield "probabilities do not add up to one"
    if len(model.ids_) > 2 and np.isnan(model.loo_decision_function()).any():
        yield "NaN among the leave-one-out values"
    if len(model.ids_) > 2:
        model.loo_score()
    if len(set(model.ids_.tolist())) != len(model.ids_):
        yield "ids came together"


def _edited(model, made):
    """Forget one and learn it again under a number of its own."""
    n = len(model.ids_)
    if n < 4 or n > 100:
        return
    gone = model.ids_[-1]
    row, y = model.X_fit_[[-1]], model.y_fit_[[-1]]
    if is_classifier(model) and np.sum(model.y_fit_ == y[0]) < 2:
        return
    model.forget(gone)
    if gone in set(model.ids_.tolist()):
        yield "forgot nothing"
    model.partial_fit(row, y, ids=[gone])


def main(seed=0, seconds=None, n=None, names=None):
    """All cases on one configuration of each estimator, ``n`` times; attempts and failures."""
    tried, failures = 0, []
    for case, make in CASES.items():
        for name, estimator in ONE_OF_EACH.items():
            if names and name not in names:
                continue
            tried += 1
            wrong = dict.fromkeys(attempt(estimator, make, seed))
            failures += [f"numbers {case}, {name}: {problem}" for problem in wrong]
    wrong = _automatic_ids()
    return tried + 1, failures + wrong


def _automatic_ids():
    """The largest id there is does not end automatic numbers, and none is given twice."""
    X, y = np.random.default_rng(0).standard_normal((6, 2)), np.arange(6) % 2
    model = gramian.KernelDiscriminant(gamma=0.5, ridge=0.1)
    model.fit(X, y, ids=[2**63 - 1, 1, 2, 3, 4, 5]).partial_fit(X + 1.0, y)
    twice = len(model.ids_) - len(set(model.ids_.tolist()))
    return [f"numbers automatic ids: {twice} numbers were given twice"] if twice else []
