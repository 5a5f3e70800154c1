"""Checks of the parameters of an estimator, and of its state before the estimator gets it.

What all families have is checked here; the rest by the family's `Spec` and `State`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from gramian.core.engines import Stored
from gramian.core.text import excerpt
from gramian.core.validation import (
    ModelFileError,
    check_array,
    check_index,
    check_keys,
    check_labels,
    check_number,
    check_samples,
    check_sequence,
    check_text,
    check_whole,
    refuse,
)

HELD = ("_ids", "_y", "_weight", "_next_id")
MAY_HOLD = ("_groups",)
"""What a file has of the samples held if they have it."""
_PLAIN = (type(None), bool, int, float, str, np.generic)


def check_estimator_parameters(model: Any) -> None:
    """Raise `ModelFileError` unless these are parameters that `fit` takes."""
    defaults = inspect.signature(type(model).__init__).parameters
    for name, value in model.get_params(deep=False).items():
        _check_parameter(value, f"the parameter {name}", defaults[name].default)
    check_as_fit_does(model._spec)


def check_as_fit_does(check: Callable[[], object]) -> None:
    """Raise `ModelFileError` if a check that `fit` makes, too, raises anything."""
    try:
        check()
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"holds no valid model: {excerpt(error, 200)}") from error


def _check_parameter(value: Any, where: str, default: Any) -> None:
    """By the kind of the default: a number stays one, a text may be a number or an array."""
    if isinstance(default, bool):
        if not isinstance(value, _PLAIN):
            refuse(where, f"is a {type(value).__name__}")
    elif isinstance(default, int | float):
        if value is not None and not isinstance(value, str):  # "cv" and the like
            check_number(value, where)
    else:
        _check_plain(value, where, depth=2)


def _check_plain(value: Any, where: str, *, depth: int) -> None:
    """A value, an array of numbers, or a list or dict of such; ``depth`` of them in each other.

    Two: a stack has a list of widths, of which each may be a list.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim <= 1:
        return
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        check_number(value, where)
        return
    if isinstance(value, _PLAIN):
        return
    if not depth or not isinstance(value, list | tuple | dict):
        refuse(where, f"is a {type(value).__name__}")
    for item in value.values() if isinstance(value, dict) else value:
        _check_plain(item, where, depth=depth - 1)


def check_estimator(model: Any, state: Any) -> None:
    """Raise `ModelFileError` unless ``model`` can work with this state."""
    spec = model._spec()
    own = [field.name for field in fields(spec.state_type)]
    missing = isinstance(state, dict) and not any(name in state for name in own)
    if missing and spec.state_type.follows_from_rows:
        own = []  # built anew from the rows
    classifies = bool(is_classifier(model))
    declared = ["declared"] if classifies else []
    check_keys(state, "the state", ("held", "X", "public", *own, *declared), ("without folds",))
    stored = _check_held(model, spec, state, classifies=classifies)
    _check_public(spec, state["public"], stored)
    if "declared" in state:
        _check_classes(state["declared"], stored, all_held=spec.state_type.holds_all_rows)
    if "without folds" in state:
        _check_folds(spec, state["without folds"], stored)
    if own:
        spec.validate_state(state, stored)


def _check_held(model: Any, spec: Any, state: Any, *, classifies: bool) -> Stored:
    """Samples with ids, targets and weights, and what they are together."""
    holdings = check_keys(state["held"], "held", HELD, MAY_HOLD)
    X, ids, y, classes = state["X"], holdings["_ids"], holdings["_y"], None
    check_rows(holdings, X, None, classifies=classifies)
    if X.shape[0] == 0 and spec.state_type.holds_all_rows:
        refuse("X", "has no samples")
    if len(set(ids.tolist())) < len(ids):
        refuse("the ids", "are not all different")
    check_whole(holdings["_next_id"], "the next id")
    if classifies:
        classes = check_labels(state["public"].get("classes_"), "classes_", (None,))
        outputs = 1 if len(classes) == 2 else len(classes)
    else:
        outputs = 1 if y.ndim == 1 else y.shape[1]
    if outputs == 0:
        refuse("y", "has no columns")
    _check_pairwise(model, X)
    return Stored(X, y, outputs, classes)


def check_rows(rows: Mapping[str, Any], X: Any, d: int | None, *, classifies: bool) -> None:
    """Raise `ModelFileError` unless each of the samples has an id, a target and a weight."""
    n = check_samples(X, "X", (None, d)).shape[0]
    check_array(rows["_ids"], "the ids", (n,), "iU")
    if "_groups" in rows:
        check_array(rows["_groups"], "the groups of samples", (n,), "iU")
    if not (check_array(rows["_weight"], "the weights of samples", (n,), "f") > 0).all():
        refuse("the weights of samples", "are not all positive")
    y = rows["_y"]
    if classifies:
        check_labels(y, "y", (n,))
    else:
        check_array(y, "y", (n,) if np.ndim(y) == 1 else (n, None), "f")


def _check_pairwise(model: Any, X: Any) -> None:
    """Samples of a precomputed kernel are its matrix."""
    kernel = getattr(model, "kernel", None)
    if not (isinstance(kernel, str) and kernel == "precomputed"):
        return
    if sparse.issparse(X) or X.shape[0] != X.shape[1]:
        refuse("X", f"is no square kernel matrix but has shape {X.shape}")
    if not np.allclose(X, X.T, rtol=1e-5, atol=1e-5 * np.abs(X).max()):
        refuse("X", "is no symmetric kernel matrix")


def _check_public(spec: Any, public: Any, stored: Stored) -> None:
    chosen = [f"{name}_" for name in spec.chosen()]
    classes = [] if stored.classes is None else ["classes_"]
    required = ["n_features_in_", *chosen, *classes]
    check_keys(public, "public", required, ["feature_names_in_"])
    if check_whole(public["n_features_in_"], "n_features_in_") != stored.d:
        refuse("n_features_in_", f"is {excerpt(public['n_features_in_'])} for {stored.d} features")
    if "feature_names_in_" in public:
        names = check_array(public["feature_names_in_"], "feature_names_in_", (stored.d,), "OU")
        for item in names.tolist():
            check_text(item, "a feature's name")
    spec.validate_chosen({name.removesuffix("_"): public[name] for name in chosen}, stored)


def _check_folds(spec: Any, without_folds: Any, stored: Stored) -> None:
    """The fold of each sample, and what was chosen without each fold."""
    check_keys(without_folds, "the folds", ("folds", "chosen"))
    chosen = check_sequence(without_folds["chosen"], "the choices without each fold")
    if not chosen:
        refuse("the choices without each fold", "are none")
    check_index(without_folds["folds"], "the folds", (stored.n,), 0, len(chosen))
    for values in chosen:
        spec.validate_chosen(
            check_keys(values, "the choices without a fold", spec.choices()), stored
        )


def _check_classes(declared: Any, stored: Stored, *, all_held: bool) -> None:
    """Sorted classes, at least two: those of the labels and those declared.

    Rows of Dask arrays are not held: then there may be more.
    """
    classes = stored.classes
    assert classes is not None
    if len(declared):
        check_labels(np.asarray(declared), "declared classes", (None,))
    found = np.union1d(declared, stored.y) if len(declared) else np.unique(stored.y)
    if not all_held:
        found = np.union1d(found, classes) if len(found) else np.unique(classes)
    if len(classes) < 2 or not np.array_equal(classes, found):
        refuse("classes_", f"are not those of the labels ({excerpt(classes.tolist())})")
