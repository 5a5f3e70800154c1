"""What a model says of itself and of queries: left out, with probabilities, with a guarantee."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from gramian import ChoiceWarning
from gramian.data import label_issues, leave_two_out, sample_values, suggest
from gramian.plots import sample_influence
from tests.matrix.capabilities import capability
from tests.matrix.cases import Array, Case, as_array

left_out = partial(capability, group="leave-one-out")
sure = partial(capability, group="how sure")
data = partial(capability, group="data")

SOME = (0, 9)
"""Samples that are left out by brute force."""


def judged(case: Case, model: Any) -> list[int]:
    """Some samples that are no centres: a centre that is left out stays one."""
    centres = model.basis_ids_.tolist() if "max_basis" in case.params else []
    return [k for k in case.held.tolist() if k not in centres][:2]


@left_out("loo_decision_function")
def left_out_values(case: Case, folder: Path) -> None:
    model = case.model()
    F = as_array(model.loo_decision_function())
    for k in judged(case, model):
        case.close(F[k], case.values(case.without(k), np.array([k]))[0])


@left_out("loo_predict")
def left_out_predictions(case: Case, folder: Path) -> None:
    model = case.model()
    found = as_array(model.loo_predict())
    for k in judged(case, model):
        twin = case.without(k)
        expected = as_array(twin.predict(case.queries(twin, np.array([k]))))[0]
        if case.classifies:
            assert found[k] == expected
        else:
            case.close(found[k], expected)


@left_out("loo_predict_proba", needs="loo_predict_proba")
def left_out_probabilities(case: Case, folder: Path) -> None:
    model = case.model()
    P = as_array(model.loo_predict_proba())
    assert P.shape == (len(case.held), case.how.classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-6)
    _most_probable(P, np.searchsorted(model.classes_, as_array(model.loo_predict())))


@left_out("loo_score")
def left_out_score(case: Case, folder: Path) -> None:
    model = case.model()
    judge = accuracy_score if case.classifies else r2_score
    expected = judge(
        model.y_fit_, as_array(model.loo_predict()), sample_weight=model.sample_weight_
    )
    np.testing.assert_allclose(model.loo_score(), expected, atol=1e-5)


@sure("predict_proba", needs="predict_proba")
def probabilities(case: Case, folder: Path) -> None:
    model = case.model()
    X = case.queries(model)
    P = as_array(model.predict_proba(X))
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-6)
    _most_probable(P, np.searchsorted(model.classes_, as_array(model.predict(X))))


def _most_probable(P: Array, predicted: Array) -> None:
    """What is predicted is as probable as anything else; all are equal if nothing is known."""
    np.testing.assert_allclose(P[np.arange(len(P)), predicted], P.max(axis=1), rtol=1e-6)


def nonconformity(F: Array, own: Array) -> Array:
    """The best other output minus that of the own class."""
    F = np.asarray(F, dtype=float).reshape(len(own), -1)
    if F.shape[1] == 1:
        return np.where(own == 1, -F[:, 0], F[:, 0])
    rest = F.copy()
    rest[np.arange(len(F)), own] = -np.inf
    return rest.max(axis=1) - F[np.arange(len(F)), own]


def without_folds(case: Case, model: Any) -> tuple[Array, list[Any]]:
    """Each sample's fold, and for each fold a model that was tuned and fitted without it."""
    fold = model.nested_score(folds=5 + case.takes_several).fold  # not those that a stack knows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChoiceWarning)  # without a fold, a metric may be dropped
        return fold, [case.fit(case.held[fold != k]) for k in range(fold.max() + 1)]


def p_values_by_folds(case: Case, model: Any, query: int) -> Array:
    """The share of samples that fit no better than the query by the model without their fold."""
    fold, models = without_folds(case, model)
    rows, labels = np.array([query]), np.unique(case.y[case.held])
    own = np.searchsorted(labels, case.y[case.held])
    scores = np.empty(len(fold))
    for k, one in enumerate(models):
        left = np.flatnonzero(fold == k)
        scores[left] = nonconformity(case.values(one, case.held[left]), own[left])
    found = []
    for label in range(len(labels)):
        at = np.array([nonconformity(case.values(one, rows), rows * 0 + label) for one in models])
        reached = scores >= at[fold, 0] - 1e-6 * np.maximum(1.0, np.abs(at[fold, 0]))
        weight = case.weight[case.held]
        found.append((1.0 + weight @ reached) / (1.0 + weight.sum()))
    return np.array(found)


def intervals_by_folds(case: Case, model: Any, confidence_level: float) -> Array:
    """Ends (m, t, 2): order statistics of predictions without a fold, and residuals there."""
    fold, models = without_folds(case, model)
    n, m = len(fold), len(case.asked)
    at = np.stack([case.values(one).reshape(m, -1) for one in models])
    y = case.y[case.held].reshape(n, -1)
    R = np.empty(y.shape)
    for k, one in enumerate(models):
        left = np.flatnonzero(fold == k)
        R[left] = np.abs(y[left] - case.values(one, case.held[left]).reshape(len(left), -1))
    weight = case.weight[case.held]
    most = (1.0 - confidence_level) * (1.0 + weight.sum()) * (1.0 + 1e-9)
    ends = np.empty((m, y.shape[1], 2))
    for sign, end in ((-1.0, 0), (1.0, 1)):
        reach = sign * (at[fold] + sign * R[:, None])  # the last of those that may be left outside
        order = np.argsort(-reach, axis=0)
        few = np.cumsum(weight[order], axis=0) <= most
        last = np.where(few, np.take_along_axis(reach, order, axis=0), np.inf).min(axis=0)
        ends[..., end] = sign * last
    return ends


def judged_by_folds(model: Any) -> bool:
    """As documented: 20 samples or more, and something was chosen on them."""
    return bool(model.chosen_on_data_) and len(model.ids_) >= 20


def brute_p_values(case: Case, query: int) -> Array:
    """The share of samples that fit no better than the query with each label, all left out."""
    found = []
    for label in np.unique(case.y[case.held]):
        twin = case.model()
        rows = np.array([query])
        twin.partial_fit(case.to_learn(twin, rows), [label], ids=rows)
        F = as_array(twin.loo_decision_function()).astype(float).reshape(len(twin.ids_), -1)
        F = np.clip(F, -30.0, 30.0)
        scores = nonconformity(F, np.searchsorted(twin.classes_, twin.y_fit_))
        least = scores[-1] - 1e-6 * max(1.0, abs(scores[-1]))
        found.append(np.average(scores >= least, weights=twin.sample_weight_))
    return np.array(found)


@sure("p_values", needs="p_values", slow=True)
def p_values(case: Case, folder: Path) -> None:
    model, query = case.model(), int(case.asked[0])
    by_folds = judged_by_folds(model)
    expected = p_values_by_folds(case, model, query) if by_folds else brute_p_values(case, query)
    found = model.p_values(case.queries_to_add(model))
    np.testing.assert_allclose(found[0], expected, atol=1e-9)


@sure("predict_set", needs="predict_set")
def sets(case: Case, folder: Path) -> None:
    model = case.model()
    X = case.queries_to_add(model)
    inside = as_array(model.predict_set(X, confidence_level=0.8))
    np.testing.assert_array_equal(inside, as_array(model.p_values(X)) > 1.0 - 0.8)


@sure("predict_region", needs="predict_region")
def regions(case: Case, folder: Path) -> None:
    """Just inside an end the number fits better than the rank allows, just outside it does not."""
    model = case.model()
    found = model.predict_region(case.queries_to_add(model), confidence_level=0.8)[0]
    columns = [found] if not case.how.targets else found
    for column, parts in enumerate(columns):
        low, high = parts[0]
        step = 1e-3 * (high - low)
        for number, inside in ((low + step, True), (low - step, False)):
            assert (_fit_of(case, column, number) > 0.2) == inside


def _fit_of(case: Case, column: int, number: float) -> float:
    """The p-value of a number as the target of the first query, by learning it."""
    twin, rows = case.model(), case.asked[:1]
    y = np.full((1, case.how.targets), number) if case.how.targets else [number]
    twin.partial_fit(case.to_learn(twin, rows), y, ids=rows)
    n = len(twin.ids_)
    residuals = np.abs(twin.y_fit_ - as_array(twin.loo_predict())).reshape(n, -1)[:, column]
    fits_no_better = residuals >= residuals[-1] * (1 - 1e-9)
    return float(np.average(fits_no_better, weights=twin.sample_weight_))


@sure("predict_interval", needs="predict_interval")
def intervals(case: Case, folder: Path) -> None:
    model = case.model()
    X = case.queries_to_add(model)
    by_folds = intervals_by_folds(case, model, 0.8) if judged_by_folds(model) else None
    found = model.predict_interval(X, confidence_level=0.8, width="constant")
    found = as_array(found).reshape(len(case.asked), -1, 2)
    if by_folds is not None:
        case.close(found, by_folds)
        return
    for query, parts in enumerate(model.predict_region(X, confidence_level=0.8)):
        for column, part in enumerate(parts if case.how.targets else [parts]):
            case.close(found[query, column], [part.min(), part.max()])


@sure("predict_interval, local", needs="predict_interval")
def local_intervals(case: Case, folder: Path) -> None:
    """Finite, and the same after a sample has come and gone; tests/estimators has refits."""
    model = case.model()
    X = case.queries(model)
    found = as_array(model.predict_interval(X, 0.8, "jackknife+", "local"))
    centre = as_array(model.predict(X)).reshape(len(case.asked), -1)
    ends = found.reshape(*centre.shape, 2)
    assert np.isfinite(ends).all()
    assert (ends[..., 0] < ends[..., 1]).all()
    again = model.partial_fit(
        case.to_learn(model, case.asked[:1]), case.y[case.asked[:1]], ids=[999]
    )
    X = case.queries(again.forget([999]))
    case.close(as_array(again.predict_interval(X, 0.8, "jackknife+", "local")), found, 1e-6)


@data("leave_two_out")
def pairs(case: Case, folder: Path) -> None:
    """Without a sample, the leave-one-out values of the others."""
    model = case.model()
    found = leave_two_out(model)
    assert found.ids.tolist() == case.held.tolist()
    for k in judged(case, model):
        twin = case.without(k)
        left_out = as_array(twin.loo_decision_function()).reshape(len(twin.ids_), -1)
        others = [j for j in judged(case, model) if j != k]
        for j in others:
            case.close(found.values[k, j], left_out[j - (j > k)], 1e-6)


@data("sample_values")
def values_of_samples(case: Case, folder: Path) -> None:
    """The loss of queries without a sample, less that with it."""
    model = case.model()
    X, y = case.queries(model), case.y[case.asked]
    found = sample_values(model, X, y)
    assert found.ids.tolist() == case.held.tolist()
    if case.classifies:
        assert np.isfinite(found.values).all()
        return
    with_it = np.mean(_squares(case, model))
    for k in judged(case, model):
        expected = np.mean(_squares(case, case.without(k))) - with_it
        case.close(found.values[k], expected, 1e-8)


def _squares(case: Case, model: Any) -> Array:
    squares = (case.values(model) - case.y[case.asked]) ** 2
    return squares.reshape(len(squares), -1).sum(axis=1)


@data("label_issues", needs="predict_proba")
def issues(case: Case, folder: Path) -> None:
    model = case.model()
    found = label_issues(model)
    own = np.searchsorted(model.classes_, model.y_fit_)
    F = as_array(model.loo_decision_function())
    if case.takes_several and "weights" in case.how.chosen:  # it knows values out of fold
        F = as_array(model.nested_score().values)
    best = (F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)
    known = np.ptp(found.pred_probs, axis=1) > 0  # a scale of 0: the model knows nothing
    wrong = np.flatnonzero((best != own) & known)
    assert sorted(found.ids.tolist()) == model.ids_[wrong].tolist()


@data("suggest")
def suggestions(case: Case, folder: Path) -> None:
    model = case.model()
    X = case.queries(model)
    found = suggest(model, X, k=2)
    assert len(set(found.positions.tolist())) == 2
    assert np.isfinite(as_array(found.scores)).all()


@data("sample_influence")
def influence(case: Case, folder: Path) -> None:
    model = case.model()
    found, before = sample_influence(model), case.values(model, case.held)
    for k in SOME:
        after = case.values(_without(case, k), case.held)
        moved = np.linalg.norm((after - before).reshape(len(before), -1), axis=1)
        case.close(found.rms[k], np.sqrt(np.mean(moved**2)))
        case.close(found.own[k], moved[k])


def _without(case: Case, sample: int) -> Any:
    """The model without a sample; balanced class weights stay as they are, as documented."""
    if case.how.params.get("class_weight") != "balanced":
        return case.without(sample)
    model, rest = case.model(), np.delete(case.held, sample)
    labels, counts = np.unique(model.y_fit_, return_counts=True)
    weights = len(model.y_fit_) / (len(labels) * counts)
    model.set_params(class_weight=dict(zip(labels.tolist(), weights.tolist(), strict=True)))
    return model.fit(case.form(case.X[rest]), case.y[rest], **case.options(rest))
