"""Learning, forgetting, and everything else that changes a model, against a fit from scratch."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path

import numpy as np

from gramian import ChoiceWarning
from tests.matrix.capabilities import capability
from tests.matrix.cases import Case, kernel_values

edit = partial(capability, group="edits")


@edit("fit")
def fits(case: Case, folder: Path) -> None:
    model = case.model()
    assert model.ids_.tolist() == case.held.tolist()
    np.testing.assert_array_equal(model.y_fit_, case.y[case.held])
    np.testing.assert_allclose(model.sample_weight_, case.weight[case.held])
    assert np.isfinite(case.values(model)).all()
    found = _by_its_formula(case)
    if found is not None:
        case.close(case.values(model), found)


@edit("tuning_fraction")
def tunes_apart(case: Case, folder: Path) -> None:
    model = case.unfitted().set_params(tuning_fraction=0.4)
    X, y = case.form(case.X[case.held]), case.y[case.held]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChoiceWarning)  # of so few samples, a metric is dropped
        model.fit(X, y, **case.options(case.held))
    assert len(model.ids_) == round(0.6 * len(case.held))
    assert model.chosen_on_data_ == ()
    case.close(case.values(model), case.values(model.refitted()))
    aside = np.setdiff1d(case.held, model.ids_)
    if "C" in case.how.chosen and hasattr(model, "C_"):
        np.testing.assert_allclose(model.C_, case.fit(aside).C_)  # chosen on those alone


@edit("partial_fit")
def learns(case: Case, folder: Path) -> None:
    model = case.model()
    for some in (case.more[:1], case.more[1:]):
        X = case.to_learn(model, some)
        model.partial_fit(X, case.y[some], **case.options(some))
    assert model.ids_.tolist() == [*case.held, *case.more]
    case.close(case.values(model), case.expected(model))


@edit("forget")
def forgets(case: Case, folder: Path) -> None:
    model = case.model().forget([3]).forget([7, 8])
    assert not {3, 7, 8} & set(model.ids_.tolist())
    np.testing.assert_allclose(model.sample_weight_, case.weight[model.ids_])
    case.close(case.values(model), case.expected(model))


@edit("exchange")
def exchanges(case: Case, folder: Path) -> None:
    model = case.model()
    options = case.options(case.more)
    options["new_ids"] = options.pop("ids")
    model.exchange([3, 4], case.to_learn(model, case.more), case.y[case.more], **options)
    assert model.ids_.tolist() == [*np.delete(case.held, [3, 4]), *case.more]
    case.close(case.values(model), case.expected(model))


@edit("relabel")
def relabels(case: Case, folder: Path) -> None:
    y = case.y.copy()
    y[5] = case.changed_label(5)
    model = case.model().relabel([5], y[[5]])
    assert model.ids_[-1] == 5
    case.close(case.values(model), case.expected(model, y))


@edit("reselect")
def chooses_anew(case: Case, folder: Path) -> None:
    gone = np.delete(case.held, [3])
    model = case.model().forget([3]).reselect(fresh=True)
    case.close(case.values(model), case.values(case.fit(gone)), 1e-6)  # two searches, one optimum


@edit("rebuild")
def rebuilds(case: Case, folder: Path) -> None:
    model = case.model().forget([3])
    before = case.values(model)
    case.close(case.values(model.rebuild()), before)
    assert model.drift() < (1e-3 if case.how.dtype == "float32" else 1e-9)


@edit("settle")
def settles(case: Case, folder: Path) -> None:
    model = case.model().forget([3]).settle()
    case.close(case.values(model), case.expected(model))


@edit("snapshot")
def copies(case: Case, folder: Path) -> None:
    model = case.model()
    before = case.values(model)
    twin = model.snapshot(loo=True)
    left_out = twin.loo_decision_function()
    model.forget([3])
    case.close(case.values(twin), before, 1e-12)
    case.close(left_out, case.model().loo_decision_function(), 1e-12)


def _by_its_formula(case: Case) -> np.ndarray | None:
    """Decision values of the least-squares estimators with fixed numbers, solved directly."""
    params = case.params
    if case.makes_choices or case.how.params.get("class_weight") == "balanced":
        return None
    if case.estimator.startswith("Stacked"):
        first, second = params["kernel"]
        gammas = params["gamma"] if isinstance(params["gamma"], list) else [params["gamma"]] * 2
        parts = [_solved(case, k, g) for k, g in zip((first, second), gammas, strict=True)]
        return sum(w * F for w, F in zip(params["weights"], parts, strict=True))
    if case.estimator.startswith("LeastSquares"):
        return _solved(case, params["kernel"], params["gamma"])
    return None


def _solved(case: Case, kernel: object, gamma: object) -> np.ndarray:
    """duan2008: the bordered system of a least-squares SVM, one against the rest."""
    X, y, w = case.X[case.held], case.y[case.held], case.weight[case.held]
    for label, factor in (case.how.params.get("class_weight") or {}).items():
        w = np.where(y == label, factor * w, w)
    if kernel == "precomputed":
        kernel = "rbf"
    A = np.zeros((len(X) + 1, len(X) + 1))
    A[1:, 1:] = kernel_values(kernel, gamma, X, X) + np.diag(1.0 / (10.0 * w))
    A[0, 1:] = A[1:, 0] = 1.0
    if case.classifies:
        classes = np.unique(y)[1:] if case.how.classes == 2 else np.unique(y)
        Y = np.where(y[:, None] == classes, 1.0, -1.0)
    else:
        Y = y.reshape(len(y), -1)
    solved = np.linalg.solve(A, np.vstack([np.zeros(Y.shape[1]), Y]))
    F = kernel_values(kernel, gamma, case.X[case.asked], X) @ solved[1:] + solved[0]
    return F[:, 0] if F.shape[1] == 1 else F
